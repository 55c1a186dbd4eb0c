"""A server in one directory, its user in another with a home of their own, by commands alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx
import pytest
from agent_engine_sdk_memory import Memory, MemoryRequestContext

from tests.acceptance.conftest import Answer, Shell

OWNER_TOKEN = "the-owner-token-of-the-acceptance"
CONFIG = """memory_only: true
memory:
  embedding: {provider: local}
  extraction_llm: {provider: local}
  extraction: {enabled: [semantic, episodic]}
"""


@dataclass(frozen=True)
class Elsewhere:
    """A running server, the shell of its operator and the one of a user."""

    url: str
    operator: Shell
    user: Shell

    def operate(self, *arguments: str) -> Answer:
        """Run a command as the operator, whose token is in the environment."""
        token = {"AGENTENGINE_OWNER_TOKEN": OWNER_TOKEN, "AGENTENGINE_API_BASE_URL": self.url}
        return self.operator.ok(*arguments, "--json", **token)

    def join(self, name: str, role: str, project_id: str) -> str:
        """Make somebody a member, and return their password."""
        options = ("--role", role, "--project-id", project_id)
        password: str = self.operate("project", "member", "add", name, *options).document[
            "password"
        ]
        return password

    def log_in(self, name: str, password: str) -> Answer:
        options = ("--base-url", self.url, "--username", name, "--password-stdin")
        return self.user.ok("auth", "login", *options, "--json", stdin=password)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    directory = tmp_path / "server"
    directory.mkdir()
    (directory / "owner-token").write_text(OWNER_TOKEN)
    with (directory / "log").open("wb") as log:
        process = _serve(directory, log)
        assert process.stderr is not None
        url = process.stderr.readline().decode().strip().removeprefix("memory server: ")
        yield Elsewhere(url, _shell(tmp_path, "operator"), _shell(tmp_path, "user"))
        process.terminate()
        process.communicate(timeout=180)


def _serve(directory: Path, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "AGENTENGINE_DATA_DIR": str(directory / "data"),
        "AGENTENGINE_OWNER_TOKEN_FILE": str(directory / "owner-token"),
    }
    command = [sys.executable, "-m", "memory_server", "--port", "0"]
    return subprocess.Popen(  # noqa: S603 - our own server
        command, cwd=directory, env=environ, stdout=log, stderr=subprocess.PIPE
    )


def _shell(tmp_path: Path, name: str) -> Shell:
    home, directory = tmp_path / f"home of {name}", tmp_path / f"work of {name}"
    home.mkdir()
    directory.mkdir()
    return Shell(directory, home)


def test_login_context_project_configure_apply_record_and_search(elsewhere: Elsewhere) -> None:
    user = elsewhere.user
    elsewhere.log_in("ana", elsewhere.join("ana", "PROJECT_OWNER", "local"))
    user.ok("context", "create", "work")
    (user.directory / "project-config.yaml").write_text(CONFIG)
    here = ("--context", "work")

    user.ok("memory", "configure", "--yes", *here)
    assert "config: pending (stored" in user.ok("memory", "status", *here).out
    applied = user.ok("memory", "apply", "--wait", *here, "--json").document
    assert applied["status"]["config"]["pending"] is False
    (user.directory / "turns.jsonl").write_text(_turn("ana", "I always fly out of Boston."))
    user.ok("memory", "import", "turns.jsonl", *here)
    user.ok("memory", "flush", *here)

    found = user.ok("memory", "search", "airport Boston", "--user-id", "ana", *here, "--json")
    assert {memory["source"] for memory in found.document["memories"]} == {"semantic", "episodic"}
    assert "Boston" in user.ok("invoke", "Where do I fly from?", *here).out


def test_secrets_and_service_accounts_of_a_server_elsewhere(elsewhere: Elsewhere) -> None:
    user, where = elsewhere.user, ("--base-url", elsewhere.url, "--project-id", "local")
    elsewhere.log_in("ana", elsewhere.join("ana", "PROJECT_OWNER", "local"))
    user.ok("context", "create", "work")

    user.ok("secret", "set", "LLM_API_KEY", "--stdin", "--context", "work", stdin="sk-01234567")
    listed = user.ok("secret", "list", "--context", "work", "--json").document
    role = ("--role", "AGENT_DEVELOPER")
    made = user.ok("service-account", "create", "ci", *role, *where, "--json").document

    assert [secret["name"] for secret in listed["secrets"]] == ["LLM_API_KEY"]
    token = _token(elsewhere.url, made["service_account"]["client_id"], made["client_secret"])
    with Memory(base_url=elsewhere.url, project_id="local", service_account_token=token) as memory:
        bound = memory.bind(MemoryRequestContext(user_id="ana", session_id="s1"))
        assert bound.record_turn(role="user", content="Hello").turn_seq == 1


def test_a_second_project_is_made_used_and_kept_apart(elsewhere: Elsewhere) -> None:
    user = elsewhere.user
    made = elsewhere.operate("project", "create", "Support desk").document
    elsewhere.log_in("bob", elsewhere.join("bob", "PROJECT_OWNER", made["id"]))
    user.ok("context", "create", "desk")

    (user.directory / "turns.jsonl").write_text(_turn("bob", "I live in Oslo."))
    user.ok("memory", "import", "turns.jsonl", "--context", "desk")

    refused = user.run(
        "memory", "jobs", "--base-url", elsewhere.url, "--org-id", "local", "--project-id", "local"
    )
    assert (refused.code, "Not logged in" in refused.err) == (1, True)
    assert elsewhere.operate("project", "list").document["total"] == 2
    kept = elsewhere.operator.run(
        "project",
        "delete",
        made["id"],
        "--yes",
        "--json",
        AGENTENGINE_OWNER_TOKEN=OWNER_TOKEN,
        AGENTENGINE_API_BASE_URL=elsewhere.url,
    )
    assert json.loads(kept.err)["error"]["code"] == "PROJECT_NOT_EMPTY"


def test_no_command_ever_shows_a_token(elsewhere: Elsewhere) -> None:
    user, password = elsewhere.user, elsewhere.join("ana", "PROJECT_OWNER", "local")
    said = [elsewhere.log_in("ana", password)]
    login = (user.home / ".agentengine" / "auth.json").read_text()
    where = ("--base-url", elsewhere.url, "--org-id", "local", "--project-id", "local")

    said += [
        user.run(*words, *where, "-vv") for words in (("memory", "status"), ("secret", "list"))
    ]
    said += [user.run("auth", "status", "-vv"), user.run("auth", "logout", "-vv")]

    logged = "".join(path.read_text() for path in user.home.rglob("*.log"))
    text = logged + "".join(answer.out + answer.err for answer in said)
    secrets = [password, *re.findall(r'_token": "([^"]+)"', login)]
    assert len(secrets) == 3
    assert [secret for secret in secrets if secret in text] == []


def _turn(user_id: str, content: str) -> str:
    turn = {"session_id": "s1", "user_id": user_id, "role": "user", "content": content}
    return json.dumps(turn) + "\n"


def _token(url: str, client_id: str, secret: str) -> str:
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": secret,
    }
    answer = httpx.post(f"{url}/api/v1/oauth/token", data=form, trust_env=False)
    return str(answer.json()["access_token"])
