"""An agent of the user's own, from an empty directory, by the commands a user types."""

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from tests.acceptance.conftest import Shell
from tests.chat_server import ChatServer, running, says

KEY = "the-key-of-this-test"
SDK_AGENT = """
import os

from agent_engine_sdk_memory import Memory, MemoryRequestContext

memory = Memory()


def answer(message, invocation):
    bound = memory.bind(
        MemoryRequestContext(user_id=invocation.user_id, session_id=invocation.session_id)
    )
    print("asked by", invocation.user_id, "with", os.environ["MY_KEY"])
    if message.startswith("save "):
        bound.save_semantic(label="note", text=message[5:])
        return "saved"
    return " ".join(chunk.content for chunk in bound.search_semantic(message))
"""


@pytest.fixture
def agent(empty: Shell) -> Iterator[Shell]:
    """A scaffolded agent with memory, in whose directory commands are run."""
    empty.ok("create", "--name", "My Agent", "--memory", "--yes")
    shell = Shell(empty.directory / "my-agent" / "agents" / "my-agent", empty.home)
    yield shell
    shell.run("dev", "stop")


def write(shell: Shell, source: str) -> None:
    (shell.directory / "main.py").write_text(source, encoding="utf-8")


def ask(shell: Shell, message: str, user: str = "ana") -> str:
    return shell.ok("invoke", message, "--user-id", user).out.strip()


def test_an_empty_directory_to_an_agent_that_remembers(agent: Shell) -> None:
    up = agent.ok("dev", "up")
    ask(agent, "I always fly out of Boston.")
    agent.ok("memory", "flush")

    told = ask(agent, "Where do I fly from?")

    assert "agent: my-agent (ready)" in up.out
    assert "Boston" in told
    assert agent.ok("dev", "status", "--json").document["total"] == 3


def test_the_official_sdk_inside_and_the_log_outside_without_keys(agent: Shell) -> None:
    with (agent.directory.parents[1] / ".env").open("a") as dotenv:
        dotenv.write(f"MY_KEY={KEY}\n")
    write(agent, SDK_AGENT)
    agent.ok("dev", "up")

    assert ask(agent, "save Ana likes oolong") == "saved"
    assert ask(agent, "oolong") == "Ana likes oolong"
    assert ask(agent, "oolong", user="bob") == ""
    log = agent.ok("logs", "--source", "agent").out
    assert "asked by ana with [MY_KEY]" in log
    assert KEY not in log


def test_code_is_loaded_again_when_it_changes_and_a_mistake_is_told(agent: Shell) -> None:
    agent.ok("dev", "up")
    write(agent, "import no_such_module\n")

    broken = agent.run("invoke", "hi", "--user-id", "ana")
    write(agent, "def answer(message):\n    return 'mended'\n")

    assert broken.code == 1
    assert "No module named 'no_such_module'" in broken.err
    assert ask(agent, "hi") == "mended"


def test_up_with_an_agent_that_cannot_be_loaded_fails_and_leaves_memory_running(
    agent: Shell,
) -> None:
    write(agent, "raise RuntimeError('not today')\n")

    up = agent.run("dev", "up")

    assert up.code == 1
    assert "RuntimeError: not today" in up.err
    assert agent.status()["state"] == "ready"


def test_a_mistake_in_agent_yaml_starts_nothing(agent: Shell) -> None:
    (agent.directory / "agent.yaml").write_text("entrypoint: main\n")

    up = agent.run("dev", "up")

    assert up.code == 1
    assert "agent.yaml:1:1: entrypoint: expected package.module:callable" in up.err
    assert agent.status()["state"] == "not_provisioned"


def test_without_memory_nothing_is_recorded(agent: Shell) -> None:
    (agent.directory / "agent.yaml").write_text(
        "entrypoint: main:answer\nfeatures: {memory: false}\n"
    )
    write(agent, "import os\ndef answer(message):\n    return ' '.join(os.environ)\n")
    agent.ok("dev", "up")

    told = ask(agent, "remember this")

    assert "AGENTIC_MEMORY" not in told
    erased = agent.ok("memory", "erase", "--user-id", "ana", "--yes", "--json").document
    assert erased["deleted"]["turns"] == 0


def test_a_service_account_is_itself_whom_the_agent_serves(agent: Shell) -> None:
    write(agent, "def answer(message, invocation):\n    return invocation.user_id\n")
    agent.ok("dev", "up")
    made = agent.ok(
        "service-account", "create", "ci", "--role", "AGENT_DEVELOPER", "--json"
    ).document
    client_id, secret = made["service_account"]["client_id"], made["client_secret"]

    told = agent.ok(
        *("invoke", "hi", "--user-id", "ana", "--service-account", client_id),
        AGENTENGINE_CLIENT_SECRET=secret,
    )

    assert told.out.strip() == client_id
    assert "user_id is ignored" in told.err


def test_the_agent_ends_with_a_server_that_was_killed(agent: Shell) -> None:
    write(agent, "import os\ndef answer(message):\n    return str(os.getpid())\n")
    agent.ok("dev", "up")
    process = psutil.Process(int(ask(agent, "hi")))

    os.kill(agent.status()["pid"], signal.SIGKILL)

    gone, _ = psutil.wait_procs([process], timeout=180)
    assert gone == [process]


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with running() as server:
        yield server


def test_a_scaffolded_agent_asks_its_language_model(empty: Shell, model: ChatServer) -> None:
    empty.ok(
        *("create", "--name", "Hosted", "--memory", "--yes", "--llm", "openai-compatible"),
        *("--llm-model", "tiny", "--llm-base-url", model.url),
        LLM_API_KEY=KEY,
    )
    shell = Shell(empty.directory / "hosted" / "agents" / "hosted", empty.home)
    try:
        shell.ok("dev", "up")
        model.default = says("You fly from Boston.")
        assert ask(shell, "Where do I fly from?") == "You fly from Boston."
    finally:
        shell.ok("dev", "stop")
    assert {request.headers["authorization"] for request in model.received} == {f"Bearer {KEY}"}
