"""A server in a process of its own, and the official MCP client to talk to it."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

OWNER = "owner-token-of-the-mcp-tests"
PROJECT = "local"


@dataclass(frozen=True)
class Door:
    """A running server."""

    url: str

    def address(self, project: str = PROJECT) -> str:
        return f"{self.url}/api/v1/projects/{project}/mcp"

    @asynccontextmanager
    async def client(
        self, token: str | None = OWNER, *, mode: str = "auto", project: str = PROJECT, **more: str
    ) -> AsyncIterator[Client]:
        """Yield a client that has connected as `mode` says."""
        headers = more | ({"authorization": f"Bearer {token}"} if token else {})
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(
                streamable_http_client(self.address(project), http_client=http), mode=mode
            ) as client,
        ):
            yield client

    def admin(self) -> httpx.Client:
        """Return a caller with the owner token."""
        return httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"authorization": f"Bearer {OWNER}"},
            trust_env=False,
        )

    def service_account(self, role: str) -> str:
        """Return a bearer token of a new account."""
        with self.admin() as admin:
            body = {"name": f"{role} {uuid4()}", "roles": [role]}
            made = admin.post(f"/projects/{PROJECT}/service-accounts", json=body).json()
            issued = admin.post(
                "/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(made["service_account"]["client_id"], made["client_secret"]),
            )
        token: str = issued.json()["access_token"]
        return token

    def person(self, user: str) -> tuple[str, str]:
        """Return a project that enforces identity, and a token of a person in it."""
        with self.admin() as admin:
            project = admin.post("/projects", json={"name": f"of {user}"}).json()["id"]
            admin.patch(f"/projects/{project}", json={"enforce_identity": True})
            member = {"user_id": user, "role": "AGENT_DEVELOPER"}
            made = admin.post(f"/projects/{project}/members", json=member).json()
            login = {"username": user, "password": made["password"], "project_id": project}
            token: str = admin.post("/auth/login", json=login).json()["access_token"]
        return project, token


@contextmanager
def serving(directory: Path, **environ: str) -> Iterator[Door]:
    """Start a server on any free port."""
    directory.mkdir(exist_ok=True)
    (directory / "owner-token").write_text(OWNER)
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_server", "--port", "0"],
        env=os.environ
        | {
            "AGENTENGINE_DATA_DIR": str(directory / "data"),
            "AGENTENGINE_OWNER_TOKEN_FILE": str(directory / "owner-token"),
            "PROJECT_ID": PROJECT,
        }
        | environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = next(line for line in process.stderr if line.startswith("memory server: "))
        yield Door(said.split()[-1])
    finally:
        process.terminate()
        process.communicate(timeout=180)


def turn(user: str, content: str = "I live in Porto.", **changes: Any) -> dict[str, Any]:
    """Return the arguments of `record_turn`."""
    given = {"user_id": user, "session_id": f"of-{user}", "role": "user", "content": content}
    return given | changes


def told(result: CallToolResult) -> dict[str, Any]:
    """Return what a successful call answered."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def refused(result: CallToolResult) -> tuple[str, str]:
    """Return the code and the text of a call that failed, which a model reads as text."""
    assert result.is_error
    document = result.structured_content
    assert isinstance(document, dict)
    assert document["request_id"]
    [block] = result.content
    assert getattr(block, "text", None) == f"{document['code']}: {document['error']}"
    assert "Traceback" not in document["error"]
    return document["code"], document["error"]
