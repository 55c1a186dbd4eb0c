"""From a text to the numbers of its tokens."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from memory_server.providers.embedding import model_files
from memory_server.providers.embedding.model_files import PinnedFile
from memory_server.providers.embedding.text_pieces import cut

MAX_CHARACTERS = 100_000
"""What lies behind is not part of a text's vector."""

SLICE = 4_000
"""Characters tokenised at once, about 5 ms: the tokenizer holds the interpreter's lock."""


def load_tokenizer(vocabulary: PinnedFile) -> Any:
    """Return a tokenizer that neither pads nor cuts, and takes "[CLS]" in a text for text."""
    tokenizers = model_files.runtime("tokenizers", extra=vocabulary.extra)
    tokenizer = tokenizers.Tokenizer.from_buffer(model_files.read(vocabulary))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def token_ids(tokenizer: Any, text: str) -> Sequence[int]:
    """Return the text's token ids, without those a model puts around them."""
    slices = cut(text[:MAX_CHARACTERS], limit=SLICE)
    encoded = (tokenizer.encode(some, add_special_tokens=False).ids for some in slices)
    return list(chain.from_iterable(encoded))
