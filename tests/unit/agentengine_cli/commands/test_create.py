import stat
import subprocess
from pathlib import Path

import pytest

from agentengine_cli import agent_file
from agentengine_cli.agent_scaffold import MODELS, PROVIDERS
from agentengine_cli.commands.create import slug
from agentengine_cli.control import environment
from memory_server import project_config
from memory_server.providers.extraction.chat import DEFAULT_MODELS
from tests.unit.agentengine_cli.conftest import Cli

CREATE = ("create", "--memory-only", "--name")


def test_a_project_is_scaffolded_under_its_slug(cli: Cli, home: Path) -> None:
    ran = cli(*CREATE, "Ana's Memory", "--json")

    made = home / "ana-s-memory"
    assert ran.json["dir"] == str(made)
    assert (made / "project-config.yaml").read_text() == project_config.scaffold("Ana's Memory")
    assert (made / ".gitignore").read_text() == ".agentengine/\n.env\n"
    assert (made / ".git").is_dir()


def test_what_to_do_next_is_hinted(cli: Cli, home: Path) -> None:
    ran = cli(*CREATE, "x", "--dir", "here")

    assert ran.out == f"Created {home / 'here'}\n"
    assert f"cd {home / 'here'}\n" in ran.err
    assert "agentengine memory configure, then agentengine memory apply --wait" in ran.err


def test_a_name_without_a_usable_letter_says_which_directory_was_chosen(
    cli: Cli, home: Path
) -> None:
    ran = cli(*CREATE, "記憶")

    assert ran.out == f"Created {home / 'memory-project'}\n"
    assert "memory-project it is" in ran.err


def test_no_repository_is_made_inside_another(cli: Cli, home: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True, cwd=home)  # noqa: S607 - git as found

    assert cli(*CREATE, "x", "--json").json["git"] is False


def test_a_directory_that_is_not_empty_is_left_alone(cli: Cli, home: Path) -> None:
    (home / "x").mkdir()
    (home / "x" / "mine").touch()

    ran = cli(*CREATE, "x", "--json")

    assert (ran.code, ran.error["code"]) == (1, "TARGET_NOT_EMPTY")
    assert [path.name for path in (home / "x").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param('a"b', "character 2 is a double quote (U+0022)", id="quote"),
        pytest.param("a\\b", "character 2 is a backslash (U+005C)", id="backslash"),
        pytest.param("ab`", "character 3 is a backtick (U+0060)", id="backtick"),
        pytest.param("a\nb", "character 2 is a control character (U+000A)", id="newline"),
        pytest.param("a\u2028b", "character 2 is a line separator (U+2028)", id="separator"),
        pytest.param("a\u202eb", "bidirectional character (U+202E)", id="bidi"),
        pytest.param("  ", "must not be blank", id="blank"),
        pytest.param("x" * 101, "100 at most", id="long"),
    ],
)
def test_a_name_with_a_character_that_cannot_be_is_refused_by_naming_it(
    cli: Cli, home: Path, name: str, reason: str
) -> None:
    ran = cli(*CREATE, name)

    assert (ran.code, list(home.glob("*/project-config.yaml"))) == (2, [])
    assert reason in ran.err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Hello World", "hello-world"),
        ("Zoë & Søn", "zoe-sn"),
        ("Größe", "grosse"),
        ("記憶", ""),
        ("..", ""),
        ("a" * 90, "a" * 60),
    ],
)
def test_a_slug_is_a_safe_directory_name(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(("--memory-only",), "--name is missing", id="no-name"),
        pytest.param(("--yes",), "--name is missing", id="no-name-of-agent"),
        pytest.param(("--memory-only", "--name", "x", "--llm", "openai"), "--llm", id="llm"),
        pytest.param(("--memory-only", "--name", "x", "--memory"), "--memory", id="memory"),
        pytest.param(("--name", "x", "--template", "other"), "--template", id="template"),
        pytest.param(("--name", "x", "--smoke-test"), "--smoke-test", id="smoke-test"),
        pytest.param(("--name", "x", "--llm", "bedrock"), "bedrock", id="provider"),
        pytest.param(("--name", "x", "--llm-model", "m"), "needs --llm", id="model-alone"),
        pytest.param(
            ("--name", "x", "--llm", "openai-compatible", "--llm-model", "m"),
            "needs --llm-base-url",
            id="no-address",
        ),
        pytest.param(("--name", "x", "--llm", "openrouter"), "needs --llm-model", id="no-model"),
        pytest.param(
            ("--name", "x", "--llm", "openai", "--llm-base-url", "ftp://x"),
            "http:// or https://",
            id="address",
        ),
        pytest.param(
            ("--name", "x", "--llm", "openai", "--llm-auth-header", "x-key"),
            "authorization or api-key",
            id="header",
        ),
        pytest.param(
            ("--name", "x", "--llm", "gemini", "--llm-base-url", "http://x"), "gemini", id="gemini"
        ),
    ],
)
def test_what_is_not_scaffolded_is_refused(
    cli: Cli, home: Path, arguments: tuple[str, ...], reason: str
) -> None:
    ran = cli("create", *arguments)

    assert ran.code == 2
    assert reason in ran.err


def test_an_agent_is_scaffolded_below_its_project(cli: Cli, home: Path) -> None:
    ran = cli("create", "--name", "My Agent", "--memory", "--json")

    made = home / "my-agent"
    assert ran.json["memory_only"] is False
    assert ran.json["files"] == [
        "project-config.yaml",
        ".env",
        ".gitignore",
        "agents/my-agent/agent.yaml",
        "agents/my-agent/main.py",
    ]
    agent = agent_file.load(made / "agents" / "my-agent" / "agent.yaml")
    assert (agent.name, agent.entrypoint, agent.memory) == ("my-agent", "main:answer", True)
    assert project_config.load(made / "project-config.yaml").memory_only is False
    assert stat.S_IMODE((made / ".env").stat().st_mode) == 0o600


def test_memory_is_off_unless_it_is_asked_for(cli: Cli, home: Path) -> None:
    cli("create", "--name", "x")

    assert agent_file.load(home / "x" / "agents" / "x" / "agent.yaml").memory is False


def test_the_next_steps_of_an_agent_are_hinted(cli: Cli, home: Path) -> None:
    ran = cli("create", "--name", "x", "--llm", "openai")

    assert f"cd {home / 'x' / 'agents' / 'x'}\n" in ran.err
    assert "agentengine dev up, then agentengine invoke" in ran.err
    assert f"First write the key behind LLM_API_KEY= in {home / 'x' / '.env'}" in ran.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(("--llm", "openai"), {"provider": "openai"}, id="openai"),
        pytest.param(("--llm", "anthropic"), {"provider": "anthropic"}, id="anthropic"),
        pytest.param(("--llm", "gemini"), {"provider": "gemini"}, id="gemini"),
        pytest.param(
            ("--llm", "openrouter", "--llm-model", "a/b"),
            {"provider": "openai", "model": "a/b", "base_url": "https://openrouter.ai/api/v1"},
            id="openrouter",
        ),
        pytest.param(
            (
                *("--llm", "openai-compatible", "--llm-model", "m"),
                *("--llm-base-url", "http://x/v1", "--llm-auth-header", "api-key"),
            ),
            {
                "provider": "openai",
                "model": "m",
                "base_url": "http://x/v1",
                "auth_header": "api-key",
            },
            id="openai-compatible",
        ),
        pytest.param(
            ("--llm", "anthropic-compatible", "--llm-model", "m", "--llm-base-url", "http://x"),
            {"provider": "anthropic", "model": "m", "base_url": "http://x"},
            id="anthropic-compatible",
        ),
    ],
)
def test_a_language_model_is_configured_with_its_key_by_name(
    cli: Cli, home: Path, options: tuple[str, ...], expected: dict[str, str]
) -> None:
    ran = cli("create", "--name", "x", "--yes", *options, environ={"LLM_API_KEY": "k 'y"})

    config = project_config.load(home / "x" / "project-config.yaml")
    assert config.memory["extraction_llm"] == expected | {"api_key_secret": "LLM_API_KEY"}
    assert environment.read_dotenv(home / "x" / ".env") == {"LLM_API_KEY": "k 'y"}
    assert "k 'y" not in ran.out + ran.err
    compile((home / "x" / "agents" / "x" / "main.py").read_text(), "main.py", "exec")


@pytest.mark.parametrize("llm", ["local", "custom"])
def test_without_a_language_model_no_key_is_needed(cli: Cli, home: Path, llm: str) -> None:
    assert cli("create", "--name", "x", "--yes", "--llm", llm).code == 0

    config = project_config.load(home / "x" / "project-config.yaml")
    assert config.memory["extraction_llm"] == {"provider": "local"}


def test_without_a_terminal_a_missing_key_is_refused(cli: Cli, home: Path) -> None:
    ran = cli("create", "--name", "x", "--yes", "--llm", "openai", "--json")

    assert (ran.code, ran.error["code"]) == (1, "KEY_MISSING")
    assert not (home / "x").exists()


def test_the_models_are_those_that_extraction_takes_by_default() -> None:
    assert {PROVIDERS[llm]: model for llm, model in MODELS.items()} == {
        provider: model for provider, model in DEFAULT_MODELS.items() if provider != "cerebras"
    }
