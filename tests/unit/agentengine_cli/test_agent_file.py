from pathlib import Path

import pytest

from agentengine_cli.agent_file import AgentFile, InvalidAgentFile, load


def loaded(directory: Path, text: str) -> AgentFile:
    path = directory / "agent.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_what_the_file_says_is_read(tmp_path: Path) -> None:
    agent = loaded(tmp_path, "name: shop\nentrypoint: shop.main:answer\nfeatures: {memory: true}\n")

    assert (agent.name, agent.entrypoint, agent.memory) == ("shop", "shop.main:answer", True)
    assert list(agent.warnings) == []


def test_keys_of_the_product_are_passed_over(tmp_path: Path) -> None:
    agent = loaded(
        tmp_path,
        "schema_version: 3\nmodel: {provider: openai}\ntools: [a, b]\ndescription: text\n"
        "features: {guardrails: true, playground: false, deep_agent: true}\n",
    )

    assert (agent.entrypoint, agent.memory, list(agent.warnings)) == (None, None, [])


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text).entrypoint is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("entrypoint: main\n", ":1:1: entrypoint: expected package.module:callable"),
        ("entrypoint: a-b:c\n", ":1:1: entrypoint: expected"),
        ("entrypoint: a:b:c\n", ":1:1: entrypoint: expected"),
        ("entrypoint: 5\n", ":1:1: entrypoint: expected"),
        ("entrypoint:\n", ":1:1: entrypoint: expected"),
        ("name: [a]\n", ":1:1: name: expected text"),
        ("features: on\n", ":1:1: features: expected a mapping"),
        ("features:\n  memory: 'yes'\n", ":2:3: features.memory: expected true or false"),
        ("features:\n  memory: 1\n", ":2:3: features.memory: expected true or false"),
        ("- a\n", ":1:1: expected a mapping"),
        ("a: [\n", "not valid YAML"),
        ("a: \tb: c\n", "agent.yaml:1:"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidAgentFile) as caught:
        loaded(tmp_path, text)

    assert said in str(caught.value)
    assert str(tmp_path / "agent.yaml") in str(caught.value)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidAgentFile) as caught:
        loaded(tmp_path, "entrypoint: main\nfeatures:\n  memory: maybe\n")

    assert len(str(caught.value).splitlines()) == 2


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidAgentFile, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("entry_point: main:answer\n", "entry_point: passed over; did you mean entrypoint?"),
        ("feature: {}\n", "feature: passed over; did you mean features?"),
        ("features: {memroy: true}\n", "features.memroy: passed over; did you mean memory?"),
        ("memory: true\n", "memory is turned on by features.memory"),
    ],
)
def test_a_misspelling_is_told_and_passed_over(tmp_path: Path, text: str, said: str) -> None:
    [warning] = loaded(tmp_path, text).warnings

    assert said in str(warning)
    assert warning.line == 1


@pytest.mark.parametrize(
    ("text", "dotenv", "expected"),
    [
        ("features: {memory: true}", {}, True),
        ("features: {memory: false}", {"ENABLE_MEMORY": "true"}, False),
        ("features: {}", {"ENABLE_MEMORY": "TRUE"}, True),
        ("name: x", {"ENABLE_MEMORY": "1"}, True),
        ("name: x", {"ENABLE_MEMORY": "no"}, False),
        ("name: x", {}, False),
    ],
)
def test_the_older_switch_counts_where_the_file_is_silent(
    tmp_path: Path, text: str, dotenv: dict[str, str], expected: bool
) -> None:
    assert loaded(tmp_path, text).remembers(dotenv) is expected
