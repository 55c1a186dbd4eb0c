from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.custom_type import CustomType, TagValue, equal, tag_tree
from memory_server.domain.filters import Clauses, Comparison, Connective, Operator
from memory_server.errors import InvalidRequest

TICKET = CustomType(name="ticket", tags=("plant", "place.city", "place.floor"))

NAMES = st.text("ab_-", min_size=1, max_size=3)
VALUES = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(min_size=1).filter(str.strip)
)


@pytest.mark.parametrize(
    "given",
    [
        {"place.city": "Porto", "place.floor": 2},
        {"place": {"city": "Porto", "floor": 2}},
        {"place": {"city": "Porto"}, "place.floor": 2},
    ],
)
def test_dotted_and_nested_tags_are_the_same(given: dict[str, Any]) -> None:
    assert TICKET.checked(given) == {"place.city": "Porto", "place.floor": 2}


@pytest.mark.parametrize("value", ["north", 7, -1, 0, 1.5, True, False, 2**63 - 1, -(2**63)])
def test_a_tag_keeps_its_value_and_kind(value: TagValue) -> None:
    kept = TICKET.checked({"plant": value})["plant"]

    assert (kept, type(kept)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        ("", "a blank text"),
        (" \n", "a blank text"),
        (["north"], "a list"),
        (2**63, "a larger number"),
        (-(2**63) - 1, "a larger number"),
        (float("nan"), "no finite number"),
        (float("inf"), "no finite number"),
    ],
)
def test_a_value_that_cannot_be_compared_is_refused_by_its_kind(value: Any, kind: str) -> None:
    with pytest.raises(InvalidRequest, match=f"tag 'plant' takes .* this is {kind}"):
        TICKET.checked({"plant": value})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"plants": 1},
            r"'plants' is not declared .* 'ticket': it declares plant, place\.city",
        ),
        ({"x": 1, "y": 2}, "tags 'x', 'y' are not declared"),
        ({"place": "Porto"}, "tag 'place' is not declared"),
        ({"Plant": "north"}, "tag 'Plant' is not declared"),
        ({"place": {"city": {"of": 1}}}, "tag 'place.city' takes .* this is an object"),
        ({"place": {"city.of": 1}}, r"tag 'place\.city\.of' is not declared"),
        ({"plant": {"city": 1}}, r"tag 'plant\.city' is not declared"),
        ({"place": {}}, "tag 'place' is an empty object"),
        ({"": 1}, "tag '' is not declared"),
        ({"plant": {"$gt": 1}}, r"tag 'plant\.\$gt': tags are compared for equality"),
        ({"$or": {"plant": 1}}, r"tag '\$or\.plant': tags are compared for equality"),
        ({"place.city": 1, "place": {"city": 1}}, r"tag 'place\.city' is given twice"),
    ],
)
def test_what_is_wrong_with_tags_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        TICKET.checked(given)


def test_a_type_without_tags_says_so() -> None:
    with pytest.raises(InvalidRequest, match="'note': it declares no tags"):
        CustomType(name="note").checked({"plant": 1})


def test_many_long_names_are_not_all_repeated() -> None:
    given = {f"{number}{'x' * 1000}": 1 for number in range(100)}

    with pytest.raises(InvalidRequest, match="and 95 more") as refused:
        TICKET.checked(given)

    assert len(str(refused.value)) < 1000


def test_no_tags_are_no_condition() -> None:
    assert TICKET.checked({}) == {}
    assert equal({}) is None


def test_the_condition_is_that_every_tag_is_equal() -> None:
    assert equal({"plant": "north", "place.city": "Porto"}) == Clauses(
        Connective.AND,
        (
            Comparison("tags.plant", Operator.EQ, "north"),
            Comparison("tags.place.city", Operator.EQ, "Porto"),
        ),
    )


@settings(deadline=None)
@given(st.dictionaries(NAMES, VALUES | st.dictionaries(NAMES, VALUES, min_size=1)))
def test_tags_have_one_form_whichever_way_they_are_given(nested: dict[str, Any]) -> None:
    dotted = {
        name if field is None else f"{name}.{field}": value
        for name, held in nested.items()
        for field, value in (held.items() if isinstance(held, dict) else [(None, held)])
    }
    declared = CustomType(name="any", tags=tuple(dotted))

    assert declared.checked(nested) == declared.checked(dotted) == dotted
    assert tag_tree(dotted) == nested
