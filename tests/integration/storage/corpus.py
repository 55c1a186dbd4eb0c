"""A seeded corpus of every kind of memory and turn, its life, and questions about it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.domain.memory import Body, Claim, Memory
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.turn import NewTurn, Role
from memory_server.ports.memories import Add, Erase, MemoryOperation, MemoryQuery, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    PROJECT,
    a_block,
    a_fact,
    a_memory,
    a_procedure,
    a_record,
    a_term,
    a_turn,
    an_episode,
    some_said,
)

MEMORIES = 300
TURNS = 300
SPACE = EmbeddingSpace(model="corpus", dimension=16)
PORTION = 20
"""Operations in one call."""

USERS = ("ana", "bob", None)
SESSIONS = ("monday", "tuesday", "friday", None)
AGENTS = ("planner", "writer", None)
WORDS = (
    "lisbon porto train ticket refund order pump valve leak invoice_99 ERR-4021 garden winter "
    "coffee harbour bridge museum piano violin recipe bread salt pepper doctor school bicycle"
).split()
VALUES: Sequence[Any] = (
    "gold",
    "Gold",
    "silver",
    "1",
    1,
    1.0,
    2,
    -3.5,
    2**53 + 1,
    2**70,
    True,
    False,
    None,
    "",
    "2026-01-31",
    "2026-01-31T12:00:00+00:00",
    "2026-01-31T13:00:00+01:00",
    "2025-12-31T23:59:59Z",
    ["gold", 1],
    [],
    [None, True, "2026-01-31"],
    {"tier": "gold", "n": 2},
    {"a.b": 1, "$gt": 2},
)
PATHS = (
    "metadata.k",
    "metadata.n",
    "metadata.k.tier",
    "metadata.ключ",
    "agent_id",
    "tags",
    "viewpoint",
)
OPERANDS: Sequence[Any] = (
    *(value for value in VALUES if not isinstance(value, list | dict) and value != 2**70),
    "planner",
    "money",
    "user",
    datetime(2026, 1, 31, 12, tzinfo=UTC),
    datetime(2026, 1, 31, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is written, in its order, and the ids of all that was ever written."""

    turns: Sequence[tuple[NewTurn, Vector | None]]
    changes: Sequence[MemoryOperation]
    ids: Sequence[str]


class Chance:
    """Draws everything from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 nothing secret
        self._vectors = np.random.default_rng(seed)

    def one(self, values: Sequence[Any]) -> Any:
        """Draw one of some values."""
        return self._random.choice(values)

    def happens(self, probability: float) -> bool:
        """Draw whether something is so."""
        return self._random.random() < probability

    def number(self, least: int, most: int) -> int:
        """Draw a whole number, both ends included."""
        return self._random.randint(least, most)

    def words(self, most: int = 8) -> str:
        """Draw some words."""
        return " ".join(self._random.choices(WORDS, k=self.number(2, most)))

    def moment(self) -> datetime:
        """Draw a moment; few are alike."""
        return START + timedelta(minutes=self.number(-9000, 9000))

    def vector(self) -> Vector:
        """Draw a direction."""
        vector = self._vectors.standard_normal(SPACE.dimension).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def maybe_vector(self) -> Vector | None:
        """Draw a direction, mostly."""
        return self.vector() if self.happens(0.9) else None

    def metadata(self) -> dict[str, Any]:
        """Draw metadata of all kinds."""
        keys = [key for key in ("k", "n", "ключ", "a.b", "$set") if self.happens(0.4)]
        return {key: self.one(VALUES) for key in keys}

    def body(self) -> Body:
        """Draw what is remembered."""
        text = self.words()
        match self.number(0, 5):
            case 0:
                return a_fact(label=self.one(WORDS), text=text)
            case 1:
                return an_episode(title=self.one(WORDS), content=text, tags=(self.one(WORDS),))
            case 2:
                return a_term(domain=self.one(WORDS[:5]), term=self.one(WORDS), definition=text)
            case 3:
                return a_procedure(procedure=self.one(WORDS), content=text, tags=("money",))
            case 4:
                return a_block(
                    viewpoint=self.one(list(Viewpoint)),
                    speaker=self.one(WORDS[:3]),
                    position=self.number(1, 9),
                    messages=some_said(text, self.words()),
                    summary=self.words() if self.happens(0.3) else "",
                )
        tags = {"size": self.number(0, 3), "place.city": self.one(WORDS[:3])}
        return a_record(custom_type=self.one(("ticket", "note")), content=text, tags=tags)

    def condition(self, depth: int = 0) -> Filter:
        """Draw a filter."""
        if depth < 2 and self.happens(0.35):
            parts = tuple(self.condition(depth + 1) for _ in range(self.number(1, 3)))
            return Clauses(self.one(list(Connective)), parts)
        path, operator = self.one(PATHS), self.one(list(Operator))
        match operator:
            case Operator.EXISTS:
                return Comparison(path, operator, self.happens(0.5))
            case Operator.IN | Operator.NIN:
                wanted = tuple(self.one(OPERANDS) for _ in range(self.number(0, 4)))
                return Comparison(path, operator, wanted)
        return Comparison(path, operator, self.one(OPERANDS))

    def scope(self) -> Scope:
        """Draw the limits of a question."""
        user_id = self.one(USERS)
        return Scope(
            project_id=PROJECT if self.happens(0.97) else "bank",
            user_id=user_id,
            userless=user_id is None and self.happens(0.5),
            agent_id=self.one(AGENTS) if self.happens(0.2) else None,
            session_id=self.one(SESSIONS) if self.happens(0.2) else None,
            visibility=self.one(list(Visibility)) if self.happens(0.2) else None,
        )


def corpus(seed: int) -> Corpus:
    """Return the corpus of a seed."""
    chance = Chance(seed)
    turns = [(_turn(chance, number), chance.maybe_vector()) for number in range(TURNS)]
    changes = list(_changes(chance))
    ids = [one.memory.id for one in changes if isinstance(one, Add)]
    ids += [one.former_id for one in changes if isinstance(one, Replace) and one.former_id]
    return Corpus(turns, changes, ids)


async def write(store: Store, written: Corpus) -> None:
    """Write all of a corpus into an empty store."""
    for turn, vector in written.turns:
        await store.turns.append(turn, vector=vector, space=SPACE)
    for start in range(0, len(written.changes), PORTION):
        portion = written.changes[start : start + PORTION]
        await store.memories.apply(PROJECT, portion, space=SPACE)


def queries(chance: Chance, written: Corpus) -> MemoryQuery:
    """Draw what is asked of memories."""
    memories = [one.memory for one in written.changes if isinstance(one, Add)]
    like: Memory = chance.one(memories)
    named: dict[str, Any] = {
        "type": like.type,
        "key": like.body.key,
        "domain": getattr(like.body, "domain", None),
        "identity_key": like.identity_key,
        "subject": like.claim and like.claim.subject,
        "attribute": like.claim and like.claim.attribute,
    }
    return MemoryQuery(
        **{name: value for name, value in named.items() if chance.happens(0.15)},
        filter=chance.condition() if chance.happens(0.6) else None,
        without_embedding=chance.happens(0.1),
        include_deleted=chance.happens(0.3),
        include_superseded=chance.happens(0.3),
        limit=chance.number(0, 12) if chance.happens(0.4) else None,
    )


def selection(chance: Chance) -> Selection:
    """Draw what is searched."""
    source = chance.one(list(Source))
    return Selection(
        scope=chance.scope(),
        source=source,
        custom_type=chance.one(("ticket", "note")) if source is Source.CUSTOM else None,
        filter=chance.condition() if chance.happens(0.5) else None,
        as_of=chance.moment() if chance.happens(0.4) else None,
        limit=chance.number(1, 30),
    )


def _turn(chance: Chance, number: int) -> NewTurn:
    session_id = chance.one(SESSIONS[:-1])
    return a_turn(
        chance.words(12),
        id=f"turn-{number:04}",
        session_id=session_id,
        user_id=chance.one(USERS),
        agent_id=chance.one(AGENTS),
        role=chance.one((Role.USER, Role.ASSISTANT)),
        created_at=START + timedelta(seconds=number // 3),
        metadata=chance.metadata(),
    )


def _changes(chance: Chance) -> Iterator[MemoryOperation]:
    """Yield the life of some memories: what becomes of them comes between later ones."""
    known: dict[str, Memory] = {}
    for number in range(MEMORIES):
        memory = _memory(chance, number)
        known[memory.id] = memory
        yield Add(memory=memory, vector=chance.maybe_vector())
        if chance.happens(0.6):
            yield from _life(chance, known, number)


def _memory(chance: Chance, number: int) -> Memory:
    has_claim = chance.happens(0.4)
    return a_memory(
        id=f"memory-{number:04}",
        at=chance.moment(),
        user_id=chance.one(USERS),
        agent_id=chance.one(AGENTS),
        session_id=chance.one(SESSIONS),
        visibility=chance.one(list(Visibility)),
        body=chance.body(),
        metadata=chance.metadata(),
        contextual_metadata=chance.metadata(),
        identity_key=f"identity-{number}" if chance.happens(0.5) else None,
        claim=Claim(subject=chance.one(("Ana", "Bob")), attribute=chance.one(WORDS[:4]), value="x")
        if has_claim
        else None,
    )


def _life(chance: Chance, known: dict[str, Memory], number: int) -> Iterator[MemoryOperation]:
    memory = known[chance.one(list(known))]
    new = replace(memory, revision=memory.revision + 1, updated_at=chance.moment())
    match chance.number(0, 6):
        case 0 | 1:
            new = replace(
                new,
                version=memory.version + 1,
                valid_from=max(chance.moment(), memory.valid_from),
                metadata=chance.metadata(),
            )
            yield Replace(memory=new, former_id=f"was-{number:04}", vector=chance.maybe_vector())
        case 2:
            new = replace(new, deleted=not memory.deleted)
            yield Replace(memory=new)
        case 3:
            new = replace(new, visibility=chance.one(list(Visibility)), reinforcement_count=2)
            yield Replace(memory=new, vector=chance.maybe_vector())
        case 4:
            yield Replace(memory=new, drop_vector=True)
        case 5:
            yield Add(memory=_before(chance, memory, number), history_of=memory.id)
            return
        case _:
            del known[memory.id]
            yield Erase(memory_id=memory.id)
            return
    known[memory.id] = new


def _before(chance: Chance, memory: Memory, number: int) -> Memory:
    return replace(
        memory,
        id=f"before-{number:04}",
        revision=1,
        version=1,
        valid_from=memory.valid_from - timedelta(minutes=chance.number(1, 900)),
        valid_to=memory.valid_from,
        is_latest=False,
        superseded_by=memory.id,
        metadata=chance.metadata(),
    )
