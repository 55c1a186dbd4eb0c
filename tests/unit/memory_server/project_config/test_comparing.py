from typing import Any

import pytest

from memory_server.project_config import (
    MEMORY_TYPES,
    check_against_stored,
    differences,
    digest,
    needs_reembedding,
)
from tests.unit.memory_server.project_config.reading import read

PROFILE = {"name": "profile", "collection": "profiles", "tags": [{"name": "tier"}, {"name": "a"}]}
TIER = {"name": "tier", "type": "string"}
STORED = {"custom_memory_types": [PROFILE], "metadata_partition_key": [TIER]}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"custom_memory_types": []}, "memory.custom_memory_types", "profile is missing"),
        (
            {"custom_memory_types": [{**PROFILE, "collection": "other"}]},
            "memory.custom_memory_types[0].collection",
            "the collection of the stored type profile cannot be edited",
        ),
        (
            {"custom_memory_types": [{**PROFILE, "tags": [{"name": "tier"}]}]},
            "memory.custom_memory_types[0].tags",
            "the tags of the stored type profile cannot be edited",
        ),
        ({"metadata_partition_key": []}, "memory.metadata_partition_key", "tier is missing"),
        (
            {"metadata_partition_key": [{"name": "x", "type": "date"}, {**TIER, "type": "number"}]},
            "memory.metadata_partition_key[1].type",
            "tier has the type string",
        ),
    ],
)
def test_what_was_stored_stays(changes: dict[str, Any], path: str, words: str) -> None:
    (problem,) = check_against_stored(STORED, {**STORED, **changes})

    assert problem.path == path
    assert words in problem.message


def test_leaving_out_both_lists_breaks_both_rules() -> None:
    assert len(check_against_stored(STORED, {})) == 2


def test_adding_and_reordering_is_allowed() -> None:
    turned = {**PROFILE, "tags": [{"name": "a"}, {"name": "tier"}]}
    new = {
        "custom_memory_types": [{"name": "more", "collection": "c"}, turned],
        "metadata_partition_key": [{"name": "more", "type": "date"}, TIER],
    }

    assert check_against_stored(STORED, new) == []
    assert check_against_stored({}, new) == []


def test_a_broken_write_once_rule_is_told_where_it_stands_in_the_file() -> None:
    project = read("memory:\n  metadata_partition_key:\n    - {name: tier, type: date}\n")

    (problem,) = check_against_stored(
        {"metadata_partition_key": [TIER]}, project.memory, source=project
    )

    assert (problem.file, problem.line, problem.column) == ("project-config.yaml", 3, 26)


@pytest.mark.parametrize(
    ("stored", "new", "change"),
    [
        ({}, {}, None),
        ({}, {"voyage": {"model": "voyage-4-large", "dimension": 1024}}, None),
        ({}, {"embedding": {"provider": "voyage"}}, None),
        ({}, {"voyage": {"dimension": 512}}, "voyage-4-large@1024 -> voyage-4-large@512"),
        (
            {},
            {"embedding": {"provider": "local"}},
            "voyage-4-large@1024 -> bge-small-en-v1.5@384",
        ),
    ],
)
def test_another_embedding_space_is_told_with_both_names(
    stored: dict[str, Any], new: dict[str, Any], change: str | None
) -> None:
    assert needs_reembedding(stored, new) == change


@pytest.mark.parametrize(
    ("stored", "new", "lines"),
    [
        ({"log_level": "info"}, {"log_level": "debug"}, ["memory.log_level: info -> debug"]),
        ({}, {"log_level": "debug"}, ["memory.log_level: info (default) -> debug"]),
        ({"log_level": "debug"}, {}, ["memory.log_level: debug -> info (default)"]),
        (None, {"log_level": "info"}, []),
        ({"log_level": "info"}, {}, []),
        ({"custom_memory_types": []}, {}, []),
        ({}, {"extraction": {"enabled": [*reversed(MEMORY_TYPES)]}}, []),
        (None, {"log_level": "debug"}, ["memory.log_level: info (default) -> debug"]),
        (
            {"extraction": {"enabled": []}},
            {},
            ["memory.extraction.enabled: [] -> (absent: every type)"],
        ),
        (
            {"extraction": {"enabled": ["semantic"]}},
            {"extraction": {"enabled": ["semantic", "episodic"]}},
            ["memory.extraction.enabled: [semantic] -> [semantic, episodic]"],
        ),
        (
            {"metadata_partition_key": [TIER]},
            {"metadata_partition_key": [{"name": "x", "type": "date"}, TIER]},
            ["memory.metadata_partition_key[x].type: (absent) -> date"],
        ),
        (
            {"extraction_llm": {"model": "a"}},
            {"extraction_llm": {"model": None}},
            ["memory.extraction_llm.model: a -> null"],
        ),
        (
            {"short_term": {"embed_on_write": True}},
            {"short_term": {"embed_on_write": False}},
            ["memory.short_term.embed_on_write: true -> false"],
        ),
        ({"log_level": "info"}, {"log_level": "info"}, []),
        ({"voyage": {}}, {}, []),
        ({"a": 1}, {"a": 1.0}, ["memory.a: 1 -> 1.0"]),
        (None, {}, []),
    ],
)
def test_differences_are_told_by_path(
    stored: dict[str, Any] | None, new: dict[str, Any], lines: list[str]
) -> None:
    assert differences(stored, new) == lines


def test_a_digest_depends_on_the_content_alone() -> None:
    turned = {"b": {"d": "é", "c": [1]}, "a": 1}

    assert digest({"a": 1, "b": {"c": [1], "d": "é"}}) == digest(turned)
    assert digest({"a": 1}) != digest({"a": True})
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_a_budget_that_says_what_its_absence_says_is_no_difference() -> None:
    budget = {"extraction": {"budget": {"calls_per_hour": 100, "tokens_per_hour": None}}}

    assert differences({}, budget) == [
        "memory.extraction.budget.calls_per_hour: null (default) -> 100"
    ]
