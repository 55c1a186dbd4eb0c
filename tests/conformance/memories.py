"""What every `Memories` promises. Each store's test module runs the whole class."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.filters import NOTHING, Clauses, Comparison, Connective, Operator
from memory_server.domain.memory import Body, Claim, EventTime, Evidence, Memory, MemoryType
from memory_server.domain.scope import Visibility
from memory_server.errors import (
    MemoryNotFound,
)
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    PROJECT,
    SPACE,
    a_block,
    a_fact,
    a_memory,
    a_procedure,
    a_record,
    a_scope,
    a_term,
    a_vector,
    an_episode,
)

LATER = START + timedelta(days=1)
TOKYO = timezone(timedelta(hours=9))

BODIES: tuple[Body, ...] = (
    a_fact(source="import"),
    an_episode(
        summary_text="A move",
        participants=("Ana", "Bob"),
        tags=("home",),
        snapshot_ref_id="s1",
        summary_type="llm",
        source_agent="planner",
        extraction_source="snapshot",
    ),
    a_term(related_terms=("stock", "unit"), query_expansion=False),
    a_procedure(
        steps=({"step_type": "instruction", "content": "open", "timeout_ms": 5, "more": [1]},),
        resources=("https://example.org", {"kind": "file"}),
        allowed_tools=("http",),
        compatibility="any",
        license="MIT",
        trigger_conditions=("a refund is asked for",),
        tags=("money",),
        extraction_source="import",
        source_format="md",
        source_path="refund.md",
    ),
    a_record(tags={"plant": "north", "place.city": "Porto", "size": 7, "rush": True, "kg": 1.5}),
    a_block(
        annotations={"time": "8 May 2023", "conversation_id": "c", "$own": {"a.b": [1, None]}},
        context_required=True,
        extractor="rules/1",
        summary="Ana moved",
        contexts=("Ana lives in Lisbon", "Ana moved"),
    ),
)

EVERYTHING: dict[str, Any] = {
    "agent_id": "planner",
    "session_id": "monday",
    "visibility": Visibility.ORG,
    "identity_key": "ana/home_city",
    "claim": Claim(subject="Ana", attribute="home city", value="Lisbon", exclusive=True),
    "metadata": {"tier": "gold", "nested": {"list": [1, 2.5, None, True]}, "ключ": "значение"},
    "contextual_metadata": {"confidence": 0.5},
    "event_time": EventTime(
        start=datetime(2026, 1, 30, tzinfo=TOKYO),
        end=datetime(2026, 1, 31, tzinfo=TOKYO),
        words="yesterday",
    ),
    "evidence": (
        Evidence(
            snapshot_id="s1",
            session_id="monday",
            turn_ids=("t1", "t2"),
            extractor="rules 1",
            learned_at=START,
            event_time=datetime(2026, 1, 30, tzinfo=TOKYO),
            action="ADD",
            reason="nothing like it is known",
            speakers=("Ana", "assistant"),
        ),
    ),
    "reinforcement_count": 3,
}
"""Every optional field with a value."""


async def add(store: Store, *memories: Memory) -> None:
    """Store memories without vectors."""
    await store.memories.apply(PROJECT, [Add(memory=memory) for memory in memories])


async def found(store: Store, scope: Any = None, **query: Any) -> list[str]:
    """Return the ids of the memories that a query finds."""
    memories = await store.memories.find(scope or a_scope(), MemoryQuery(**query))
    return [memory.id for memory in memories]


class MemoriesContract:
    """A subclass provides the fixture `store`, open and empty."""

    @pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type.value)
    async def test_a_memory_comes_back_as_it_was_added(self, store: Store, body: Body) -> None:
        memory = a_memory(body=body, **EVERYTHING)

        await add(store, memory)

        assert await store.memories.get(a_scope(), memory.id) == memory

    async def test_a_bare_memory_comes_back_as_it_was_added(self, store: Store) -> None:
        memory = a_memory(user_id=None)

        await add(store, memory)

        assert await store.memories.get(a_scope(user_id=None), memory.id) == memory

    async def test_times_come_back_in_utc_but_events_keep_their_offset(self, store: Store) -> None:
        await add(store, memory := a_memory(at=START.astimezone(TOKYO), **EVERYTHING))

        read = await store.memories.get(a_scope(), memory.id)

        assert read.created_at.tzinfo is UTC
        assert read.event_time is not None
        assert read.event_time.start.utcoffset() == timedelta(hours=9)

    async def test_a_memory_that_does_not_exist_is_not_found(self, store: Store) -> None:
        with pytest.raises(MemoryNotFound):
            await store.memories.get(a_scope(), "unknown")

    @pytest.mark.parametrize(
        "changes",
        [
            {"project_id": "bank"},
            {"user_id": "bob"},
            {"agent_id": "planner"},
            {"session_id": "monday"},
            {"visibility": Visibility.ORG},
        ],
    )
    async def test_a_memory_outside_the_scope_does_not_exist(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        await add(store, memory := a_memory(body=a_term()))
        scope = a_scope(**changes)

        with pytest.raises(MemoryNotFound):
            await store.memories.get(scope, memory.id)
        with pytest.raises(MemoryNotFound):
            await store.memories.history(scope, memory.id)
        assert await store.memories.get_many(scope, [memory.id]) == []
        assert await store.memories.find(scope, MemoryQuery()) == []
        assert await store.memories.domains(scope) == []

    @pytest.mark.parametrize("visibility", Visibility)
    async def test_a_visibility_is_matched_literally(
        self, store: Store, visibility: Visibility
    ) -> None:
        memories = {one: a_memory(visibility=one) for one in Visibility}
        await add(store, *memories.values())

        assert await found(store, a_scope(user_id=None, visibility=visibility)) == [
            memories[visibility].id
        ]

    async def test_many_memories_come_in_the_order_of_the_ids(self, store: Store) -> None:
        one, two = a_memory(), a_memory()
        await add(store, one, two)

        many = await store.memories.get_many(a_scope(), [two.id, "unknown", one.id, two.id])

        assert [memory.id for memory in many] == [two.id, one.id]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({"type": MemoryType.TAXONOMIC}, "term"),
            ({"key": "home_city"}, "fact"),
            ({"key": "shipping/SKU"}, "term"),
            ({"key": "refund_order"}, "procedure"),
            ({"domain": "shipping"}, "term"),
            ({"identity_key": "i"}, "fact"),
            ({"subject": "Ana"}, "fact"),
            ({"attribute": "home city", "subject": "Ana"}, "fact"),
            ({"attribute": "home city", "type": MemoryType.EPISODIC}, None),
            ({"filter": Comparison("metadata.tier", Operator.EQ, "gold")}, "episode"),
            ({"filter": Comparison("tags", Operator.EQ, "money")}, "procedure"),
            ({"type": MemoryType.CUSTOM}, "record"),
            ({"type": MemoryType.CUSTOM, "key": "ticket"}, "record"),
            ({"type": MemoryType.CUSTOM, "key": "home_city"}, None),
            ({"filter": Comparison("tags.place.city", Operator.EQ, "Porto")}, "record"),
        ],
    )
    async def test_a_query_finds_what_meets_all_its_conditions(
        self, store: Store, query: dict[str, Any], expected: str | None
    ) -> None:
        claim = Claim(subject="Ana", attribute="home city", value="Lisbon")
        await add(
            store,
            a_memory(id="fact", identity_key="i", claim=claim),
            a_memory(id="episode", body=an_episode(), metadata={"tier": "gold"}),
            a_memory(id="term", body=a_term()),
            a_memory(id="procedure", body=a_procedure(tags=("money",))),
            a_memory(id="record", body=a_record(tags={"place.city": "Porto"})),
        )

        assert await found(store, **query) == ([] if expected is None else [expected])

    @pytest.mark.parametrize("field", ["identity_key", "subject", "key", "domain"])
    async def test_what_nothing_passes_is_found_beside_no_other_condition(
        self, store: Store, field: str
    ) -> None:
        claim = Claim(subject="x", attribute="x", value="x")
        await add(store, a_memory(identity_key="x", claim=claim, body=a_fact(label="x")))

        for nothing in (NOTHING, Clauses(Connective.OR, ())):
            assert await found(store, filter=nothing, **{field: "x"}) == []

    async def test_memories_without_a_vector_can_be_asked_for(self, store: Store) -> None:
        without, having = a_memory(), a_memory()
        operations = [Add(memory=without), Add(memory=having, vector=a_vector(1))]
        await store.memories.apply(PROJECT, operations, space=SPACE)

        assert await found(store, without_embedding=True) == [without.id]

    async def test_live_memories_come_before_others_and_newer_ones_before_older(
        self, store: Store
    ) -> None:
        await add(
            store,
            a_memory(id="deleted", deleted=True, at=LATER),
            a_memory(id="old"),
            a_memory(id="new", at=LATER),
            a_memory(id="past", is_latest=False, at=LATER + timedelta(days=1)),
        )

        order = await found(store, include_deleted=True, include_superseded=True)

        assert order == ["new", "old", "past", "deleted"]

    async def test_a_limit_keeps_the_first(self, store: Store) -> None:
        await add(store, a_memory(), newest := a_memory(at=LATER))

        assert await found(store, limit=1) == [newest.id]
        assert await found(store, limit=0) == []

    async def test_live_memories_are_counted_by_the_names_of_their_types(
        self, store: Store
    ) -> None:
        bodies = (a_fact(), a_fact(label="b"), a_term(), a_record(), a_record(custom_type="note"))
        await add(store, *(a_memory(body=body) for body in bodies))
        await add(store, a_memory(deleted=True), a_memory(is_latest=False), a_memory(user_id="bob"))

        counts = await store.memories.counts(a_scope())

        assert counts == {"semantic": 2, "taxonomic": 1, "ticket": 1, "note": 1}
        assert await store.memories.counts(a_scope(user_id="nobody else")) == {}

    async def test_what_never_held_is_kept_by_its_identity_and_no_read_finds_it(
        self, store: Store
    ) -> None:
        never = a_memory(identity_key="claim:smokes", valid_to=START, is_latest=False)
        await store.memories.apply(PROJECT, [Add(memory=never)])

        ended = MemoryQuery(identity_key="claim:smokes", include_superseded=True)
        assert [one.id for one in await store.memories.find(a_scope(), ended)] == [never.id]
        assert await store.memories.find(a_scope(), MemoryQuery()) == []
        for as_of in (None, START, START + timedelta(days=1)):
            selection = Selection(scope=a_scope(), source=Source.SEMANTIC, as_of=as_of, limit=5)
            assert await store.search.text(selection, ["lisbon"]) == []
        later = a_memory(identity_key="claim:smokes")
        await store.memories.apply(PROJECT, [Add(memory=later)])
        assert [one.id for one in await store.memories.find(a_scope(), MemoryQuery())] == [later.id]

    async def test_domains_are_those_of_live_terms_each_once(self, store: Store) -> None:
        domains = ("shipping", "billing", "shipping")
        await add(store, *(a_memory(body=a_term(domain=domain)) for domain in domains))
        await add(store, a_memory(body=a_term(domain="gone"), deleted=True))

        assert await store.memories.domains(a_scope()) == ["billing", "shipping"]
