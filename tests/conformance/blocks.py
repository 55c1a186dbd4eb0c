"""What every store and index promises of blocks: exchanges of conversations."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.job import JobKind
from memory_server.domain.memory import Block, Memory
from memory_server.errors import DuplicateMemory, VersionConflict
from memory_server.ports.memories import Add, Erase, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.search import LEGS, ids, know
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_block,
    a_job,
    a_memory,
    a_scope,
    a_turn,
    a_vector,
    some_said,
)


def a_selection(**changes: Any) -> Selection:
    """Return a search among Ana's blocks."""
    values: dict[str, Any] = {"scope": a_scope(), "source": Source.BLOCK, "limit": 50}
    return Selection(**values | changes)


def an_exchange(
    position: int, asked: str, *, viewpoint: Viewpoint = Viewpoint.USER, **changes: Any
) -> Memory:
    """Return a block of the exchange at a position of its conversation."""
    conversation_id = changes.get("session_id", SESSION)
    body = a_block(
        exchange_id=f"{conversation_id}-{position}",
        viewpoint=viewpoint,
        conversation_id=conversation_id,
        position=position,
        messages=some_said(asked),
    )
    values: dict[str, Any] = {"session_id": SESSION, "body": body} | changes
    return a_memory(id=f"{values.get('user_id', 'ana')}-{body.exchange_id}.{viewpoint}", **values)


def told(memory: Memory, summary: str, **changes: Any) -> Replace:
    """Return the change that gives a block its summary."""
    assert isinstance(memory.body, Block)
    body = replace(memory.body, summary=summary, extractor="rules/1")
    return Replace(memory=replace(memory, body=body, revision=memory.revision + 1, **changes))


class BlocksContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_was_said_is_read_for_each_viewpoint(self, store: Store) -> None:
        own = an_exchange(1, "Tea?")
        reply = an_exchange(1, "Tea?", viewpoint=Viewpoint.ASSISTANT)
        other = an_exchange(1, "Coffee?", user_id="ben")
        await store.memories.apply(PROJECT, [Add(memory=one) for one in (own, reply, other)])

        read = await store.memories.utterances(a_scope(), [reply.id, own.id, other.id, "unknown"])

        assert [one.id for one in read] == [reply.id, own.id]
        assert isinstance(own.body, Block)
        for one, role in zip(read, ("assistant", "user"), strict=True):
            (said,) = (said for said in own.body.messages if said.role.value == role)
            assert (one.role, one.speaker, one.text) == (role, said.speaker, said.content)
            assert one.session == own.body.conversation_id
            assert one.said_at == (own.event_time.start if own.event_time else own.valid_from)

    async def test_an_exchange_is_found_by_the_words_of_those_around_it(self, store: Store) -> None:
        said = ["the harbour", "which one", "a greyhound", "how fast", "forty"]
        await know(store, *(an_exchange(n, one) for n, one in enumerate(said, 1)))

        found = await ids(store, "text", a_selection(), "greyhound")

        assert found[0] == "ana-monday-3.user"
        assert set(found[1:]) == {"ana-monday-2.user", "ana-monday-4.user"}

    async def test_the_last_exchange_is_at_once_around_the_one_before(self, store: Store) -> None:
        await know(store, an_exchange(1, "one"), an_exchange(2, "greyhound"))

        assert len(await ids(store, "text", a_selection(), "greyhound")) == 2

    async def test_neighbours_are_the_same_in_whatever_order_they_come(self, store: Store) -> None:
        await know(store, an_exchange(3, "three"), an_exchange(1, "one"))
        await know(store, an_exchange(2, "greyhound"))

        found = await ids(store, "text", a_selection(), "greyhound")

        assert set(found) == {f"ana-monday-{n}.user" for n in (1, 2, 3)}

    @pytest.mark.parametrize(
        "changes",
        [{"user_id": "bob"}, {"session_id": "tuesday"}, {"project_id": "bank"}],
        ids=["user", "conversation", "project"],
    )
    async def test_only_those_of_the_same_owner_and_conversation_are_around(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        other = an_exchange(2, "greyhound", **changes)
        await know(store, an_exchange(1, "one"))
        await store.memories.apply(
            other.project_id, [Add(memory=other, vector=a_vector(1))], space=SPACE
        )

        everybody = a_selection(scope=a_scope(user_id=None))
        assert "ana-monday-1.user" not in await ids(store, "text", everybody, "greyhound")

    async def test_what_is_gone_is_around_nothing(self, store: Store) -> None:
        erased, hidden = an_exchange(1, "greyhound"), an_exchange(3, "greyhound")
        await know(store, erased, an_exchange(2, "two"), hidden)
        gone = replace(hidden, deleted=True, revision=2)

        await store.memories.apply(PROJECT, [Replace(memory=gone), Erase(memory_id=erased.id)])

        assert await ids(store, "text", a_selection(), "greyhound") == []
        assert len(await ids(store, "text", a_selection(), "two")) == 1

    async def test_turns_of_the_same_session_are_around_no_exchange(self, store: Store) -> None:
        await store.turns.append(turn := a_turn("greyhound"))
        await know(store, an_exchange(1, "a ferry"), an_exchange(2, "two"))
        await store.turns.append(a_turn("two"))

        turns = a_selection(source=Source.STM)
        assert await ids(store, "text", a_selection(), "greyhound") == []
        assert (await ids(store, "text", turns, "greyhound"))[0] == turn.id
        assert await ids(store, "text", turns, "ferry") == []

    async def test_what_is_read_out_of_an_exchange_is_found_with_it(self, store: Store) -> None:
        first, second = an_exchange(1, "one"), an_exchange(2, "two")
        await know(store, first, second)

        await store.memories.apply(PROJECT, [told(first, "Ana has a greyhound")])

        found = await ids(store, "text", a_selection(), "greyhound")
        assert found == ["ana-monday-1.user", "ana-monday-2.user"]
        (stored,) = await store.memories.get_many(a_scope(), [first.id])
        assert isinstance(stored.body, Block)
        assert (stored.body.summary, stored.has_embedding) == ("Ana has a greyhound", True)
        assert await ids(store, "vector", a_selection()) == [first.id, second.id]

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize("name", ["viewpoint", "speaker", "exchange_id"])
    async def test_a_viewpoint_a_speaker_or_an_exchange_can_be_asked_for(
        self, store: Store, leg: str, name: str
    ) -> None:
        mine = an_exchange(1, "Lisbon")
        body = a_block(speaker="Ben", viewpoint=Viewpoint.ASSISTANT, exchange_id="other")
        await know(store, mine, his := a_memory(body=body, session_id=SESSION))

        for memory in (mine, his):
            wanted = Comparison(name, Operator.EQ, str(getattr(memory.body, name)))
            assert await ids(store, leg, a_selection(filter=wanted)) == [memory.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_conversation_can_be_asked_for(self, store: Store, leg: str) -> None:
        await know(store, an_exchange(1, "Lisbon"), an_exchange(1, "Lisbon", session_id="tuesday"))

        tuesday = a_selection(scope=a_scope(session_id="tuesday"))
        assert await ids(store, leg, tuesday) == ["ana-tuesday-1.user"]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_past_moment_knows_what_had_been_said_by_then(
        self, store: Store, leg: str
    ) -> None:
        later = START + timedelta(days=9)
        await know(
            store,
            an_exchange(1, "Lisbon", valid_from=START),
            an_exchange(2, "Lisbon", valid_from=later),
        )

        then = a_selection(as_of=START + timedelta(days=1))
        assert await ids(store, leg, then) == ["ana-monday-1.user"]
        assert len(await ids(store, leg, a_selection(as_of=later))) == 2

    async def test_a_place_in_a_conversation_is_taken_once(self, store: Store) -> None:
        await know(store, an_exchange(1, "one", identity_key="place"))

        both = [
            Add(memory=an_exchange(2, "two", identity_key="free")),
            Add(memory=an_exchange(3, "three", identity_key="place")),
        ]
        with pytest.raises(DuplicateMemory):
            await store.memories.apply(PROJECT, both)

        assert await ids(store, "text", a_selection(), "two") == []

    async def test_an_id_is_taken_once(self, store: Store) -> None:
        await know(store, an_exchange(1, "one", identity_key="place"))

        with pytest.raises(DuplicateMemory):
            await store.memories.apply(PROJECT, [Add(memory=an_exchange(1, "two"))])

        assert await ids(store, "text", a_selection(), "two") == []

    async def test_work_is_queued_with_what_it_is_for_or_not_at_all(self, store: Store) -> None:
        job = a_job(kind=JobKind.CONTEXT, key="context:1")
        await store.memories.apply(
            PROJECT, [Add(memory=an_exchange(1, "one", identity_key="place"))], queueing=[job]
        )

        again = a_job(kind=JobKind.CONTEXT, key="context:2")
        with pytest.raises(DuplicateMemory):
            await store.memories.apply(
                PROJECT, [Add(memory=an_exchange(2, "two", identity_key="place"))], queueing=[again]
            )
        unknown = told(an_exchange(3, "three"), "s")
        with pytest.raises(VersionConflict):
            await store.memories.apply(PROJECT, [unknown], queueing=[again])

        assert [one.key for one in await store.jobs.list(PROJECT)] == ["context:1"]

    async def test_each_exchange_is_read_by_itself(self, store: Store) -> None:
        jobs = [a_job(kind=JobKind.CONTEXT, key=f"context:{n}") for n in range(2)]
        await store.memories.apply(PROJECT, [], queueing=jobs)

        later = START + timedelta(minutes=1)
        claimed = [
            await store.jobs.claim(
                worker="w", kinds=[JobKind.CONTEXT], now=START, lease_until=later
            )
            for _ in jobs
        ]

        assert None not in claimed

    async def test_erasing_a_user_takes_their_blocks_and_what_was_said_around(
        self, store: Store
    ) -> None:
        await know(store, an_exchange(1, "greyhound"), an_exchange(2, "two"))
        await know(store, an_exchange(1, "three", user_id="bob"))

        counts = await store.erase(a_scope())

        everybody = a_selection(scope=a_scope(user_id=None))
        assert (counts["blocks"], counts["memories"]) == (2, 0)
        assert await ids(store, "text", everybody, "greyhound two three") == ["bob-monday-1.user"]
        assert await ids(store, "vector", everybody) == ["bob-monday-1.user"]
