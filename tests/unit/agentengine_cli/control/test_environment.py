from pathlib import Path

import pytest

from agentengine_cli.control.environment import (
    PROVIDER_KEYS,
    DotenvUnreadable,
    KeyMissing,
    KeySources,
    MongoUriMissing,
    MongoUriUnusable,
    check_keys,
    check_mongodb,
    fingerprint,
    machine,
    provided,
    read_dotenv,
)
from memory_server import project_config
from memory_server.settings import SECRET_NAMES

DOTENV = Path("/project/.env")
HOSTED = project_config.parse({})


def sources(
    *,
    secrets: dict[str, str] | None = None,
    dotenv: dict[str, str] | None = None,
    exported: dict[str, str] | None = None,
) -> KeySources:
    return KeySources(
        secrets=secrets or {}, dotenv=dotenv or {}, dotenv_path=DOTENV, shell=exported or {}
    )


def test_the_keys_given_are_the_keys_the_server_reads() -> None:
    assert set(PROVIDER_KEYS) == set(SECRET_NAMES)


def test_secret_wins_over_dotenv_and_blank_counts_as_unset() -> None:
    found = sources(
        secrets={"LLM_API_KEY": "secret", "OPENAI_API_KEY": "  "},
        dotenv={"LLM_API_KEY": "file", "OPENAI_API_KEY": "file"},
    )

    assert found.find("LLM_API_KEY") == "secret"
    assert found.find("OPENAI_API_KEY") == "file"


def test_missing_keys_are_told_all_at_once_in_the_order_looked_for() -> None:
    with pytest.raises(KeyMissing) as refused:
        check_keys(HOSTED, sources())

    assert [problem.split(" (")[0] for problem in refused.value.problems] == [
        "embedding",
        "extraction",
    ]
    places = "secret OPENAI_API_KEY, secret LLM_API_KEY, OPENAI_API_KEY in /project/.env"
    assert places in refused.value.problems[1]
    assert "--local-models" in str(refused.value.hint)
    assert "provider local" in str(refused.value.hint)


def test_key_of_the_shell_is_named_and_not_used() -> None:
    given = {"VOYAGE_API_KEY": "v-value", "OPENAI_API_KEY": "o-value"}
    only_shell = sources(exported=given)

    with pytest.raises(KeyMissing) as refused:
        check_keys(HOSTED, only_shell)

    told = " ".join(refused.value.problems)
    assert "VOYAGE_API_KEY was found in your shell, not in .env" in told
    assert "v-value" not in told + str(refused.value) + repr(only_shell)
    assert provided(only_shell) == {}


def test_any_of_the_alternative_keys_is_enough() -> None:
    check_keys(HOSTED, sources(secrets={"VOYAGE_API_KEY": "v"}, dotenv={"LLM_API_KEY": "l"}))


def test_chosen_secret_is_the_only_one_looked_for() -> None:
    chosen = project_config.parse({"extraction_llm": {"api_key_secret": "LLM_API_KEY"}})

    with pytest.raises(KeyMissing, match="Nothing was started") as refused:
        check_keys(chosen, sources(secrets={"VOYAGE_API_KEY": "v", "OPENAI_API_KEY": "o"}))

    assert "OPENAI_API_KEY" not in " ".join(refused.value.problems)


def test_external_database_without_its_address_is_refused() -> None:
    check_mongodb(sources(), required=False)
    check_mongodb(sources(dotenv={"MONGODB_URI": "mongodb://h"}), required=True)

    with pytest.raises(MongoUriMissing, match=r"MONGODB_URI in /project/\.env"):
        check_mongodb(sources(), required=True)


@pytest.mark.parametrize("required", [True, False])
def test_an_address_of_a_database_that_is_none_is_refused_without_being_shown(
    required: bool,
) -> None:
    bad = {"MONGODB_URI": "mongodb" + "+srv://ana:hunter2@x@cluster.example.net"}

    for given in (sources(dotenv=bad), sources(secrets=bad)):
        with pytest.raises(MongoUriUnusable, match=r"Nothing was started.*escaped") as refused:
            check_mongodb(given, required=required)
        assert "hunter2" not in str(refused.value)


def test_child_gets_the_machine_and_nothing_else_of_the_shell() -> None:
    shell = {"PATH": "/bin", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "x", "OPENAI_API_KEY": "y"}

    assert machine(shell) == {"PATH": "/bin", "LC_ALL": "C"}


def test_relative_python_path_is_made_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")

    assert machine({"PYTHONPATH": "usr:/lib"})["PYTHONPATH"] == "/usr:/lib"


def test_dotenv_values_are_taken_literally(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("export A='x y'\nB=$A-${A}\nC\n# D=1\n")

    assert read_dotenv(tmp_path / ".env") == {"A": "x y", "B": "$A-${A}"}
    assert read_dotenv(tmp_path / "none") == {}


def test_dotenv_that_is_not_text_is_told_without_its_content(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\xfe")

    with pytest.raises(DotenvUnreadable, match="not UTF-8"):
        read_dotenv(tmp_path / ".env")


def test_fingerprint_changes_with_value_name_and_key() -> None:
    prints = [
        fingerprint({"A": "1"}, key="k"),
        fingerprint({"A": "2"}, key="k"),
        fingerprint({"B": "1"}, key="k"),
        fingerprint({"A": "1"}, key="l"),
    ]

    assert len(set(prints)) == 4
    assert fingerprint({"A": "1", "B": "2"}, key="k") == fingerprint({"B": "2", "A": "1"}, key="k")
