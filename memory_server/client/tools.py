"""The tools of the Model Context Protocol, as a client that only passes them on needs them."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from memory_server.client.transport import Transport, data_of, error_from
from memory_server.errors import MemoryServerError

PROTOCOL = "2025-11-25"
"""The newest version in which a request needs nothing before it and nothing beside it."""

_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL}


class ProtocolError(MemoryServerError):
    """The server refused a message of the protocol."""

    code = "MCP_ERROR"


class ToolsClient:
    """Lists and calls the tools of one project. Raises as the client it belongs to."""

    def __init__(self, wire: Transport, project: str) -> None:
        self._wire = wire
        self._path = f"{project}/mcp"
        self._ids = itertools.count(1)

    async def list(self) -> Mapping[str, Any]:
        """Return the result of `tools/list`."""
        return await self._asked("tools/list", {}, idempotent=True)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of `tools/call`, be it of a call that failed."""
        return await self._asked(
            "tools/call", {"name": name, "arguments": dict(arguments)}, idempotent=False
        )

    async def _asked(
        self, method: str, params: Mapping[str, Any], *, idempotent: bool
    ) -> Mapping[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        response = await self._wire.send(
            "POST", self._path, json=message, headers=_HEADERS, idempotent=idempotent
        )
        for answer in _messages(response):
            if isinstance(answer.get("result"), dict):
                result: Mapping[str, Any] = answer["result"]
                return result
            if isinstance(answer.get("error"), dict):
                raise ProtocolError(str(answer["error"].get("message")))
        if response.is_error:
            raise error_from(response.status_code, response.content)
        raise MemoryServerError(f"{self._path}: the answer is none of the protocol")


def _messages(response: httpx.Response) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of an answer, which is one document or a stream that has ended."""
    texts: list[str | None] = [response.text]
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        texts = [data_of(event.splitlines()) for event in response.text.split("\r\n\r\n")]
    for text in texts:
        try:
            message = json.loads(text or "")
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message
