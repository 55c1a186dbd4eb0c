import pytest

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import from_bytes, parse, parse_with_warnings
from tests.unit.memory_server.project_config.reading import FILE, only, problems_of, read, told


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("memory: {log_lvl: info}", "memory.log_lvl", "did you mean log_level?"),
        ("memory: {qqq: 1}", "memory.qqq", "allowed here: log_level, embedding, voyage"),
        (
            "memory: {background_extraction: {extraction: {enabled: []}}}",
            "memory.background_extraction.extraction",
            "it belongs at memory.extraction",
        ),
        (
            "memory: {background_extraction: {max_messages: 5}}",
            "memory.background_extraction.max_messages",
            "it belongs at memory.background_extraction.snapshot.max_messages",
        ),
        (
            "memory: {provider: local}",
            "memory.provider",
            "it belongs at memory.embedding.provider or memory.extraction_llm.provider",
        ),
        (
            "memory: {}\nmetadata_partition_key: []",
            "metadata_partition_key",
            "belongs at memory.metadata_partition_key",
        ),
        ("memory: {on: 1}", "memory.on", "unknown key"),
        ('memory: {"": 1}', "memory.(empty name)", "unknown key"),
        ('memory: {"a\\nb": 1}', "memory.(unprintable name)", "unknown key"),
        ("other: {}", "memory", "there is no `memory:` key"),
        ("memry: {}", "memory", "did you mean it by `memry`?"),
        ("memory: {embedding: {}}", "memory.embedding.provider", "is required here"),
        (
            "memory: {custom_memory_types: [{name: a}]}",
            "memory.custom_memory_types[0].collection",
            "is required here",
        ),
    ],
)
def test_a_key_in_the_wrong_place_is_told_with_the_right_one(
    text: str, path: str, words: str
) -> None:
    found = {problem.path: problem.message for problem in problems_of(text)}

    assert words in found[path]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("memory:\n  log_level:  loud\n", (2, 15), id="value"),
        pytest.param("memory:\n  # a comment\n  log_lvl: info\n", (3, 3), id="key"),
        pytest.param("a: 1\nmemory:\n  embedding:\n    model: x\n", (4, 5), id="missing key"),
        pytest.param("memory: {extraction: {enabled: [semantic, x]}}\n", (1, 43), id="item"),
    ],
)
def test_a_problem_stands_where_the_author_looks(text: str, place: tuple[int, int]) -> None:
    problem = only(text)

    assert (problem.line, problem.column) == place


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    text = "memory:\n  ttl: 1\n  voyage: {dimension: 0}\n  log_level: x\n  log_level: y\n"

    assert [(problem.line, problem.path) for problem in problems_of(text)] == [
        (2, "memory.ttl"),
        (3, "memory.voyage.dimension"),
        (4, "memory.log_level"),
        (5, "memory.log_level"),
    ]


def test_the_error_says_each_problem_on_a_line_of_its_own() -> None:
    with pytest.raises(InvalidProjectConfig) as caught:
        from_bytes(b"memory:\n  a: 1\n  b: 1\n", path=FILE)

    lines = str(caught.value).splitlines()
    assert lines == [str(problem) for problem in caught.value.details["problems"]]
    assert lines[0].startswith("project-config.yaml:2:3: memory.a: unknown key")


def test_other_top_level_keys_are_ignored() -> None:
    text = "governance: {tier: standard, since: 2024-01-31, on: [yes, 0x1F]}\nmemory: {}\n"

    assert read(text).memory == {}


@pytest.mark.parametrize("types", [[], ["entity", "preferences", "entity"]])
def test_a_memory_key_at_the_top_is_warned_about(types: list[str]) -> None:
    project = read(f"memory: {{}}\nextraction: {{enabled: {types}}}\n")

    assert [str(warning) for warning in project.warnings] == [
        "project-config.yaml:2:1: extraction: ignored at the top level; "
        "memory reads it at memory.extraction"
    ]


def test_folded_types_are_warned_about_where_they_stand() -> None:
    (warning,) = read("memory:\n  extraction:\n    enabled: [episodic, entity]\n").warnings

    assert (warning.line, warning.column) == (3, 25)
    assert "extracted as semantic" in warning.message


def test_a_delivered_mapping_is_checked_by_the_same_rules() -> None:
    document = {"log_level": "loud", "voyage": {"dimension": True}, "x": float("nan")}

    with pytest.raises(InvalidProjectConfig) as caught:
        parse(document)

    paths = {problem.path: problem.line for problem in caught.value.details["problems"]}
    assert paths == {"memory.log_level": None, "memory.voyage.dimension": None, "memory.x": None}


def test_a_problem_without_a_file_starts_with_its_path() -> None:
    with pytest.raises(InvalidProjectConfig, match=r"^memory\.log_level: must be one of"):
        parse({"log_level": "loud"})


def test_a_delivered_mapping_can_be_valid_with_warnings() -> None:
    parsed = parse_with_warnings({"extraction": {"enabled": ["preferences"]}})

    assert parsed.config.enabled == ("semantic",)
    assert str(parsed.warnings[0]).startswith("memory.extraction.enabled[0]: preferences is")


def test_a_key_in_a_delivered_mapping_is_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidProjectConfig) as caught:
        parse({"voyage": {"model": "sk-abcdefghijkl"}})

    assert "memory.voyage.model: looks like" in str(caught.value)
    assert "abcdefghijkl" not in str(caught.value)


def test_a_file_name_cannot_break_the_line() -> None:
    with pytest.raises(InvalidProjectConfig) as caught:
        from_bytes(b"", path=FILE.with_name("a\nb.yaml"))

    assert str(caught.value).startswith("a\\nb.yaml:1:1: the file is empty")


def test_the_whole_file_is_told_when_nothing_else_can_be() -> None:
    assert told("") == "project-config.yaml:1:1: the file is empty: it needs a `memory:` mapping"


@pytest.mark.parametrize(
    ("budget", "path"),
    [
        ("{calls_per_hour: 0}", "memory.extraction.budget.calls_per_hour"),
        ("{tokens_per_hour: 1.5}", "memory.extraction.budget.tokens_per_hour"),
        ("{tokens_per_hour: many}", "memory.extraction.budget.tokens_per_hour"),
        ("{calls_per_day: 5}", "memory.extraction.budget.calls_per_day"),
        ("5", "memory.extraction.budget"),
    ],
)
def test_a_budget_is_of_whole_positive_numbers(budget: str, path: str) -> None:
    found = problems_of(f"memory: {{extraction: {{budget: {budget}}}}}")

    assert [problem.path for problem in found] == [path]
