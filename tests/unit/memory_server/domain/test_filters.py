from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.filter_parsing import RESERVED, parse_filter, parse_lenient
from memory_server.domain.filters import (
    NOTHING,
    Clauses,
    Comparison,
    Connective,
    Filter,
    Kind,
    Operator,
    matches,
)
from memory_server.domain.limits import MAX_FILTER_COMPARISONS, MAX_FILTER_DEPTH, MAX_FILTER_VALUES
from memory_server.errors import InvalidFilter, UndeclaredPath

DECLARED: Mapping[str, Kind] = {
    "tier": "string",
    "score": "number",
    "active": "boolean",
    "since": "date",
    "address.city": "string",
}
TIER = "metadata.tier"
SCORE = "metadata.score"


def parse(document: Mapping[str, Any]) -> Filter:
    return parse_filter(document, declared=DECLARED)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({TIER: "gold"}, Comparison(TIER, Operator.EQ, "gold"), id="equality"),
        pytest.param({TIER: {"$ne": "x"}}, Comparison(TIER, Operator.NE, "x"), id="ne"),
        pytest.param(
            {TIER: {"$in": ["a", "b"]}}, Comparison(TIER, Operator.IN, ("a", "b")), id="in"
        ),
        pytest.param({TIER: {"$nin": []}}, Comparison(TIER, Operator.NIN, ()), id="empty nin"),
        pytest.param({TIER: None}, Comparison(TIER, Operator.EQ, None), id="null"),
        pytest.param(
            {TIER: {"$exists": False}}, Comparison(TIER, Operator.EXISTS, False), id="exists"
        ),
        pytest.param(
            {SCORE: {"$gte": 1, "$lt": 2.5}},
            Clauses(
                Connective.AND,
                (Comparison(SCORE, Operator.GTE, 1), Comparison(SCORE, Operator.LT, 2.5)),
            ),
            id="bounds fuse",
        ),
        pytest.param(
            {"metadata.since": {"$gt": "2026-01-31"}},
            Comparison("metadata.since", Operator.GT, datetime(2026, 1, 31, tzinfo=UTC)),
            id="date",
        ),
        pytest.param(
            {"$or": [{TIER: "a"}, {"metadata.address.city": "Oslo"}]},
            Clauses(
                Connective.OR,
                (
                    Comparison(TIER, Operator.EQ, "a"),
                    Comparison("metadata.address.city", Operator.EQ, "Oslo"),
                ),
            ),
            id="or",
        ),
        pytest.param({"agent_id": "a1"}, Comparison("agent_id", Operator.EQ, "a1"), id="agent"),
        pytest.param({}, Clauses(Connective.AND, ()), id="empty"),
    ],
)
def test_a_document_becomes_a_filter(document: Mapping[str, Any], expected: Filter) -> None:
    assert parse(document) == expected


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        pytest.param({TIER: {"$regex": "g"}}, r"\$regex.*allowed: \$eq, \$ne", id="operator"),
        pytest.param({"$where": "1"}, r"\$where.*allowed: \$and, \$or, \$nor", id="connective"),
        pytest.param({"$and": []}, "list of at least one", id="empty list"),
        pytest.param({"$or": {TIER: "x"}}, "list of at least one", id="not a list"),
        pytest.param({"$and": ["x"]}, "a filter is an object, not string", id="not an object"),
        pytest.param({TIER: {}}, "empty object", id="empty object"),
        pytest.param({TIER: {"$gt": "a"}}, "needs a number or date key", id="range on a string"),
        pytest.param({"metadata.active": {"$lt": True}}, "needs a number", id="range on a boolean"),
        pytest.param({"agent_id": {"$gte": "a"}}, "needs a number", id="range on the agent"),
        pytest.param({SCORE: {"$gt": None}}, "cannot be used with null", id="range with null"),
        pytest.param({TIER: 1}, "takes a string value, not number", id="number for string"),
        pytest.param({SCORE: True}, "takes a number value, not boolean", id="boolean for number"),
        pytest.param({"metadata.active": 1}, "takes a boolean value", id="number for boolean"),
        pytest.param({"metadata.since": "soon"}, "takes a date like", id="no date"),
        pytest.param({TIER: ["a"]}, "not a list", id="list"),
        pytest.param({TIER: {"$in": "a"}}, "takes a list, not string", id="in without list"),
        pytest.param({TIER: {"$in": [["a"]]}}, "not a list", id="list in list"),
        pytest.param({TIER: {"$exists": 1}}, "takes true or false", id="exists"),
        pytest.param({TIER: {"$eq": {"$ne": "a"}}}, "not an object", id="operator as value"),
        pytest.param({SCORE: float("nan")}, "finite", id="nan"),
        pytest.param({SCORE: 2**63}, "64 bits", id="huge number"),
        pytest.param({TIER: "x" * 5000}, "4096 characters", id="long text"),
        pytest.param(
            {TIER: {"$in": ["x"] * (MAX_FILTER_VALUES + 1)}}, "at most 1000", id="many values"
        ),
        pytest.param(
            {"$or": [{TIER: "x"}] * (MAX_FILTER_COMPARISONS + 1)}, "more than 100", id="many"
        ),
    ],
)
def test_what_is_outside_the_language_is_refused(document: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(InvalidFilter, match=reason):
        parse(document)


def test_a_filter_nested_too_deep_is_refused() -> None:
    document: dict[str, Any] = {TIER: "gold"}
    for _ in range(MAX_FILTER_DEPTH + 1):
        document = {"$and": [document]}

    with pytest.raises(InvalidFilter, match="deeper"):
        parse(document)


def test_an_undeclared_path_is_refused_with_the_accepted_ones() -> None:
    with pytest.raises(UndeclaredPath) as refused:
        parse({"$or": [{"metadata.colour": "red"}]})

    for path in ("agent_id (string)", "metadata.tier (string)", "metadata.score (number)"):
        assert path in str(refused.value)


def test_a_bare_declared_key_is_refused_with_its_qualified_path() -> None:
    with pytest.raises(UndeclaredPath, match=r"did you mean metadata\.tier"):
        parse({"tier": "gold"})


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_reserved_path_is_refused(name: str) -> None:
    with pytest.raises(UndeclaredPath, match="reserved for the server"):
        parse({name: "x"})


GOLD = {"metadata": {"tier": "gold", "score": 3, "active": True, "since": "2026-02-01"}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({TIER: "gold"}, True),
        ({TIER: "Gold"}, False),
        ({TIER: "gol"}, False),
        ({TIER: {"$ne": "gold"}}, False),
        ({TIER: {"$in": ["silver", "gold"]}}, True),
        ({TIER: {"$in": []}}, False),
        ({TIER: {"$nin": ["silver"]}}, True),
        ({SCORE: {"$gt": 2, "$lte": 3}}, True),
        ({SCORE: {"$gt": 3}}, False),
        ({SCORE: {"$gte": 3.0}}, True),
        ({SCORE: {"$lt": 3}}, False),
        ({"metadata.active": True}, True),
        ({"metadata.since": {"$lt": "2026-02-01T00:00:01Z"}}, True),
        ({"metadata.since": "2026-02-01T01:00:00+01:00"}, True),
        ({"metadata.address.city": "Oslo"}, False),
        ({"metadata.address.city": {"$ne": "Oslo"}}, True),
        ({"metadata.address.city": {"$exists": False}}, True),
        ({"metadata.address.city": None}, True),
        ({TIER: {"$exists": True}}, True),
        ({"$nor": [{TIER: "silver"}, {SCORE: 4}]}, True),
        ({"$or": [{TIER: "silver"}, {SCORE: 3}]}, True),
        ({"$and": [{TIER: "gold"}, {SCORE: 4}]}, False),
        ({}, True),
    ],
)
def test_a_filter_decides(document: Mapping[str, Any], expected: bool) -> None:
    assert matches(parse(document), GOLD) is expected


def test_a_list_matches_by_any_of_its_elements() -> None:
    document = {"metadata": {"tier": ["gold", "old"]}}

    assert matches(Comparison(TIER, Operator.EQ, "old"), document)
    assert matches(Comparison(TIER, Operator.IN, ("x", "gold")), document)
    assert not matches(Comparison(TIER, Operator.NE, "old"), document)


@pytest.mark.parametrize(("wanted", "stored"), [(1, True), (True, 1), ("1", 1), (0, False)])
def test_kinds_of_values_never_cross(wanted: str | int, stored: str | int) -> None:
    assert not matches(Comparison(TIER, Operator.EQ, wanted), {"metadata": {"tier": stored}})


def test_an_undeclared_path_is_compared_literally_when_nothing_is_checked() -> None:
    condition, warnings = parse_lenient({"metadata.colour": "red"})

    assert condition == Comparison("metadata.colour", Operator.EQ, "red")
    assert "'metadata.colour' is not a declared filter path" in warnings[0]


@pytest.mark.parametrize("operand", ["gold", {"$ne": "gold"}, {"$exists": False}])
def test_a_bare_key_matches_nothing_and_warns(operand: object) -> None:
    condition, warnings = parse_lenient({"tier": operand}, declared=DECLARED)

    assert condition == NOTHING
    assert len(warnings) == 1
    assert "did you mean metadata.tier" in warnings[0]


@pytest.mark.parametrize(
    "denied",
    [
        {"tier": "gold"},
        {"$or": [{"tier": "gold"}, {TIER: "gold"}]},
        {"$nor": [{"tier": "gold"}]},
    ],
)
def test_a_path_that_matches_nothing_does_not_match_all_when_it_is_denied(denied: object) -> None:
    condition, warnings = parse_lenient({"$nor": [{TIER: "none"}, denied]}, declared=DECLARED)

    assert condition == NOTHING
    assert "it matches nothing" in warnings[0]


@pytest.mark.parametrize("name", ["user_id", "label", "metadata", "metadata.", 'metadata.a"b', ""])
def test_a_path_that_is_no_metadata_key_matches_nothing(name: str) -> None:
    assert parse_lenient({name: {"$ne": "x"}})[0] == NOTHING


def test_a_document_outside_the_language_matches_nothing_and_warns() -> None:
    condition, warnings = parse_lenient({TIER: {"$regex": "."}}, declared=DECLARED)

    assert condition == NOTHING
    assert "$regex" in warnings[0]


@pytest.mark.parametrize("document", [None, {}])
def test_no_filter_gives_no_filter(document: Mapping[str, Any] | None) -> None:
    assert parse_lenient(document) == (None, [])


def test_a_declared_path_gives_no_warning() -> None:
    assert parse_lenient({TIER: "gold"}, declared=DECLARED)[1] == []


def test_the_filter_that_matches_nothing_matches_nothing() -> None:
    assert not matches(NOTHING, {"metadata": {"tier": None}})


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0]),
    st.text("ab", max_size=2),
)
ordered = st.one_of(st.integers(-3, 3), st.text("ab", max_size=2))
documents = st.fixed_dictionaries(
    {},
    optional={"metadata": st.fixed_dictionaries({}, optional={"k": scalars | st.lists(scalars)})},
)
PATH = "metadata.k"


def compare(operator: Operator, value: Any) -> Comparison:
    return Comparison(PATH, operator, value)


@given(documents, scalars, st.lists(scalars, max_size=3))
def test_the_negative_operators_negate(
    document: Mapping[str, Any], value: Any, values: list[Any]
) -> None:
    one, many = compare(Operator.EQ, value), compare(Operator.IN, tuple(values))

    assert matches(compare(Operator.NE, value), document) is not matches(one, document)
    assert matches(compare(Operator.NIN, many.value), document) is not matches(many, document)
    assert matches(many, document) is any(
        matches(compare(Operator.EQ, value), document) for value in values
    )


@given(documents, ordered)
def test_an_inclusive_bound_is_the_exclusive_one_or_equality(
    document: Mapping[str, Any], value: Any
) -> None:
    for strict, inclusive in ((Operator.GT, Operator.GTE), (Operator.LT, Operator.LTE)):
        either = matches(compare(strict, value), document) or matches(
            compare(Operator.EQ, value), document
        )
        assert matches(compare(inclusive, value), document) is either


@given(documents, st.lists(scalars, min_size=1, max_size=3))
def test_the_connectives_are_boolean_algebra(
    document: Mapping[str, Any], values: list[Any]
) -> None:
    parts = [compare(Operator.EQ, value) for value in values]
    passed = [matches(part, document) for part in parts]

    assert matches(Clauses(Connective.AND, parts), document) is all(passed)
    assert matches(Clauses(Connective.OR, parts), document) is any(passed)
    assert matches(Clauses(Connective.NOR, parts), document) is not any(passed)


@given(documents)
def test_a_field_exists_or_does_not(document: Mapping[str, Any]) -> None:
    there = matches(compare(Operator.EXISTS, True), document)

    assert matches(compare(Operator.EXISTS, False), document) is not there
    assert there is ("k" in document.get("metadata", {}))
