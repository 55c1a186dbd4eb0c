"""Agents of the user's own behind a real server: the official SDK inside, failures, the end."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.homes import Home
from tests.wire.conftest import MakeHome

AGENT = """
    import os, sys, time, json
    import httpx
    from agent_engine_sdk_memory import Memory, MemoryRequestContext
    from agent_engine_sdk_memory.errors import MemoryAPIError as SdkError

    memory = Memory()  # made once, at import


    def answer(message, invocation):
        user = invocation.user_id
        bound = memory.bind(MemoryRequestContext(user_id=user, session_id=invocation.session_id))
        if message == 'remember':
            bound.save_semantic(label='tea', text='likes oolong')
            Memory().bind(MemoryRequestContext(user_id=user)).save_semantic(
                label='coffee', text='likes none'
            )
            return 'saved'
        if message.startswith('steal '):
            yield try_to(lambda: memory.search_semantic(message[6:], user_id='bob'))
            return
        if message == 'broad':
            yield try_to(lambda: memory.search_semantic('tea'))
            return
        if message == 'recall':
            yield ' '.join(chunk.content for chunk in bound.search_semantic('oolong'))
            return
        if message == 'die':
            yield 'a piece'
            os._exit(1)
        if message == 'hang':
            print('hanging', os.getpid(), flush=True)
            yield 'a piece'
            time.sleep(3600)
        if message == 'token':
            yield os.environ['AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN']
            return
        if message == 'history':
            yield json.dumps(list(invocation.history))
            return
        yield f'hello {user}'


    def try_to(act):
        try:
            return f'done: {act()}'
        except SdkError as error:
            return f'{error.status} {error}'
    """.replace("return 'saved'", "yield 'saved'\n            return")

MANY = 2000
"""How often is asked for what is to come in a moment; a request takes some milliseconds."""


@dataclass
class Server:
    """A running server with an agent."""

    process: "subprocess.Popen[str]"
    client: httpx.Client
    """Shows the owner token."""
    lines: list[str]

    def ask(self, message: str, user: str = "ana", **more: Any) -> httpx.Response:
        return self.client.post(
            "/api/v1/projects/local/workspaces/w/invoke",
            json={"message": message, "user_id": user, **more},
        )

    def said(self, message: str, user: str = "ana", **more: Any) -> str:
        answer = self.ask(message, user, **more)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["response"])


@contextmanager
def serving(
    directory: Path,
    source: str = AGENT,
    *,
    seconds: str = "600",
    home: Home | None = None,
    **delivered: Any,
) -> Iterator[Server]:
    agent = directory / "agent"
    agent.mkdir()
    (agent / "demo.py").write_text(textwrap.dedent(source), encoding="utf-8")
    document = {"name": "demo", "directory": str(agent), "entrypoint": "demo:answer", **delivered}
    delivery = directory / "agent.json"
    delivery.write_text(json.dumps(document))
    given = {
        "AGENTENGINE_DATA_DIR": str(directory / "data"),
        "AGENTENGINE_AGENT": str(delivery),
        "AGENTENGINE_INVOKE_SECONDS": seconds,
        "MONGOMEM_ENABLED_EXTRACTIONS": "",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_server", "--port", "0"],
        env=os.environ | given | dict(home.environ if home else {}),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines: list[str] = []
    try:
        said = next(line for line in process.stderr if line.startswith("memory server: "))
        reader = threading.Thread(target=lines.extend, args=(process.stderr,), daemon=True)
        reader.start()
        token = (directory / "data" / "owner-token").read_text()
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(
            base_url=said.split()[-1], trust_env=False, headers=headers, timeout=30
        ) as client:
            yield Server(process, client, lines)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, a_home: MakeHome) -> Iterator[Server]:
    with a_home() as home, serving(tmp_path_factory.mktemp("agents"), home=home) as running:
        yield running


def test_the_official_sdk_works_unchanged_inside_an_agent(server: Server) -> None:
    assert server.said("remember") == "saved"
    assert "likes oolong" in server.said("recall")
    assert "likes oolong" not in server.said("recall", user="bob")


def test_inside_an_agent_another_users_memory_is_closed(server: Server) -> None:
    told = server.said("steal tea")

    assert told.startswith("403")


def test_inside_an_agent_a_search_names_a_user_or_a_visibility(server: Server) -> None:
    told = server.said("broad")

    assert told.startswith("400")
    assert "user_id" in told
    assert "visibility" in told


def test_the_agents_token_opens_nothing_outside_an_invocation(server: Server) -> None:
    stolen = {"Authorization": f"Bearer {server.said('token')}"}

    answer = server.client.get(
        "/api/v1/projects/local/memory/semantic", params={"user_id": "ana"}, headers=stolen
    )

    assert answer.status_code == 401
    assert "works on an execution" in answer.json()["error"]


def test_turns_are_recorded_and_handed_to_the_next_call(server: Server) -> None:
    server.said("hi", user="cleo", session_id="c1")

    history = json.loads(server.said("history", user="cleo", session_id="c1"))

    assert history == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello cleo"},
    ]


def test_turns_that_an_agent_was_handed_are_counted_as_recalled(server: Server) -> None:
    server.said("hi", user="gil", session_id="g1")

    path = "/api/v1/projects/local/workspaces/w/invoke"
    body = {"message": "hi", "user_id": "gil", "session_id": "g2"}
    context = server.client.post(path, json=body).json()["context"]

    assert context["memory_counts"] == {"stm": 2}
    assert context["token_count"] > 0


def test_a_crash_in_a_stream_is_a_frame_and_the_next_call_works(server: Server) -> None:
    path = "/api/v1/projects/local/workspaces/w/invokeStream"
    with server.client.stream("POST", path, json={"message": "die", "user_id": "ana"}) as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    frames = [json.loads(line.removeprefix("data: ")) for line in lines]

    assert [frame["chunk_type"] for frame in frames] == ["text", "error"]
    assert frames[1]["metadata"]["code"] == "AGENT_ENDED"
    assert server.said("hi") == "hello ana"


def test_a_caller_who_leaves_ends_the_work_and_what_was_told_is_recorded(server: Server) -> None:
    path = "/api/v1/projects/local/workspaces/w/invokeStream"
    body = {"message": "hang", "user_id": "dora", "session_id": "d1"}
    with server.client.stream("POST", path, json=body) as answer:
        execution = answer.headers["X-Execution-ID"]
        next(line for line in answer.iter_lines() if line)

    ended = _when_over(server, execution)

    assert ended["status"] == "cancelled"
    told = json.loads(server.said("history", user="dora", session_id="d1"))
    assert told[-1] == {"role": "assistant", "content": "a piece"}


def test_a_caller_who_does_not_wait_for_the_whole_answer_ends_the_work(server: Server) -> None:
    with pytest.raises(httpx.ReadTimeout):
        server.client.post(
            "/invoke",
            json={"message": "hang", "user_id": "erin", "thread_id": "e1"},
            timeout=httpx.Timeout(30, read=1),
        )

    assert any("a piece" in recorded(server, "erin", "e1") for _ in range(MANY))


def test_an_agent_that_takes_too_long_is_a_timeout(tmp_path: Path) -> None:
    source = "import time\ndef answer(message): time.sleep(3600)"
    with serving(tmp_path, source, seconds="0.5") as running:
        answer = running.ask("hi")

    assert (answer.status_code, answer.json()["code"]) == (504, "AGENT_TIMEOUT")
    assert "0.5 seconds" in answer.json()["error"]


def test_cancelling_ends_an_invocation_with_a_conflict(server: Server) -> None:
    answers: list[httpx.Response] = []
    path = "/api/v1/projects/local/workspaces/w/invokeStream"
    with server.client.stream("POST", path, json={"message": "hang", "user_id": "ana"}) as answer:
        execution = answer.headers["X-Execution-ID"]
        lines = answer.iter_lines()
        next(line for line in lines if line)
        answers.append(
            server.client.post(
                f"/api/v1/projects/local/executions/{execution}/cancel",
                params={"workspace_id": "w"},
            )
        )
        last = [line for line in lines if line][-1]

    assert answers[0].json()["status"] == "cancelled"
    assert json.loads(last.removeprefix("data: "))["metadata"]["code"] == "EXECUTION_CANCELLED"


def test_a_hanging_agent_leaves_other_requests_alone(server: Server) -> None:
    path = "/api/v1/projects/local/workspaces/w/invokeStream"
    with server.client.stream("POST", path, json={"message": "hang", "user_id": "ana"}) as answer:
        next(line for line in answer.iter_lines() if line)

        assert server.client.get("/health").status_code == 200
        assert server.said("hi") == "hello ana"


DETACHED = """
    import os, subprocess, sys, time

    def answer(message):
        apart = [sys.executable, '-c', 'import time; time.sleep(3600)']
        started = subprocess.Popen(apart, start_new_session=True)
        yield f'{os.getpid()} {started.pid}'
        time.sleep(3600)
    """


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_agent_and_what_it_started_end_with_the_server(
    tmp_path: Path, number: signal.Signals
) -> None:
    with serving(tmp_path, DETACHED) as running:
        path = "/api/v1/projects/local/workspaces/w/invokeStream"
        with running.client.stream(
            "POST", path, json={"message": "hi", "user_id": "ana"}
        ) as answer:
            line = next(line for line in answer.iter_lines() if line)
            event = json.loads(line.removeprefix("data: "))
            assert "content" in event, event
            told = event["content"].split()
            processes = [psutil.Process(int(pid)) for pid in told]
            running.process.send_signal(number)
            running.process.wait(180)

        gone, alive = psutil.wait_procs(processes, timeout=180)

    assert (len(gone), alive) == (2, [])


def test_changed_code_is_used_by_the_next_call(tmp_path: Path) -> None:
    with serving(tmp_path, "def answer(message): return 'before'") as running:
        before = running.said("hi")
        (tmp_path / "agent" / "demo.py").write_text("def answer(message): return 'afterwards'")

        assert (before, running.said("hi")) == ("before", "afterwards")


def test_an_agent_that_cannot_be_loaded_is_told_and_memory_works_on(tmp_path: Path) -> None:
    with serving(tmp_path, "import no_such_module") as running:
        answer = running.ask("hi")

        assert (answer.status_code, answer.json()["code"]) == (503, "AGENT_UNLOADABLE")
        assert "no_such_module" in answer.json()["error"]
        turn = {"session_id": "s", "user_id": "ana", "role": "user", "content": "hello"}
        assert running.client.post("/api/v1/memory/turns", json=turn).status_code == 201


def test_without_memory_nothing_is_recorded(tmp_path: Path) -> None:
    source = "import os\ndef answer(message, invocation): return f'{invocation.history} ok'"
    with serving(tmp_path, source, memory=False) as running:
        first = running.said("hi", session_id="s1")
        second = running.said("hi", session_id="s1")
        found = running.client.post(
            "/api/v1/memory/context",
            json={"query": "hi", "user_id": "ana", "session_id": "s1", "enabled_sources": ["stm"]},
        )

    assert (first, second) == ("[] ok", "[] ok")
    assert found.json()["metadata"]["memory_counts"] == {}


def recorded(server: Server, user: str, session: str) -> str:
    """Return what is recorded of a session."""
    asked = {"query": "a", "user_id": user, "session_id": session, "enabled_sources": ["stm"]}
    found = server.client.post("/api/v1/memory/context", json=asked | {"format_style": "jinja2"})
    return str(found.json()["formatted_context"])


def _when_over(server: Server, execution: str) -> dict[str, Any]:
    """Return an execution once it has ended, or as it is after being asked often."""
    found: dict[str, Any] = {}
    for _ in range(MANY):
        found = server.client.get(
            f"/api/v1/projects/local/executions/{execution}", params={"workspace_id": "w"}
        ).json()
        if found["status"] != "running":
            break
    return found
