"""Posting JSON to a model provider's API."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import httpx

from memory_server.errors import KeyRejected, ProviderUnavailable

BROKEN_CONNECTION = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""What a connection that was kept open looks like after the server gave it up."""


class Access(Protocol):
    """Where a provider listens, and the key that opens it."""

    @property
    @abstractmethod
    def provider(self) -> str:
        """Its name, for messages."""
        ...

    @property
    @abstractmethod
    def base_url(self) -> str:
        """Where it listens."""
        ...

    @property
    @abstractmethod
    def key(self) -> str | None:
        """The secret that opens it."""
        ...

    @property
    @abstractmethod
    def key_name(self) -> str | None:
        """What the secret is called; None if the API may be open to everyone."""
        ...

    @property
    @abstractmethod
    def key_hint(self) -> str:
        """What to look at when the key is rejected."""
        ...


class HttpClient:
    """Connections to one provider.

    Nothing is tried again, except once over a new connection when the old one broke: pacing is
    the caller's. No redirect is followed, so the key goes to the configured host only.
    """

    def __init__(self, *, connect_seconds: float, closed: str) -> None:
        """Make a client; `closed` is what calls are told after `close`."""
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=connect_seconds), follow_redirects=False
        )
        self._closed = closed
        self._is_closed = False
        self._sending: set[asyncio.Task[httpx.Response]] = set()

    def check_open(self) -> None:
        """Return, or raise the `ProviderUnavailable` of a closed client."""
        if self._is_closed:
            raise ProviderUnavailable(self._closed)

    async def post(
        self, access: Access, name: str, body: Mapping[str, Any], *, seconds: float
    ) -> httpx.Response:
        """Return the answer to one request to `{base_url}/{name}`, whatever its status.

        `seconds` is for all of it. `close` ends it.
        """
        self.check_open()
        sending = asyncio.ensure_future(self._answer(access, name, body, seconds))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
        try:
            await asyncio.wait([sending])
        finally:
            sending.cancel()
        if sending.cancelled():
            raise ProviderUnavailable(self._closed)
        return sending.result()

    async def close(self) -> None:
        """End what is being sent, and let the connections go."""
        self._is_closed = True
        for sending in self._sending:
            sending.cancel()
        await self._client.aclose()

    async def _answer(
        self, access: Access, name: str, body: Mapping[str, Any], seconds: float
    ) -> httpx.Response:
        request = self._client.build_request(
            "POST", endpoint(access.base_url, name), json=body, headers=_authorization(access)
        )
        try:
            async with asyncio.timeout(seconds):
                return await self._send(request)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ProviderUnavailable(
                f"{access.provider} at {request.url.host} did not answer within {seconds:g} s."
            ) from error
        except httpx.TransportError as error:
            raise ProviderUnavailable(
                f"{access.provider} cannot be reached at {request.url.host}: "
                f"{str(error) or type(error).__name__}."
            ) from error

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._client.send(request)
        except BROKEN_CONNECTION:
            return await self._client.send(request)


def endpoint(base_url: str, name: str) -> httpx.URL:
    """Return where to post: below the address's path, with the address's query."""
    url = httpx.URL(base_url)
    return url.copy_with(path=f"{url.path.rstrip('/')}/{name}")


def _authorization(access: Access) -> dict[str, str]:
    """Return the header for the key; raises `KeyRejected` for a key that cannot be one."""
    if access.key is None or not access.key.strip():
        if access.key_name is None:
            return {}
        raise KeyRejected(f"{access.provider} needs a key: set {access.key_name}.")
    key = access.key.strip()
    if not (key.isascii() and key.isprintable()):
        raise KeyRejected(
            f"The value of {access.key_name or 'the embedding key'} holds characters that no key "
            "has; copy it again."
        )
    return {"Authorization": f"Bearer {key}"}
