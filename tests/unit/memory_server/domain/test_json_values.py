import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.json_values import check_storable
from memory_server.domain.limits import MAX_METADATA_DEPTH, MAX_METADATA_KEYS


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"text": "Ω\u0000\U0001f600\n", "big": 10**4000, "small": -(2**70), "tiny": 5e-324},
        nested(MAX_METADATA_DEPTH),
        {str(number): number for number in range(MAX_METADATA_KEYS)},
        {"": {"a.b": {"$gt": 1}}},
    ],
)
def test_what_can_be_stored_is_let_through(value: Any) -> None:
    check_storable(value, max_bytes=100_000)

    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (nested(MAX_METADATA_DEPTH + 1), f"more than {MAX_METADATA_DEPTH} levels"),
        (nested(100_000), f"more than {MAX_METADATA_DEPTH} levels"),
        (
            [{str(number): 1} for number in range(MAX_METADATA_KEYS + 1)],
            f"more than {MAX_METADATA_KEYS} keys",
        ),
        ({"a": float("inf")}, "cannot be stored"),
        ({"a": [float("nan")]}, "cannot be stored"),
        ({"a": "\ud800"}, "cannot be stored"),
        ({"\udc00": 1}, "cannot be stored"),
        ({"a": "x" * 92}, "101 bytes as JSON; 100 are the most"),
        ({"a": "Ω" * 47}, "103 bytes as JSON; 100 are the most"),
    ],
    ids=range(9),
)
def test_what_cannot_is_refused_with_the_reason_and_the_limit(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_storable(value, max_bytes=1_000_000 if isinstance(value, list) else 100)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(JSON)
def test_ordinary_json_always_passes(value: Any) -> None:
    check_storable(value, max_bytes=10**6)
