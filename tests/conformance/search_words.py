"""What every `SearchIndex` promises of words. Each index's test module runs the whole class."""

import string
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.chunk import Source
from memory_server.domain.words import query_terms
from memory_server.ports.store import Store
from tests.conformance.search import a_selection, ids, say
from tests.factories import (
    SESSION,
    a_scope,
    a_snapshot,
    a_turn,
)

any_input = settings(
    max_examples=60,
    deadline=None,
    # One store serves all examples, and one class all stores: no example writes anything.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


class WordsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_the_text_that_says_more_of_the_words_comes_first(self, store: Store) -> None:
        await say(
            store,
            a_turn("the ferry to Barreiro was late", session_id="a"),
            both := a_turn("the ferry from Lisbon was late", session_id="b"),
            a_turn("nothing of interest", session_id="c"),
            a_turn("something else entirely", session_id="d"),
        )

        hits = await store.search.text(a_selection(Source.STM), ["ferry", "lisbon"])

        assert len(hits) == 2
        assert hits[0].id == both.id
        assert hits[0].score > hits[1].score > 0

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("She moved to Porto", "moving"),
            ("El niño comió después", "comio despues"),
            ("naïve café", "NAIVE CAFE"),
            ("error ERR-4021 at start", "ERR-4021"),
            ("error ERR-4021 at start", "4021"),
            ("paid invoice_99 today", "invoice_99"),
            ("paid invoice_99 today", "invoice 99"),
            ("see current.md", "current.md"),
            ("see current.md", "current"),
            ("3.5 GB/s", "GB/s"),
            ("an a-b test", "a-b"),
            ("Bob's bike", "bob"),
            ("Bob bought it", "what's Bob's?"),
            ("记忆系统很好", "记忆"),
            ("记忆系统很好", "系统"),
            ("我用Python写代码", "python"),
            ("我养了一只猫", "猫"),
            ("東京に行きました", "東京"),
            ("서울에서 만나요", "서울"),
            ("\uff26\uff35\uff2c\uff2c width", "full"),
            ("¿Dónde está la llave?", "llave"),
        ],
    )
    async def test_words_are_found_in_the_forms_people_use(
        self, store: Store, text: str, query: str
    ) -> None:
        await say(store, turn := a_turn(text))
        await say(store, a_turn("an unrelated remark", session_id="tuesday"))

        assert await ids(store, "text", a_selection(Source.STM), query) == [turn.id]

    async def test_a_turn_is_found_by_its_speaker_and_its_date(self, store: Store) -> None:
        said = {"event_time": datetime.fromisoformat("2023-05-08T23:30:00-07:00")}
        await say(store, turn := a_turn("hm", metadata={"speaker": "Marta"}, **said))

        for query in ("Marta", "8 May 2023", "May"):
            assert await ids(store, "text", a_selection(Source.STM), query) == [turn.id]

    async def test_a_turn_is_found_by_what_was_said_just_before(self, store: Store) -> None:
        await say(
            store,
            question := a_turn("What instrument do you play?"),
            answer := a_turn("The cello, since I was six"),
        )

        found = await ids(store, "text", a_selection(Source.STM), "instrument")

        assert found == [question.id, answer.id]

    async def test_a_promoted_turn_is_found_by_what_was_said_just_after(self, store: Store) -> None:
        await say(store, first := a_turn("Guess"), second := a_turn("A cello"))
        await store.snapshots.promote(a_snapshot(1, 2), [])

        assert await ids(store, "text", a_selection(Source.STM), "cello") == [second.id, first.id]

    @pytest.mark.parametrize("changes", [{"user_id": "bob"}, {"session_id": "tuesday"}])
    async def test_words_of_others_and_of_other_sessions_do_not_reach_a_turn(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        await say(store, a_turn("my secret is a cello", **changes), a_turn("Guess"))
        await store.snapshots.promote(a_snapshot(1, 1, session_id=SESSION), [])

        assert await ids(store, "text", a_selection(Source.STM), "secret cello") == (
            [] if "user_id" in changes else await self._only(store, "tuesday")
        )

    async def _only(self, store: Store, session_id: str) -> list[str]:
        turns = await store.turns.recent(a_scope(session_id=session_id), limit=9)
        return [turn.id for turn in turns]

    @pytest.mark.parametrize("terms", [[], ["..."], ['"'], ["*"], ["\0"], [""]])
    async def test_terms_without_words_find_nothing(
        self, store: Store, terms: Sequence[str]
    ) -> None:
        await say(store, a_turn())

        assert await store.search.text(a_selection(Source.STM), terms) == []

    @any_input
    @given(
        st.lists(st.text(alphabet=string.printable + "¿\u2019*^{}:\0é記", max_size=12), max_size=6)
    )
    async def test_no_term_is_ever_read_as_syntax(self, store: Store, terms: list[str]) -> None:
        hits = await store.search.text(a_selection(Source.STM), terms)

        assert hits == []

    @any_input
    @given(st.text(max_size=60))
    async def test_any_text_can_be_asked(self, store: Store, query: str) -> None:
        assert await store.search.text(a_selection(Source.STM), query_terms(query)) == []

    async def test_a_long_text_can_be_asked(self, store: Store) -> None:
        await say(store, turn := a_turn())

        query = "Lisbon " + " ".join(f"word{number}" for number in range(5000))

        assert await ids(store, "text", a_selection(Source.STM), query) == [turn.id]
