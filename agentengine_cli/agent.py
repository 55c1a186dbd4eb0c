"""Asking the agent: as whom, in which session, and what becomes of its answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from agentengine_cli.connection import Server
from agentengine_cli.credentials import Credential
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.filelog import variable
from agentengine_cli.output import Output
from memory_server.errors import NotAuthenticated

if TYPE_CHECKING:
    from memory_server.client import InvokeAnswer, MemoryServerClient, StreamFrame

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")


class AgentFailed(CliError):
    """The agent ended its answer with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A service account's credentials."""

    client_id: str
    client_secret: str = field(repr=False)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One session with the agent; what is said next goes where the last answer came from."""

    server: Server
    output: Output
    account: Account | None
    """None: the owner token of the local stack."""
    user_id: str | None
    session_id: str | None
    payload: Mapping[str, Any] | None
    timeout: float
    """Seconds for one answer."""
    _token: str | None = field(default=None, repr=False)

    async def ask(self, message: str, *, streamed: bool) -> "InvokeAnswer":
        """Return the answer; streamed, its text is also written while it comes."""
        try:
            return await self._asked(message, streamed=streamed)
        except NotAuthenticated:
            if self.account is None or self._token is None:
                raise
            self._token = None  # an hour has passed, or the account was rotated
            return await self._asked(message, streamed=streamed)

    async def _asked(self, message: str, *, streamed: bool) -> "InvokeAnswer":
        async with self.server.client(await self._bearer(), timeout=self.timeout) as client:
            answer = await (self._stream if streamed else self._whole)(client, message)
        self.session_id = answer.get("session_id") or self.session_id
        for warning in answer.get("warnings") or ():
            self.output.warning(warning)
        return answer

    async def _bearer(self) -> "str | Credential":
        if self.account is None:
            return self.server.administrator
        fresh = self._token is None
        if self._token is None:
            async with self.server.client(None) as client:
                issued = await client.token(self.account.client_id, self.account.client_secret)
            self._token = issued["access_token"]
        self.output.debug(f"Speaking as {self.account.client_id}{', token fresh' * fresh}")
        return self._token

    async def _whole(self, client: "MemoryServerClient", message: str) -> "InvokeAnswer":
        answer = await client.invoke(message, **self._where())
        if not answer.get("success", True):
            raise AgentFailed(answer["response"] or f"The agent ended as {answer.get('status')}")
        return answer

    async def _stream(self, client: "MemoryServerClient", message: str) -> "InvokeAnswer":
        """Write the text as it comes, and return the answer put together from the frames."""
        pieces: list[str] = []
        done: Mapping[str, Any] | None = None
        execution = ""
        async for frame in client.invoke_stream(message, **self._where()):
            execution = frame.get("execution_id") or execution
            if frame["chunk_type"] == "done":
                done = frame.get("metadata") or {}
            elif (text := self._heard(frame)) is not None:
                pieces.append(text)
        if done is None:
            raise AgentFailed("The answer broke off before its end", code="STREAM_BROKEN")
        whole = {
            "success": True,
            "response": "".join(pieces),
            "execution_id": execution,
            "status": "completed",
        }
        return cast("InvokeAnswer", whole | dict(done))

    def _heard(self, frame: "StreamFrame") -> str | None:
        """Pass a frame on; return its text if it is part of the answer."""
        kind, text = frame["chunk_type"], frame.get("content") or ""
        if kind == "error":
            raise AgentFailed(text or "The agent failed", code=_code(frame))
        if kind != "text":
            self.output.info(f"{kind}: {text}" if text else kind)
            return None
        if not self.output.as_json:
            self.output.stream(text)
        return text

    def _where(self) -> dict[str, Any]:
        return {
            "workspace": self.server.workspace_id,
            "payload": self.payload,
            "user_id": self.user_id,
            "session_id": self.session_id,
        }


def _code(frame: "StreamFrame") -> str | None:
    code = (frame.get("metadata") or {}).get("code")
    return code if isinstance(code, str) else None


def account_from(
    environ: Mapping[str, str], *, client_id: str | None, secret: str | None
) -> Account | None:
    """Return the service account to speak as, if one is named by the option or the environment."""
    client_id = client_id or variable(environ, "CLIENT_ID")
    if client_id is None:
        if secret is not None:
            raise WrongUsage("--client-secret-stdin needs --service-account")
        return None
    secret = secret or variable(environ, "CLIENT_SECRET")
    if secret is None:
        raise CliError(
            f"There is no secret for the service account {client_id}",
            hint="Set AGENTENGINE_CLIENT_SECRET, or pipe it in with --client-secret-stdin",
            code="NO_CLIENT_SECRET",
        )
    return Account(client_id=client_id, client_secret=secret)


def checked_session(session_id: str | None) -> str | None:
    """Return the session id if the server would take it."""
    if session_id is not None and not _SESSION.fullmatch(session_id):
        raise WrongUsage("--session: 1 to 128 of the characters A-Z, a-z, 0-9, _ and -")
    return session_id
