from typing import Any

import pytest
from pydantic import ValidationError

from memory_server.api.schemas.context import ContextBody, SourcesBody
from memory_server.api.schemas.memories import (
    EpisodicBody,
    ProceduralPatch,
    SemanticBody,
    SemanticPatch,
    TaxonomicBody,
)
from memory_server.api.schemas.search import SearchBody
from memory_server.api.schemas.turns import TurnBody
from memory_server.domain.chunk import Source
from memory_server.domain.filters import Clauses, Comparison, Connective, Operator
from memory_server.domain.formats import FormatStyle
from memory_server.domain.turn import Role

TURN = {"session_id": "s", "role": "user", "content": "hi"}


def test_null_and_blank_fields_count_as_absent() -> None:
    unset = dict.fromkeys(("user_id", "agent_id", "tool_calls", "tokens", "metadata", "is_error"))

    body = TurnBody.model_validate(TURN | unset | {"stop_reason": " ", "model_name": ""})

    assert body.turn() == TurnBody.model_validate(TURN).turn()


def test_unknown_fields_are_ignored() -> None:
    body = TurnBody.model_validate(TURN | {"org_id": "o", "project_id": "p", "future": [1]})

    assert body == TurnBody.model_validate(TURN)


def test_a_turn_keeps_everything_that_was_said_about_it() -> None:
    given = TURN | {
        "tool_calls": [{"id": "c", "name": "f", "args": {"deep": [1, None]}}],
        "tool_call_id": "c",
        "tool_name": "f",
        "is_error": True,
        "model_name": "m",
        "tokens": 3,
        "stop_reason": "end",
        "idempotency_key": "k",
        "metadata": {"a": 1},
    }

    turn = TurnBody.model_validate(given).turn()

    assert {name: getattr(turn, name) for name in given} == given | {
        "role": Role.USER,
        "tool_calls": ({"id": "c", "name": "f", "args": {"deep": [1, None]}},),
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"role": "pirate"},
        {"role": None},
        {"content": ["x"]},
        {"metadata": [1]},
        {"metadata": {"x": float("nan")}},
        {"metadata": {"x": "\ud800"}},
        {"tool_calls": [float("inf")]},
        {"tokens": -1},
        {"user_id": 7},
        {"session_id": "x" * 513},
        {"is_error": "perhaps"},
    ],
)
def test_values_of_the_wrong_kind_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TurnBody.model_validate(TURN | changes)


def test_a_fact_takes_its_defaults() -> None:
    request = SemanticBody.model_validate({"label": "l", "text": "t", "source": "  "}).request()

    assert (request.body.label, request.body.source) == ("l", "agent")  # type: ignore[union-attr]
    assert (request.visibility, request.upsert, request.metadata) == (None, False, {})


@pytest.mark.parametrize("body", [{"label": "l"}, {"text": "t"}, {"label": " ", "text": "t"}])
def test_a_fact_needs_a_label_and_a_text(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SemanticBody.model_validate(body)


def test_an_episode_may_have_a_blank_summary() -> None:
    body = EpisodicBody.model_validate({"title": "t", "content": "c", "summary_text": ""})

    assert body.summary_text == ""


def test_a_term_without_related_terms_has_none() -> None:
    given = {"domain": "d", "term": "t", "definition": "x", "related_terms": None}

    assert TaxonomicBody.model_validate(given).related_terms == ()


def test_a_patch_changes_only_what_it_names() -> None:
    patch = SemanticPatch.model_validate(
        {"text": None, "source": "", "visibility": "org", "org_id": "", "user_id": "ana"}
    )

    assert patch.changes() == {"visibility": "org"}


def test_a_patch_may_empty_a_list() -> None:
    assert ProceduralPatch.model_validate({"tags": []}).changes() == {"tags": ()}


@pytest.mark.parametrize("query", ["", "  "])
def test_a_blank_query_is_a_query(query: str) -> None:
    assert SearchBody.model_validate({"query": query}).query == query


@pytest.mark.parametrize("body", [{}, {"query": None}, {"query": "q", "top_k": 0}])
def test_a_search_needs_a_query_and_a_number_it_can_return(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate(body)


def test_domain_tags_and_filter_join_to_one_condition() -> None:
    narrowing = Comparison("metadata.tier", Operator.EQ, "gold")
    body = SearchBody.model_validate({"query": "q", "domain": "d", "tags": ["a", "b"]})

    assert body.conditions(narrowing) == Clauses(
        Connective.AND,
        (
            narrowing,
            Comparison("domain", Operator.EQ, "d"),
            Comparison("tags", Operator.IN, ("a", "b")),
        ),
    )
    assert SearchBody.model_validate({"query": "q", "tags": None}).conditions(None) is None


@pytest.mark.parametrize("style", ["claude", "CLAUDE", " Claude "])
def test_the_style_is_read_in_any_case(style: str) -> None:
    body = ContextBody.model_validate({"query": "q", "format_style": style})

    assert body.format_style is FormatStyle.CLAUDE


def test_a_context_takes_episodes_and_facts_unless_told_otherwise() -> None:
    body = ContextBody.model_validate({"query": "q", "enabled_sources": None, "format_style": None})

    assert set(body.enabled_sources) == {Source.EPISODIC, Source.SEMANTIC}
    assert body.format_style is None


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([], "at least 1"),
        ([{"source": "semantic"}, {"source": "semantic", "mode": "text"}], "listed once"),
        ([{"source": "semantic", "top_k": 201}], "less than or equal to 200"),
        ([{"source": "semantic", "top_k": 0}], "greater than or equal to 1"),
        ([{"source": "semantic", "mode": "fuzzy"}], "semantic"),
        ([{"source": "snapshot"}], "stm"),
    ],
)
def test_sources_that_cannot_be_searched_are_refused_with_the_reason(
    sources: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        SourcesBody.model_validate({"query": "q", "sources": sources})


@pytest.mark.parametrize("top_k", ["5", True, 5.5, [5]])
def test_only_a_number_is_a_number(top_k: object) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate({"query": "x", "top_k": top_k})


def test_a_whole_number_may_be_written_as_a_fraction() -> None:
    assert SearchBody.model_validate({"query": "x", "top_k": 5.0}).top_k == 5


@pytest.mark.parametrize(
    "moment", [0, 1767225600.5, "1767225600", "2026-01-01", "2026-01-01T00:00"]
)
def test_only_a_moment_with_its_offset_is_a_moment(moment: object) -> None:
    with pytest.raises(ValidationError):
        SearchBody.model_validate({"query": "x", "as_of": moment})


@pytest.mark.parametrize("flag", ["true", 1, 0, "yes"])
def test_only_true_and_false_are_booleans(flag: object) -> None:
    with pytest.raises(ValidationError):
        TurnBody.model_validate(TURN | {"is_error": flag})
