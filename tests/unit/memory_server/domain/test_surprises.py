import pytest

from memory_server.domain import surprises
from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.scope import Scope, Visibility

FACTS = (Source.SEMANTIC,)


def a_scope(**limits: object) -> Scope:
    return Scope(**{"project_id": "p", **limits})  # type: ignore[arg-type] # checked by the scope


@pytest.mark.parametrize("visibility", [Visibility.ORG, Visibility.SHARED])
def test_a_user_and_a_wide_visibility_are_told_to_be_an_intersection(
    visibility: Visibility,
) -> None:
    [warning] = surprises.of_scope(a_scope(user_id="ana", visibility=visibility), FACTS)

    assert f"this user's {visibility.value} memories only" in warning


def test_a_search_without_any_limit_is_told_to_reach_everybody() -> None:
    [warning] = surprises.of_scope(a_scope(), FACTS)

    assert "every user of the project" in warning


@pytest.mark.parametrize(
    ("scope", "sources"),
    [
        (a_scope(user_id="ana"), FACTS),
        (a_scope(user_id="ana", visibility=Visibility.PRIVATE), FACTS),
        (a_scope(visibility=Visibility.ORG), FACTS),
        (a_scope(userless=True), FACTS),
        (a_scope(), (Source.TAXONOMIC,)),
        (a_scope(), ()),
    ],
)
def test_what_means_what_it_says_gives_no_warning(scope: Scope, sources: tuple[Source]) -> None:
    assert list(surprises.of_scope(scope, sources)) == []


@pytest.mark.parametrize(
    ("query", "modes", "told"),
    [
        ("?!", [RetrievalMode.TEXT], True),
        ("😀", [RetrievalMode.SEMANTIC, RetrievalMode.TEXT], True),
        ("?!", [RetrievalMode.HYBRID], False),
        ("a?", [RetrievalMode.TEXT], False),
        ("日", [RetrievalMode.TEXT], False),
        ("  ", [RetrievalMode.TEXT], False),
    ],
)
def test_a_query_without_words_is_told_where_words_are_searched(
    query: str, modes: list[RetrievalMode], told: bool
) -> None:
    assert bool(list(surprises.of_query(query, modes))) is told


@pytest.mark.parametrize(
    ("sources", "session_id", "said"),
    [
        ((), None, "nothing was searched"),
        ((Source.STM,), None, "no session_id"),
        ((Source.STM,), "s", None),
        (FACTS, None, None),
    ],
)
def test_sources_that_cannot_give_anything_are_told_of(
    sources: tuple[Source, ...], session_id: str | None, said: str | None
) -> None:
    warnings = list(surprises.of_sources(a_scope(session_id=session_id), sources))

    assert [said in warning for warning in warnings if said] == ([True] if said else [])
    assert bool(warnings) is (said is not None)


@pytest.mark.parametrize(
    ("max_tokens", "needed", "kept", "said"),
    [
        (400, [9], 0, "more than 500"),
        (500, [9], 0, "more than 500"),
        (520, [30, 21], 0, "20 tokens are left after the reserve of 500, and the shortest"),
        (520, [30, 19], 1, None),
        (400, [], 0, None),
    ],
)
def test_a_budget_that_nothing_fits_is_told_of(
    max_tokens: int, needed: list[int], kept: int, said: str | None
) -> None:
    warnings = list(surprises.of_budget(max_tokens, needed, kept=kept))

    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_each_reason_of_a_missing_leg_is_told_once() -> None:
    warnings = list(surprises.of_degraded(["away", None, "away", "busy"]))

    assert warnings == ["words only: away", "words only: busy"]


def test_a_leg_that_a_filter_took_away_is_told_of() -> None:
    hybrid, text = RetrievalMode.HYBRID, RetrievalMode.TEXT

    assert list(surprises.of_legs(hybrid, hybrid)) == []
    assert "in mode text" in next(surprises.of_legs(hybrid, text))


def test_turns_that_only_wait_are_counted() -> None:
    assert list(surprises.of_waiting(0)) == []
    assert "3 recent turns" in next(surprises.of_waiting(3))
