"""Embedding with a model that computes in this process."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from numpy.typing import ArrayLike

from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose, Vector
from memory_server.errors import ProviderError
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.inference_thread import InferenceThread
from memory_server.providers.embedding.vectors import (
    NOTHING_TO_EMBED,
    UNUSABLE_NUMBERS,
    embedded,
    mean_direction,
    readable,
    unit,
)

Piece = TypeVar("Piece")
T = TypeVar("T")

NO_KNOWN_WORD = "the model knows none of its words"


class LocalModel(Protocol[Piece]):
    """A model as its files are: synchronous, and used by one thread only."""

    @property
    @abstractmethod
    def space(self) -> EmbeddingSpace:
        """The space of its vectors."""
        ...

    @property
    @abstractmethod
    def texts_at_once(self) -> int:
        """How many documents a query may have to wait for."""
        ...

    @abstractmethod
    def load(self) -> None:
        """Make the model ready, or raise `ProviderMissing`."""
        ...

    @abstractmethod
    def pieces(self, text: str) -> Sequence[Piece]:
        """Cut a text into what fits the model; none if it knows nothing of it."""
        ...

    @abstractmethod
    def numbers(self, piece: Piece, purpose: Purpose) -> ArrayLike:
        """Return the vector of one piece, of any length."""
        ...


@dataclass(frozen=True, slots=True)
class LongText(Generic[Piece]):
    """The pieces of a text that does not fit the model at once."""

    pieces: Sequence[Piece]


Begun = Vector | str | LongText[Piece]
"""After the first step a text has its vector, or a reason to have none, or needs more steps."""


class LocalEmbedder(Embedder, Generic[Piece]):
    """A local model, kept off the event loop.

    One thread computes. Texts go in a few at a time and the pieces of a long text one by one,
    queries first: a query waits for one such step, however long the batch before it is. The
    model is loaded by the first call, in that thread. Closing ends a batch after its current
    step.
    """

    def __init__(self, model: LocalModel[Piece]) -> None:
        self._model = model
        self._thread = InferenceThread(f"embed-{model.space.model}")
        self._loaded = False

    @property
    def space(self) -> EmbeddingSpace:
        return self._model.space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        outcomes: list[Vector | str] = []
        for start in range(0, len(texts), self._model.texts_at_once):
            some = texts[start : start + self._model.texts_at_once]
            begun = await self._run(partial(self._begin, some, purpose), purpose)
            outcomes += [await self._finish(one, purpose) for one in begun]
        return embedded(outcomes)

    async def check(self) -> None:
        answer = await self.embed(["ready"], purpose=Purpose.QUERY)
        if answer.reasons[0] is not None:
            raise ProviderError(
                f"{self.space.model} cannot embed a plain word: {answer.reasons[0]}"
            )

    async def close(self) -> None:
        await self._thread.close()

    async def _run(self, work: Callable[[], T], purpose: Purpose) -> T:
        return await self._thread.run(work, urgent=purpose is Purpose.QUERY)

    def _begin(self, texts: Sequence[str], purpose: Purpose) -> Sequence[Begun[Piece]]:
        if not self._loaded:
            self._model.load()
            self._loaded = True
        return [self._begin_one(text, purpose) for text in texts]

    def _begin_one(self, text: str, purpose: Purpose) -> Begun[Piece]:
        if not text.strip():
            return NOTHING_TO_EMBED
        pieces = self._model.pieces(readable(text))
        if not pieces:
            return NO_KNOWN_WORD
        return self._vector(pieces[0], purpose) if len(pieces) == 1 else LongText(pieces)

    async def _finish(self, begun: Begun[Piece], purpose: Purpose) -> Vector | str:
        if not isinstance(begun, LongText):
            return begun
        vectors = []
        for piece in begun.pieces:
            vector = await self._run(partial(self._vector, piece, purpose), purpose)
            if isinstance(vector, str):
                return vector
            vectors.append(vector)
        mean = mean_direction(vectors)
        return UNUSABLE_NUMBERS if mean is None else mean

    def _vector(self, piece: Piece, purpose: Purpose) -> Vector | str:
        vector = unit(self._model.numbers(piece, purpose))
        return UNUSABLE_NUMBERS if vector is None else vector
