"""wordllama: a table of word-piece vectors, averaged. English, 256 dimensions, very fast.

The two files lie in the pinned package `wordllama`, whose own loader would go online; they are
read directly and the package is not imported. A text's vector is the mean of its tokens' rows.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.providers.embedding import model_files
from memory_server.providers.embedding.local import LocalModel
from memory_server.providers.embedding.model_files import PinnedFile
from memory_server.providers.embedding.tokens import load_tokenizer, token_ids

EXTRA = "static"
WEIGHTS = PinnedFile(
    package="wordllama",
    version="0.4.0.post1",
    path="weights/l2_supercat_256.safetensors",
    sha256="64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    extra=EXTRA,
)
VOCABULARY = PinnedFile(
    package="wordllama",
    version="0.4.0.post1",
    path="tokenizers/l2_supercat_tokenizer_config.json",
    sha256="93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    extra=EXTRA,
)


class Wordllama(LocalModel[Sequence[int]]):
    """Pieces are token ids; a text of any length is one piece."""

    space = EmbeddingSpace(model="wordllama", dimension=256, unrelated=0.01, same=0.87)
    texts_at_once = 32

    def __init__(self) -> None:
        self._table: NDArray[np.float32] = np.zeros((0, 256), dtype=np.float32)
        self._tokenizer: Any = None

    def load(self) -> None:
        self._tokenizer = load_tokenizer(VOCABULARY)
        self._table = _table(model_files.read(WEIGHTS))

    def pieces(self, text: str) -> Sequence[Sequence[int]]:
        ids = token_ids(self._tokenizer, text)
        return [ids] if ids else ()

    def numbers(self, piece: Sequence[int], purpose: Purpose) -> ArrayLike:
        mean: ArrayLike = self._table[np.asarray(piece)].mean(axis=0)
        return mean


def _table(content: bytes) -> NDArray[np.float32]:
    """Read the one float16 tensor of a safetensors file (an 8-byte length, JSON, numbers)."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])["embedding.weight"]
    begin, end = header["data_offsets"]
    numbers = np.frombuffer(content[8 + length :][begin:end], dtype=np.float16)
    return numbers.reshape(header["shape"]).astype(np.float32)
