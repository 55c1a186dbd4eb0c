"""Vectors of turns on their way out of short-term memory."""

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain.embedding import Purpose, Vector
from memory_server.domain.turn import Turn
from memory_server.domain.words import embedding_text
from memory_server.errors import ProviderError
from memory_server.ports.embedder import Embedder
from memory_server.ports.turns import Turns
from memory_server.services.containment import contained

logger = logging.getLogger(__name__)

REMEMBERED = 2000
"""Vectors kept at most, of turns whose topic is watched and that are not yet promoted."""


@dataclass(slots=True)
class Asking:
    """One round of asking: a provider that is away is not asked again in it."""

    is_away: bool = False


class TurnVectors:
    """Embeds turns before they are promoted, each once.

    A turn never waits for its vector: words find it meanwhile.
    """

    def __init__(self, *, turns: Turns, embedder: Embedder, remembers: bool) -> None:
        self._turns = turns
        self._embedder = embedder
        self._remembers = remembers
        self._known: OrderedDict[str, Vector] = OrderedDict()

    async def of(self, turns: Sequence[Turn], asking: Asking) -> Mapping[str, Vector]:
        """Return the vectors of those turns that have one, and keep the new ones in the store.

        Without remembering, only turns without a vector are embedded: nobody looks at the others.
        """
        known = {turn.id: self._known[turn.id] for turn in turns if turn.id in self._known}
        wanting = [
            turn
            for turn in turns
            if turn.content.strip()
            and turn.id not in known
            and (self._remembers or not turn.has_embedding)
        ]
        if not wanting or asking.is_away:
            return known
        fresh = await self._embedded(self._texts(turns, wanting), wanting, asking)
        stored = {turn.id: fresh[turn.id] for turn in wanting if turn.id in fresh}
        if stored:
            await self._turns.set_vectors(turns[0].project_id, stored, self._embedder.space)
        self._remember(fresh)
        return {**known, **fresh}

    def forget(self, turns: Sequence[Turn]) -> None:
        """Let go of turns that are promoted."""
        for turn in turns:
            self._known.pop(turn.id, None)

    def _texts(self, turns: Sequence[Turn], wanting: Sequence[Turn]) -> Sequence[str]:
        """Return what is embedded: a turn with the one it answers, if that is here too.

        Where topics are watched, each turn alone: what it answers would hide a change of topic.
        """
        if self._remembers:
            return [embedding_text(turn) for turn in wanting]
        before = dict(zip((turn.id for turn in turns[1:]), turns, strict=False))
        return [embedding_text(turn, before.get(turn.id)) for turn in wanting]

    async def _embedded(
        self, texts: Sequence[str], turns: Sequence[Turn], asking: Asking
    ) -> Mapping[str, Vector]:
        try:
            embedded = await contained(self._embedder.embed(texts, purpose=Purpose.DOCUMENT))
        except ProviderError as error:
            asking.is_away = error.retryable
            logger.warning("%d turns have no vectors yet: %s", len(turns), error.code)
            return {}
        except Exception:  # a text that the model stumbles over holds up no session
            logger.exception("%d turns have no vectors: a fault of the program", len(turns))
            return {}
        found = zip(turns, embedded.vectors, strict=True)
        return {turn.id: vector for turn, vector in found if vector is not None}

    def _remember(self, fresh: Mapping[str, Vector]) -> None:
        if not self._remembers:
            return
        self._known.update(fresh)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
