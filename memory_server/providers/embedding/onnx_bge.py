"""bge-small-en-v1.5, quantised to 8 bits: the default, English, 384 dimensions.

The two files lie in the pinned package `compartment`, of which nothing else is used; it is
not even imported. Pooling, length and normalisation follow the model's card (BAAI, MIT).
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.providers.embedding import model_files
from memory_server.providers.embedding.local import LocalModel
from memory_server.providers.embedding.model_files import PinnedFile
from memory_server.providers.embedding.tokens import load_tokenizer, token_ids

EXTRA = "embedded"
WEIGHTS = PinnedFile(
    package="compartment",
    version="4.13.0",
    path="models/bge-small-en-v1.5-int8/model_quantized.onnx",
    sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    extra=EXTRA,
)
VOCABULARY = PinnedFile(
    package="compartment",
    version="4.13.0",
    path="models/bge-small-en-v1.5-int8/tokenizer.json",
    sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    extra=EXTRA,
)

WINDOW = 510
"""Tokens of text the model takes at once, beside the two it puts around them."""
OVERLAP = 64
MAX_WINDOWS = 32
"""What lies behind about 14,000 tokens is not part of a text's vector."""


class BgeSmall(LocalModel[Sequence[int]]):
    """Pieces are token ids.

    Texts go through the model one by one: its activations are quantised over a whole batch, so
    in company a text would get another vector than alone. The instruction that the model's
    card suggests for queries is left out: it made no measurable difference to recall, costs 12
    tokens a query, and without it a query equal to a text has that text's very vector.
    """

    space = EmbeddingSpace(model="bge-small-en-v1.5", dimension=384, unrelated=0.39, same=0.94)
    texts_at_once = 1

    def __init__(self) -> None:
        self._session: Any = None
        self._tokenizer: Any = None

    def load(self) -> None:
        self._tokenizer = load_tokenizer(VOCABULARY)
        self._session = _session(model_files.checked(WEIGHTS))
        self._start = self._tokenizer.token_to_id("[CLS]")
        self._end = self._tokenizer.token_to_id("[SEP]")
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    def pieces(self, text: str) -> Sequence[Sequence[int]]:
        ids = token_ids(self._tokenizer, text)
        if all(id_ == self._unknown for id_ in ids):
            return ()
        return [(self._start, *window, self._end) for window in windows(ids)]

    def numbers(self, piece: Sequence[int], purpose: Purpose) -> ArrayLike:
        numbers: ArrayLike = self._hidden(piece)[0]
        return numbers

    def words(self, text: str, *, limit: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        """Return the first pieces of words and what each means where it stands.

        Vectors have shape (pieces, dimension) and unit length; there are at most `limit`.
        """
        ids = token_ids(self._tokenizer, text)[: min(limit, WINDOW)]
        hidden = self._hidden((self._start, *ids, self._end))[1:-1]
        lengths = np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), np.float32(1e-12))
        pieces = [str(self._tokenizer.id_to_token(id_)) for id_ in ids]
        return pieces, np.asarray(hidden / lengths, np.float32)

    def _hidden(self, piece: Sequence[int]) -> NDArray[np.float32]:
        ids = np.array([piece], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden: NDArray[np.float32] = self._session.run(None, inputs)[0][0]
        return hidden


def windows(ids: Sequence[int]) -> Sequence[Sequence[int]]:
    """Cut token ids into full, overlapping windows; the last one ends where the text ends."""
    last = max(len(ids) - WINDOW, 0)
    starts = chain(range(0, last, WINDOW - OVERLAP), [last])
    return [ids[start : start + WINDOW] for start in starts][:MAX_WINDOWS]


def _session(weights: Path) -> Any:
    """Return a session that computes in the thread that calls it and spins nowhere."""
    onnxruntime = model_files.runtime("onnxruntime", extra=EXTRA)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
