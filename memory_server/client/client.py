"""The typed client."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

import httpx

from memory_server.client.archive import ArchiveClient
from memory_server.client.bearer import BearerAuth, TokenSource
from memory_server.client.blocks import BlocksClient
from memory_server.client.deployment import ADMIN, DeploymentClient
from memory_server.client.frames import frames
from memory_server.client.platform import Platform
from memory_server.client.proposals import ProposalsClient
from memory_server.client.shapes import (
    AccountDocument,
    BuiltContext,
    Erased,
    Flushed,
    FoundMemory,
    FoundRecord,
    InvokeAnswer,
    IssuedAccount,
    JobDocument,
    JobList,
    MemoryDocument,
    PastDocument,
    QueueStats,
    RecordedTurn,
    StreamFrame,
    Token,
)
from memory_server.client.tools import ToolsClient
from memory_server.client.transport import (
    CONNECT_TIMEOUT,
    Transport,
    checked,
    having,
    is_loopback,
)

DEFAULT_TIMEOUT = 30.0  # seconds


class MemoryServerClient:
    """Talks to one project of one memory server.

    Every method raises the server's own error class (`memory_server.errors`) for an error answer,
    `ServerUnreachable` (a `ConnectionError`) when nothing answers, and `ServerTimeout` (a
    `TimeoutError`) when the answer takes too long. Reads, and turns, which carry an idempotency
    key, are tried three times when the connection or a gateway fails; nothing else ever is.

    `token` is shown as it is; a `TokenSource` is asked for it, and for another one on a 401.
    `administers_project`: administration means `project_id`, not the deployment's own project.
    `organization`: service accounts are those of this organization, not of the project.
    """

    def __init__(
        self,
        base_url: str,
        *,
        project_id: str = "local",
        token: str | TokenSource | None = None,
        administers_project: bool = False,
        organization: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        base_url = base_url.rstrip("/")
        http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"} if isinstance(token, str) else None,
            auth=BearerAuth(token) if token and not isinstance(token, str) else None,
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
            transport=transport,
            trust_env=not is_loopback(base_url),
        )
        self._wire = Transport(base_url=base_url, http=http, sleep=sleep)
        self._project = f"/api/v1/projects/{quote(project_id, safe='')}"
        self._admin = f"{self._project}/admin" if administers_project else ADMIN
        self._holder = (
            self._project
            if organization is None
            else f"/api/v1/organizations/{quote(organization, safe='')}"
        )
        self.platform = Platform(self._wire, self._project)
        self.tools = ToolsClient(self._wire, self._project)
        self.blocks = BlocksClient(self._wire, self._project)
        self.proposals = ProposalsClient(self._wire, self._project)
        self.archive = ArchiveClient(self._wire, self._admin)
        self.deployment = DeploymentClient(self._wire, self._project)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.http.aclose()

    async def health(self) -> Mapping[str, Any]:
        """Return that the process serves, and its version."""
        return await self._wire.call("GET", "/health")

    async def ready(self) -> Mapping[str, Any]:
        """Return the readiness report, whether ready or not."""
        response = await self._wire.send("GET", "/ready", idempotent=False)
        body = response.json() if response.content[:1] == b"{" else {}
        return {"ready": response.is_success, **body}

    async def record_turn(
        self,
        *,
        session_id: str,
        role: str,
        content: str | None,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> RecordedTurn:
        """Record a turn, once: without a key of the caller's, a fresh one covers the retries.

        `more` are the rarer fields of a turn, by their names on the wire.
        """
        body = {
            "session_id": session_id,
            "role": role,
            "content": content,
            "user_id": user_id,
            "idempotency_key": idempotency_key or str(uuid.uuid4()),
            "metadata": metadata,
            **more,
        }
        given = {name: value for name, value in body.items() if value is not None}
        path = f"{self._project}/memory/turns"
        answer = await self._wire.call("POST", path, idempotent=True, json=given)
        return cast(RecordedTurn, having(answer, "id", "turn_seq"))

    async def memories(
        self,
        *,
        user_id: str,
        type: str | None = None,
        include_history: bool = False,
        limit: int | None = None,
    ) -> Sequence[MemoryDocument]:
        """Return a user's memories with evidence, the newest first: 1,000, or `limit`, at most."""
        history = include_history or None
        query = _query(user_id=user_id, type=type, include_history=history, limit=limit)
        answer = await self._wire.call("GET", f"{self._admin}/memories", params=query)
        return cast(Sequence[MemoryDocument], having(answer, "memories")["memories"])

    async def memory_counts(self, *, user_id: str) -> Mapping[str, int]:
        """Return how many live memories a user has, by type; a type without any may be missing."""
        query = _query(user_id=user_id, limit=1)
        answer = await self._wire.call("GET", f"{self._admin}/memories", params=query)
        return cast(Mapping[str, int], having(answer, "counts")["counts"])

    async def memory(self, memory_id: str, *, include_history: bool = False) -> MemoryDocument:
        """Return one memory with the words it rests on, and former versions if asked."""
        path = f"{self._admin}/memories/{quote(memory_id, safe='')}"
        query = _query(include_history=include_history or None)
        answer = await self._wire.call("GET", path, params=query)
        return cast(MemoryDocument, having(answer, "id", "evidence"))

    async def history(self, memory_id: str) -> Sequence[PastDocument]:
        """Return every version of a memory, the oldest first, also of one that was taken back."""
        path = f"{self._admin}/memories/{quote(memory_id, safe='')}/history"
        answer = await self._wire.call("GET", path)
        return cast(Sequence[PastDocument], having(answer, "versions")["versions"])

    async def search(
        self,
        query: str,
        *,
        type: str,
        user_id: str | None = None,
        top_k: int | None = None,
        mode: str | None = None,
        as_of: str | None = None,
    ) -> Sequence[FoundMemory]:
        """Return what is found in one kind of memory, the best first.

        `as_of` is a moment in ISO 8601: what held then is searched.
        """
        body = {"query": query, "type": type} | _query(
            user_id=user_id, top_k=top_k, mode=mode, as_of=as_of
        )
        path = f"{self._project}/memory/search"
        answer = await self._wire.call("POST", path, idempotent=True, json=body)
        return cast(Sequence[FoundMemory], having(answer, "memories")["memories"])

    async def search_turns(
        self,
        query: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        top_k: int | None = None,
        mode: str | None = None,
    ) -> Sequence[FoundMemory]:
        """Return what is found in what was said, the best first."""
        body = {"query": query} | _query(
            user_id=user_id, session_id=session_id, top_k=top_k, mode=mode
        )
        path = f"{self._project}/memory/turns/search"
        answer = await self._wire.call("POST", path, idempotent=True, json=body)
        return cast(Sequence[FoundMemory], having(answer, "memories")["memories"])

    async def context_from_sources(
        self, query: str, *, sources: Sequence[Mapping[str, Any]], **more: Any
    ) -> BuiltContext:
        """Return a context of these sources, each searched with a mode and a number of its own.

        `more` are the other fields, by their names on the wire: `user_id`, `session_id`,
        `rerank`, `max_tokens`, `format_style`, `include_memories`.
        """
        body = {"query": query, "sources": [*map(dict, sources)]} | _query(**more)
        path = f"{self._project}/memory/retrieval/context-from-sources"
        answer = await self._wire.call("POST", path, idempotent=True, json=body)
        return cast(BuiltContext, having(answer, "formatted_context", "metadata"))

    async def records(
        self, query: str, *, type: str, top_k: int | None = None
    ) -> Sequence[FoundRecord]:
        """Return the caller's records of a type that the project declares, the best first."""
        path = f"{self._project}/memory/types/{quote(type, safe='')}/retrieve"
        body = {"query": query} | _query(top_k=top_k)
        answer = await self._wire.call("POST", path, idempotent=True, json=body)
        return cast(Sequence[FoundRecord], having(answer, "results")["results"])

    async def flush(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        seconds: float | None = None,
    ) -> Flushed:
        """Promote the unpromoted turns of a session, a user, or everybody, now.

        The more turns wait, the longer it takes: `seconds` is the time limit of this call.
        Asking again is harmless, because what is promoted does not wait any more.
        """
        body = _query(session_id=session_id, user_id=user_id)
        options = _query(timeout=seconds)
        answer = await self._wire.call("POST", f"{self._admin}/flush", json=body, **options)
        return cast(Flushed, having(answer, "snapshots", "jobs"))

    async def queue_stats(self) -> QueueStats:
        """Return how much background work there is."""
        answer = await self._wire.call("GET", f"{self._project}/memory/worker/queueStats")
        return cast(QueueStats, having(answer, "queued", "running", "failed"))

    async def jobs(
        self, *, state: str | None = None, user_id: str | None = None, limit: int | None = None
    ) -> JobList:
        """Return jobs, the newest first, and how many there are of each state.

        `state` and `user_id` choose among the jobs; the counts are of the project.
        """
        query = _query(state=state, user_id=user_id, limit=limit)
        answer = await self._wire.call("GET", f"{self._admin}/jobs", params=query)
        return cast(JobList, having(answer, "jobs", "counts"))

    async def retry_job(self, job_id: str) -> JobDocument:
        """Queue a failed job again."""
        path = f"{self._admin}/jobs/{quote(job_id, safe='')}/retry"
        return cast(JobDocument, await self._wire.call("POST", path))

    async def retry_failed_jobs(self) -> int:
        """Queue every failed job of the project again; return how many there were."""
        answer = await self._wire.call("POST", f"{self._admin}/jobs/retry")
        return int(having(answer, "retried")["retried"])

    async def erase(self, user_id: str) -> Erased:
        """Remove everything of a user for good."""
        query = _query(user_id=user_id)
        return cast(Erased, await self._wire.call("DELETE", f"{self._admin}/scope", params=query))

    async def erase_everybody(self) -> Erased:
        """Remove everything that the project remembers, for good."""
        query = _query(everybody=True)
        return cast(Erased, await self._wire.call("DELETE", f"{self._admin}/scope", params=query))

    async def token(self, client_id: str, client_secret: str) -> Token:
        """Exchange a service account's credentials for an access token."""
        form = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
        }
        answer = await self._wire.call("POST", "/api/v1/oauth/token", data=form)
        return cast(Token, having(answer, "access_token"))

    async def create_account(
        self,
        *,
        name: str,
        role: str,
        description: str = "",
        secret_expires_after_hours: int | None = None,
    ) -> IssuedAccount:
        """Make a service account; its secret is told only now."""
        body = {"name": name, "description": description, "roles": [role]}
        body |= _query(secret_expires_after_hours=secret_expires_after_hours)
        answer = await self._wire.call("POST", self._accounts(), json=body)
        return cast(IssuedAccount, having(answer, "client_secret", "service_account"))

    async def accounts(self) -> Sequence[AccountDocument]:
        """Return the project's service accounts."""
        answer = await self._wire.call("GET", self._accounts())
        key = "service_accounts"
        return cast(Sequence[AccountDocument], having(answer, key)[key])

    async def account(self, client_id: str) -> AccountDocument:
        """Return one service account."""
        answer = await self._wire.call("GET", self._accounts(client_id))
        return cast(AccountDocument, answer.get("service_account", answer))

    async def set_ip_access_list(self, client_id: str, addresses: Sequence[str]) -> AccountDocument:
        """Replace the list of addresses the account may call from; empty: from anywhere."""
        path = self._accounts(client_id) + "/ip-access-list"
        answer = await self._wire.call("PUT", path, json={"ip_access_list": list(addresses)})
        return cast(AccountDocument, answer.get("service_account", answer))

    async def rotate_account(
        self, client_id: str, *, secret_expires_after_hours: int | None = None
    ) -> IssuedAccount:
        """Give a service account a new secret; the former one stays valid for its grace."""
        body = _query(secret_expires_after_hours=secret_expires_after_hours)
        path = self._accounts(client_id) + "/rotate"
        answer = await self._wire.call("POST", path, json=body)
        return cast(IssuedAccount, having(answer, "client_secret"))

    async def delete_account(self, client_id: str) -> Mapping[str, Any]:
        """Remove a service account; its tokens are refused from the next request on."""
        return await self._wire.call("DELETE", self._accounts(client_id))

    async def invoke(
        self,
        message: str,
        *,
        workspace: str = "local",
        payload: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
    ) -> InvokeAnswer:
        """Ask the agent, and return its answer whole."""
        body = {"message": message} | _query(
            payload=payload, user_id=user_id, session_id=session_id
        )
        response = await self._wire.send("POST", self._workspace(workspace, "invoke"), json=body)
        answer = checked(response, "invoke")
        if not answer.get("session_id"):
            answer["session_id"] = response.headers.get("x-session-id")
        return cast(InvokeAnswer, having(answer, "response"))

    async def invoke_stream(
        self,
        message: str,
        *,
        workspace: str = "local",
        payload: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
    ) -> AsyncIterator[StreamFrame]:
        """Ask the agent, and yield its answer as it comes; a frame of type `error` ends it."""
        body = {"message": message} | _query(
            payload=payload, user_id=user_id, session_id=session_id
        )
        path = self._workspace(workspace, "invokeStream")
        async with self._wire.stream(path, json=body) as response:
            async for frame in frames(response.aiter_lines()):
                yield frame

    def _accounts(self, client_id: str | None = None) -> str:
        tail = "" if client_id is None else f"/{quote(client_id, safe='')}"
        return f"{self._holder}/service-accounts{tail}"

    def _workspace(self, workspace: str, verb: str) -> str:
        return f"{self._project}/workspaces/{quote(workspace, safe='')}/{verb}"


def _query(**values: Any) -> dict[str, Any]:
    """Return the values that are given, in the spelling of query strings and bodies."""
    return {name: value for name, value in values.items() if value is not None}
