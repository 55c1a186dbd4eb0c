"""Asking an embeddings API for many texts when some may be too long or refused."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from memory_server.domain.embedding import Vector
from memory_server.providers.embedding.http_answers import RequestRefused
from memory_server.providers.embedding.http_api import Limits
from memory_server.providers.embedding.text_pieces import cut
from memory_server.providers.embedding.vectors import (
    NOTHING_TO_EMBED,
    UNUSABLE_NUMBERS,
    mean_direction,
    readable,
)

SHORT_PIECE = 1_500
"""Characters. After a refusal for length, the size to try: under 512 tokens of most scripts."""

Outcomes = Sequence[Vector | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The two questions an API is asked."""

    ask: Callable[[Sequence[str]], Awaitable[Outcomes]]
    """For the vectors of some texts; raises `RequestRefused`."""
    check_request: Callable[[], Awaitable[None]]
    """Whether it takes any text at all; raises a `ProviderError` if not."""


async def embed_in_batches(asking: Asking, texts: Sequence[str], limits: Limits) -> Outcomes:
    """Return a vector or a reason for each text, whatever the API refuses of them."""
    pieces = [cut(readable(text), limit=limits.characters_per_text) for text in texts]
    call = _Call(asking, limits)
    answers = iter(await call.ask_all([piece for some in pieces for piece in some]))
    return [_joined([next(answers) for _ in some]) for some in pieces]


def batches(texts: Sequence[str], limits: Limits) -> Iterator[Sequence[str]]:
    """Cut a sequence of texts into requests within the limits, in order."""
    batch: list[str] = []
    room = limits.characters
    for text in texts:
        if batch and (len(batch) == limits.texts or len(text) > room):
            yield batch
            batch, room = [], limits.characters
        batch.append(text)
        room -= len(text)
    if batch:
        yield batch


class _Call:
    """One call of the embedder: halves what is refused until the culprit stands alone."""

    def __init__(self, asking: Asking, limits: Limits) -> None:
        self._asking = asking
        self._limits = limits
        self._takes_requests = False

    async def ask_all(self, texts: Sequence[str]) -> Outcomes:
        answers: list[Vector | str] = []
        for batch in batches(texts, self._limits):
            answers.extend(await self._ask(batch))
        return answers

    async def _ask(self, batch: Sequence[str]) -> Outcomes:
        try:
            return await self._asking.ask(batch)
        except RequestRefused as refusal:
            await self._blame_the_texts()
            if len(batch) == 1:
                return [await self._in_pieces(batch[0], refusal)]
        half = len(batch) // 2
        return [*await self._ask(batch[:half]), *await self._ask(batch[half:])]

    async def _blame_the_texts(self) -> None:
        """Make sure, once, that it is not the model's name or an option that is refused."""
        if not self._takes_requests:
            await self._asking.check_request()
            self._takes_requests = True

    async def _in_pieces(self, text: str, refusal: RequestRefused) -> Vector | str:
        """Try a text once more in short pieces if it was refused for its length."""
        if not refusal.too_long or len(text) == 1:
            return f"refused by the model: {refusal.why}"
        pieces = cut(text, limit=min(SHORT_PIECE, (len(text) + 1) // 2))
        answers: list[Vector | str] = []
        try:
            for batch in batches(pieces, self._limits):
                answers.extend(await self._asking.ask(batch))
        except RequestRefused as again:
            return f"too long for the model, and refused in pieces: {again.why}"
        return _joined(answers)


def _joined(pieces: Outcomes) -> Vector | str:
    """Return the vector of a text from those of its pieces."""
    if not pieces:
        return NOTHING_TO_EMBED
    vectors = []
    for piece in pieces:
        if isinstance(piece, str):
            return piece
        vectors.append(piece)
    mean = mean_direction(vectors)
    return UNUSABLE_NUMBERS if mean is None else mean
