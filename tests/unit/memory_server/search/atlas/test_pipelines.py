"""The pipelines that Atlas is sent, down to the last field."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from bson.binary import Binary, BinaryVectorDtype

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Clauses, Comparison, Connective, Operator
from memory_server.domain.scope import Scope, Visibility
from memory_server.ports.search import Selection
from memory_server.search.atlas import pipelines
from memory_server.search.atlas.filters import Fields
from memory_server.storage.mongo.filters import filter_query
from tests.factories import SPACE, a_vector

FIELDS = Fields(frozenset({"metadata.tier", "agent_id"}), {"tier": "string"})
ANA = Selection(scope=Scope(project_id="shop", user_id="ana"), source=Source.SEMANTIC, limit=20)
GOLD = Comparison("metadata.tier", Operator.EQ, "gold")
FOUND = {
    "_id": 0,
    "id": 1,
    "user_id": 1,
    "session_id": 1,
    "turn_seq": 1,
    "position": 1,
    "viewpoint": 1,
}


def equals(path: str, value: Any) -> dict[str, Any]:
    return {"equals": {"path": path, "value": value}}


def words_of(selection: Selection) -> list[dict[str, Any]]:
    return pipelines.text_pipeline(
        selection, ["ferry", "err-4021"], fields=FIELDS, match=filter_query
    )


def nearest_of(selection: Selection, **changes: Any) -> list[dict[str, Any]]:
    values: dict[str, Any] = {"asked": 40, "exact": True}
    return pipelines.vector_pipeline(
        selection, a_vector(1), SPACE, fields=FIELDS, match=filter_query, **values | changes
    )


def test_a_search_for_words() -> None:
    assert words_of(ANA) == [
        {
            "$search": {
                "index": "agentengine_text",
                "compound": {
                    "must": [{"phrase": {"path": "text", "query": ["ferry", "err-4021"]}}],
                    "filter": [
                        equals("project_id", "shop"),
                        equals("user_id", "ana"),
                        equals("is_live", True),
                    ],
                },
                "sort": {"score": {"$meta": "searchScore", "order": -1}, "id": 1},
            }
        },
        {"$match": {"project_id": "shop", "user_id": "ana", "is_live": True}},
        {"$limit": 20},
        {"$project": {**FOUND, "score": {"$meta": "searchScore"}}},
    ]


def test_a_search_for_vectors_that_compares_all() -> None:
    numbers = a_vector(1).tolist()

    assert nearest_of(ANA) == [
        {
            "$vectorSearch": {
                "index": "agentengine_vector",
                "path": f"vectors.{SPACE.name}",
                "queryVector": Binary.from_vector(numbers, BinaryVectorDtype.FLOAT32),
                "filter": {
                    "$and": [
                        {"project_id": {"$eq": "shop"}},
                        {"user_id": {"$eq": "ana"}},
                        {"is_live": {"$eq": True}},
                    ]
                },
                "limit": 40,
                "exact": True,
            }
        },
        {"$match": {"project_id": "shop", "user_id": "ana", "is_live": True}},
        {"$project": {**FOUND, "score": {"$meta": "vectorSearchScore"}}},
    ]


@pytest.mark.parametrize(("asked", "candidates"), [(1, 20), (40, 800), (9000, 10_000)])
def test_a_search_for_vectors_by_the_graph(asked: int, candidates: int) -> None:
    stage = nearest_of(ANA, asked=asked, exact=False)[0]["$vectorSearch"]

    assert stage["numCandidates"] == candidates
    assert stage["limit"] == asked
    assert "exact" not in stage


def test_a_filter_is_pushed_down_and_looked_at_again() -> None:
    condition = Clauses(Connective.AND, (GOLD, Comparison("metadata.tier", Operator.NE, "silver")))
    selection = replace(ANA, filter=condition)

    search, match, *_ = words_of(selection)
    nearest, *_ = nearest_of(selection)

    assert search["$search"]["compound"]["filter"][3:] == [equals("metadata.tier", "gold")]
    assert nearest["$vectorSearch"]["filter"]["$and"][3:] == [{"metadata.tier": {"$eq": "gold"}}]
    assert match["$match"]["$and"] == [filter_query(condition)]


def test_a_search_of_the_past() -> None:
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    micros = 1769860800000000

    search, match, *_ = words_of(replace(ANA, as_of=moment))

    assert search["$search"]["compound"]["filter"][2:] == [
        equals("hidden", False),
        {"range": {"path": "valid_from", "lte": micros}},
    ]
    assert match["$match"] == {
        "project_id": "shop",
        "user_id": "ana",
        "hidden": False,
        "valid_from": {"$lte": micros},
        "$and": [{"$or": [{"valid_to": None}, {"valid_to": {"$gt": micros}}]}],
    }


@pytest.mark.parametrize(
    ("selection", "condition"),
    [
        (replace(ANA, scope=Scope(project_id="shop")), {"is_live": True}),
        (
            replace(ANA, scope=Scope(project_id="shop", userless=True)),
            {"user_id": None, "is_live": True},
        ),
        (
            replace(ANA, scope=Scope(project_id="shop", visibility=Visibility.SHARED)),
            {"visibility": "shared", "is_live": True},
        ),
        (
            replace(ANA, scope=Scope(project_id="shop", agent_id="a", session_id="s")),
            {"agent_id": "a", "session_id": "s", "is_live": True},
        ),
        (
            replace(
                ANA, scope=Scope(project_id="shop"), source=Source.CUSTOM, custom_type="ticket"
            ),
            {"custom_type": "ticket", "is_live": True},
        ),
        (
            replace(
                ANA,
                source=Source.STM,
                scope=Scope(project_id="shop", visibility=Visibility.PRIVATE),
                as_of=datetime(2026, 1, 31, tzinfo=UTC),
            ),
            {},
        ),
    ],
)
def test_scope_source_and_state_narrow_the_stage_and_the_match_alike(
    selection: Selection, condition: dict[str, Any]
) -> None:
    expected = {"project_id": "shop", **condition}

    search, match, *_ = words_of(selection)
    nearest, again, *_ = nearest_of(selection)

    assert match["$match"] == again["$match"] == expected
    assert search["$search"]["compound"]["filter"] == [equals(*one) for one in expected.items()]
    assert nearest["$vectorSearch"]["filter"]["$and"] == [
        {path: {"$eq": value}} for path, value in expected.items()
    ]


def test_only_so_many_terms_are_looked_for() -> None:
    terms = [f"word{number}" for number in range(5000)]

    search, *_ = pipelines.text_pipeline(ANA, terms, fields=FIELDS, match=filter_query)

    assert search["$search"]["compound"]["must"][0]["phrase"]["query"] == terms[:256]


def test_what_the_indexes_know_of_documents_is_asked_by_all_that_narrows_a_search() -> None:
    told = [[Comparison("id", Operator.EQ, "m1"), Comparison("revision", Operator.EQ, 2)]]

    words, limit, project = pipelines.known_words_pipeline(told)
    vectors, _ = pipelines.known_vectors_pipeline(told, a_vector(1), SPACE)

    assert words["$search"]["compound"]["filter"] == [
        {
            "compound": {
                "should": [{"compound": {"filter": [equals("id", "m1"), equals("revision", 2)]}}],
                "minimumShouldMatch": 1,
            }
        }
    ]
    assert (limit, project) == ({"$limit": 1}, {"$project": {"_id": 1}})
    assert vectors["$vectorSearch"]["filter"] == {
        "$or": [{"$and": [{"id": {"$eq": "m1"}}, {"revision": {"$eq": 2}}]}]
    }
    assert vectors["$vectorSearch"]["exact"] is True


@pytest.mark.parametrize(("score", "cosine"), [(1.0, 1.0), (0.5, 0.0), (0.0, -1.0)])
def test_scores_of_atlas_are_cosines_again(score: float, cosine: float) -> None:
    assert pipelines.cosine(score) == cosine
