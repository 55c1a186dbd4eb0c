import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.filter_documents import filter_document
from memory_server.domain.filter_parsing import parse_filter
from memory_server.domain.filters import NOTHING, Kind, matches

DECLARED: Mapping[str, Kind] = {"tier": "string", "score": "number", "on": "boolean", "at": "date"}
DOCUMENTS = [{}, *({"metadata": {"tier": tier}} for tier in ("gold", "", None, ["gold", "x"]))]

single = st.sampled_from(["$eq", "$ne"])
comparisons = st.one_of(
    st.fixed_dictionaries({"metadata.tier": st.none() | st.text()}),
    st.fixed_dictionaries({"metadata.tier": st.dictionaries(single, st.text(), min_size=1)}),
    st.fixed_dictionaries({"metadata.tier": st.fixed_dictionaries({"$in": st.lists(st.text())})}),
    st.fixed_dictionaries({"metadata.score": st.fixed_dictionaries({"$gt": st.integers(-9, 9)})}),
    st.fixed_dictionaries({"metadata.on": st.booleans()}),
    st.fixed_dictionaries({"metadata.at": st.datetimes().map(lambda at: at.isoformat())}),
    st.fixed_dictionaries({"agent_id": st.fixed_dictionaries({"$exists": st.booleans()})}),
)
documents = st.recursive(
    comparisons,
    lambda inner: st.dictionaries(
        st.sampled_from(["$and", "$or", "$nor"]),
        st.lists(inner, min_size=1, max_size=3),
        min_size=1,
    ),
    max_leaves=6,
)


@given(documents)
def test_a_filter_survives_being_written_and_read_again(document: Mapping[str, Any]) -> None:
    condition = parse_filter(document, declared=DECLARED)

    written = json.loads(json.dumps(filter_document(condition)))

    assert parse_filter(written, declared=DECLARED) == condition


@pytest.mark.parametrize(
    ("document", "written"),
    [
        ({"metadata.tier": "gold"}, {"metadata.tier": {"$eq": "gold"}}),
        (
            {"metadata.score": {"$gte": 1, "$lt": 5}},
            {"$and": [{"metadata.score": {"$gte": 1}}, {"metadata.score": {"$lt": 5}}]},
        ),
        ({}, {}),
    ],
)
def test_short_forms_are_written_out(document: Any, written: Any) -> None:
    assert filter_document(parse_filter(document, declared=DECLARED)) == written


def test_the_filter_that_matches_nothing_is_seen_to() -> None:
    assert filter_document(NOTHING) == {"metadata": {"$in": []}}
    assert not any(matches(NOTHING, document) for document in DOCUMENTS)
