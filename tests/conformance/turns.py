"""What every `Turns` promises. Each store's test module runs the whole class."""

import asyncio
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_server.domain.scope import Visibility
from memory_server.domain.turn import NewTurn, Role
from memory_server.domain.utterance import Utterance
from memory_server.errors import InvalidRequest, WrongDimension
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, SESSION, SPACE, a_scope, a_turn, a_vector

EVERYTHING: dict[str, Any] = {
    "role": Role.TOOL,
    "content": "naïve ☕ 東京\n'quoted' \"twice\"",
    "agent_id": "planner",
    "event_time": datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=-7))),
    "idempotency_key": "workflow:1:tool:0",
    "tool_calls": [{"id": "c1", "name": "f", "arguments": {"n": [1, 2.5, None, True]}}],
    "tool_call_id": "c1",
    "tool_name": "lookup",
    "is_error": True,
    "model_name": "model-1",
    "tokens": 12,
    "stop_reason": "end",
    "metadata": {"speaker": "Ana", "nested": {"list": [1, "a", None]}, "": "empty key"},
}
"""Every optional field with a value."""


class TurnsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_turns_say_is_read_without_the_rest(self, store: Store) -> None:
        named = await store.turns.append(a_turn(**EVERYTHING))
        plain = await store.turns.append(a_turn(id="plain", metadata={"speaker": ["no name"]}))

        read = await store.turns.utterances(PROJECT, [named.id, plain.id, "unknown"])

        assert {one.id: one for one in read} == {
            turn.id: Utterance(
                id=turn.id,
                session=turn.session_id,
                speaker=turn.speaker,
                role=turn.role.value,
                text=turn.content,
                said_at=turn.event_time or turn.created_at,
            )
            for turn in (named, plain)
        }
        assert await store.turns.utterances("another", [named.id]) == []

    async def test_a_turn_comes_back_as_it_was_recorded(self, store: Store) -> None:
        given = a_turn(**EVERYTHING)

        stored = await store.turns.append(given)
        (read,) = await store.turns.get_many(PROJECT, [given.id])

        assert read == stored
        assert {one.name: getattr(read, one.name) for one in fields(NewTurn)} == {
            one.name: getattr(given, one.name) for one in fields(NewTurn)
        }

    async def test_the_time_of_an_event_keeps_the_offset_of_the_speaker(self, store: Store) -> None:
        given = a_turn(**EVERYTHING)

        await store.turns.append(given)
        (read,) = await store.turns.get_many(PROJECT, [given.id])

        assert read.event_time is not None
        assert read.event_time.utcoffset() == timedelta(hours=-7)

    async def test_times_are_kept_to_the_microsecond_in_utc(self, store: Store) -> None:
        moment = datetime(2026, 1, 31, 23, 59, 59, 999_999, timezone(timedelta(hours=5)))

        stored = await store.turns.append(a_turn(created_at=moment))
        (read,) = await store.turns.get_many(PROJECT, [stored.id])

        assert read.created_at == moment
        assert read.created_at.tzinfo is UTC

    async def test_turns_are_numbered_from_one_in_each_session(self, store: Store) -> None:
        first = [await store.turns.append(a_turn()) for _ in range(3)]
        other = await store.turns.append(a_turn(session_id="tuesday"))

        assert [turn.turn_seq for turn in first] == [1, 2, 3]
        assert other.turn_seq == 1

    async def test_sessions_of_two_projects_with_one_name_are_counted_apart(
        self, store: Store
    ) -> None:
        await store.turns.append(a_turn())

        other = await store.turns.append(a_turn(project_id="bank"))

        assert other.turn_seq == 1

    async def test_concurrent_turns_are_numbered_without_gaps(self, store: Store) -> None:
        stored = await asyncio.gather(*(store.turns.append(a_turn()) for _ in range(24)))

        assert sorted(turn.turn_seq for turn in stored) == list(range(1, 25))

    async def test_the_same_key_again_returns_the_first_turn(self, store: Store) -> None:
        first = await store.turns.append(a_turn("one", idempotency_key="k"))

        again = await store.turns.append(a_turn("two", idempotency_key="k"))

        assert again == first
        assert len(await store.turns.recent(a_scope(session_id=SESSION), limit=9)) == 1

    async def test_the_same_key_at_the_same_time_stores_one_turn(self, store: Store) -> None:
        stored = await asyncio.gather(
            *(store.turns.append(a_turn(idempotency_key="k")) for _ in range(12))
        )

        assert {(turn.id, turn.turn_seq) for turn in stored} == {(stored[0].id, 1)}
        assert (await store.turns.append(a_turn())).turn_seq == 2

    @pytest.mark.parametrize(
        "changes",
        [{"session_id": "tuesday"}, {"project_id": "bank"}, {"user_id": "bob"}, {"user_id": None}],
    )
    async def test_a_key_counts_for_its_user_and_in_its_own_session_only(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        first = await store.turns.append(a_turn(idempotency_key="k"))

        other = await store.turns.append(a_turn(idempotency_key="k", **changes))
        again = await store.turns.append(a_turn(idempotency_key="k", **changes))

        assert other.id != first.id
        assert again == other

    async def test_recent_turns_are_the_newest_oldest_first(self, store: Store) -> None:
        for number in range(5):
            await store.turns.append(a_turn(f"turn {number}"))

        recent = await store.turns.recent(a_scope(session_id=SESSION), limit=2)

        assert [turn.content for turn in recent] == ["turn 3", "turn 4"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"user_id": "bob"},
            {"agent_id": "planner"},
            {"session_id": "tuesday"},
            {"project_id": "bank"},
            {"visibility": Visibility.ORG},
        ],
    )
    async def test_recent_turns_match_every_part_of_the_scope(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        await store.turns.append(a_turn())

        scope = a_scope(**{"session_id": SESSION} | changes)

        assert await store.turns.recent(scope, limit=9) == []

    async def test_recent_turns_of_a_session_are_found_without_a_user(self, store: Store) -> None:
        stored = await store.turns.append(a_turn())

        scope = a_scope(user_id=None, session_id=SESSION, visibility=Visibility.PRIVATE)

        assert await store.turns.recent(scope, limit=9) == [stored]

    async def test_recent_turns_of_all_sessions_are_in_the_order_of_recording(
        self, store: Store
    ) -> None:
        for session in ("monday", "tuesday", "monday"):
            await store.turns.append(a_turn(session_id=session))
        await store.turns.append(a_turn(session_id="sunday", user_id="bob"))

        recent = await store.turns.recent(a_scope(), limit=2)

        assert [turn.session_id for turn in recent] == ["tuesday", "monday"]

    async def test_a_run_is_given_with_both_ends(self, store: Store) -> None:
        for _ in range(5):
            await store.turns.append(a_turn())

        run = await store.turns.run(PROJECT, SESSION, first_seq=2, last_seq=4)

        assert [turn.turn_seq for turn in run] == [2, 3, 4]

    async def test_many_turns_come_in_the_order_of_the_ids(self, store: Store) -> None:
        one, two = [await store.turns.append(a_turn()) for _ in range(2)]

        found = await store.turns.get_many(PROJECT, [two.id, "unknown", one.id])

        assert found == [two, one]

    async def test_a_turn_says_whether_it_has_a_vector(self, store: Store) -> None:
        without = await store.turns.append(a_turn())
        having = await store.turns.append(a_turn(), vector=a_vector(1), space=SPACE)

        found = await store.turns.get_many(PROJECT, [without.id, having.id])

        assert [turn.has_embedding for turn in found] == [False, True]
        assert having.has_embedding

    async def test_vectors_can_be_given_later(self, store: Store) -> None:
        turn = await store.turns.append(a_turn())

        await store.turns.set_vectors(PROJECT, {turn.id: a_vector(1), "gone": a_vector(1)}, SPACE)

        (read,) = await store.turns.get_many(PROJECT, [turn.id])
        assert read.has_embedding

    async def test_a_vector_of_another_dimension_is_refused_with_its_turn(
        self, store: Store
    ) -> None:
        with pytest.raises(WrongDimension):
            await store.turns.append(a_turn(), vector=a_vector(1)[:2], space=SPACE)

        assert await store.turns.recent(a_scope(session_id=SESSION), limit=9) == []

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    async def test_a_number_that_json_cannot_carry_is_refused(
        self, store: Store, value: float
    ) -> None:
        with pytest.raises(InvalidRequest):
            await store.turns.append(a_turn(metadata={"score": value}))

    async def test_broken_unicode_is_refused_and_the_next_turn_is_stored(
        self, store: Store
    ) -> None:
        with pytest.raises(InvalidRequest):
            await store.turns.append(a_turn("half \ud83d of a pair"))

        assert (await store.turns.append(a_turn())).turn_seq == 1

    async def test_a_turn_that_was_cancelled_does_not_disturb_the_others(
        self, store: Store
    ) -> None:
        calls = [asyncio.ensure_future(store.turns.append(a_turn())) for _ in range(9)]
        await asyncio.sleep(0)

        calls[4].cancel()
        results = await asyncio.gather(*calls, return_exceptions=True)

        assert sum(isinstance(one, BaseException) for one in results) == 1
        (session,) = await store.snapshots.waiting(min_turns=1, idle_since=START, limit=9)
        assert session.last_seq in (8, 9)
