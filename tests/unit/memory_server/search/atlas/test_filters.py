"""The part of a filter that the index decides lets nothing drop out that the filter lets pass."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from memory_server.domain.filters import (
    Clauses,
    Comparison,
    Connective,
    Filter,
    Kind,
    Operator,
    matches,
)
from memory_server.search.atlas.documents import moments
from memory_server.search.atlas.filters import (
    Fields,
    as_mql,
    as_operator,
    key_path,
    keys_of,
    pushed,
)
from tests.conformance.filters import VALUES, filters

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEYS: Mapping[str, Kind] = {"k": "string", "n": "number", "b": "boolean", "d": "date"}
FIELDS = Fields(frozenset(key_path(key, kind) for key, kind in KEYS.items()), KEYS)


def compared(path: str, operator: Operator, value: Any) -> Comparison:
    return Comparison(f"metadata.{path}", operator, value)


def indexed(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document as the index has it."""
    return {"metadata": metadata, "moments": moments(metadata)}


@settings(deadline=None, max_examples=400)
@given(filters)
@pytest.mark.parametrize("kind", ["string", "number", "boolean", "date"])
def test_whatever_passes_a_filter_passes_its_pushed_part(kind: Kind, condition: Filter) -> None:
    keys: Mapping[str, Kind] = {"k": kind}
    part = pushed(condition, Fields(frozenset([key_path("k", kind)]), keys))

    for value in VALUES.values():
        metadata = {} if value is ... else {"k": value}
        document = {"metadata": metadata}
        if part is not None and matches(condition, document):
            assert matches(part, indexed(metadata))


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        (compared("k", Operator.EQ, "gold"), {"metadata.k": {"$eq": "gold"}}),
        (compared("k", Operator.IN, ("a", "b")), {"metadata.k": {"$in": ["a", "b"]}}),
        (compared("n", Operator.GT, 3), {"metadata.n": {"$gte": 3}}),
        (compared("n", Operator.LT, 3.5), {"metadata.n": {"$lte": 3.5}}),
        (compared("b", Operator.EQ, False), {"metadata.b": {"$eq": False}}),
        (compared("d", Operator.GTE, NOON), {"moments.d": {"$gte": 1769860800000000}}),
    ],
    ids=repr,
)
def test_comparisons_of_a_declared_key_are_pushed(asked: Filter, part: dict[str, Any]) -> None:
    pushable = pushed(asked, FIELDS)

    assert pushable is not None
    assert as_mql(pushable) == part


@pytest.mark.parametrize(
    "asked",
    [
        compared("k", Operator.NE, "gold"),
        compared("k", Operator.NIN, ("gold",)),
        compared("k", Operator.EXISTS, False),
        compared("k", Operator.EQ, None),
        compared("k", Operator.EQ, ""),
        compared("k", Operator.IN, ()),
        compared("k", Operator.IN, ("gold", None)),
        compared("k", Operator.IN, ("gold", 1)),
        compared("k", Operator.GT, "gold"),
        compared("k", Operator.EQ, 1),
        compared("n", Operator.EQ, 2**60),
        compared("n", Operator.EQ, True),
        compared("undeclared", Operator.EQ, "gold"),
        Clauses(Connective.NOR, (compared("k", Operator.EQ, "gold"),)),
        Clauses(Connective.OR, ()),
        Clauses(
            Connective.OR,
            (compared("k", Operator.EQ, "gold"), compared("k", Operator.NE, "silver")),
        ),
    ],
    ids=repr,
)
def test_what_the_index_cannot_decide_is_left_to_the_match(asked: Filter) -> None:
    assert pushed(asked, FIELDS) is None


def test_a_conjunction_is_pushed_as_far_as_it_goes() -> None:
    gold, absent = compared("k", Operator.EQ, "gold"), compared("n", Operator.EXISTS, False)

    part = pushed(Clauses(Connective.AND, (gold, absent)), FIELDS)

    assert part == Clauses(Connective.AND, [gold])


def test_a_key_that_the_index_does_not_hold_yet_is_not_pushed() -> None:
    fields = Fields(frozenset(), KEYS)

    assert pushed(compared("k", Operator.EQ, "gold"), fields) is None


def test_operators_of_the_index_for_words() -> None:
    either = Clauses(
        Connective.OR,
        (
            Comparison("k", Operator.EQ, "gold"),
            Clauses(Connective.AND, (Comparison("n", Operator.LTE, 3),)),
            Comparison("k", Operator.IN, ("a", "b")),
        ),
    )

    assert as_operator(either) == {
        "compound": {
            "should": [
                {"equals": {"path": "k", "value": "gold"}},
                {"compound": {"filter": [{"range": {"path": "n", "lte": 3}}]}},
                {"in": {"path": "k", "value": ["a", "b"]}},
            ],
            "minimumShouldMatch": 1,
        }
    }


def test_a_filter_tells_the_keys_it_names_and_their_kinds() -> None:
    condition = Clauses(
        Connective.NOR,
        (
            compared("region", Operator.IN, ("eu", "us")),
            compared("order.total", Operator.GT, 3),
            compared("seen", Operator.LT, NOON),
            compared("mixed", Operator.IN, ("a", 1)),
            compared("any", Operator.EXISTS, True),
            compared("ключ-1", Operator.EQ, "gold"),
            Comparison("agent_id", Operator.EQ, "planner"),
        ),
    )

    assert dict(keys_of(condition)) == {
        "region": "string",
        "order.total": "number",
        "seen": "date",
    }


def test_moments_stand_under_their_keys() -> None:
    metadata = {
        "seen": "2026-01-31T13:00:00+01:00",
        "days": ["2026-01-31", "no day", 3],
        "order": {"at": "2026-01-31T12:00:00Z", "deep": {"at": "2026-01-31"}},
        "a.b": "2026-01-31",
        "$x": "2026-01-31",
        "tier": "gold",
    }

    assert moments(metadata) == {
        "seen": [1769860800000000],
        "days": [1769817600000000],
        "order": {"at": [1769860800000000]},
    }
