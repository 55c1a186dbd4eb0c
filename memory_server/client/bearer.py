"""Bearer tokens that end while a client lives, and their successors."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator
from typing import Protocol

import httpx

REFUSED = 401


class TokenSource(Protocol):
    """Knows the token to show, and how to get another one."""

    @abstractmethod
    async def token(self) -> str:
        """Return a token that is thought to be valid."""
        ...

    @abstractmethod
    async def renewed(self, refused: str) -> str | None:
        """Return another token than the one the server refused, or None if there is none."""
        ...


class BearerAuth(httpx.Auth):
    """Shows the source's token; a request refused with 401 is sent once more with a fresh one.

    A request that was refused had no effect, so that sending it again is safe for any method.
    Several requests at once ask the source one after the other.
    """

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._gate = asyncio.Lock()
        self._shown: str | None = None

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        token = await self._current()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code != REFUSED:
            return
        fresh = await self._successor(token)
        if fresh is not None:
            request.headers["Authorization"] = f"Bearer {fresh}"
            yield request

    async def _current(self) -> str:
        async with self._gate:
            if self._shown is None:
                self._shown = await self._source.token()
            return self._shown

    async def _successor(self, refused: str) -> str | None:
        async with self._gate:
            if self._shown != refused:  # another request was faster
                return self._shown
            fresh = await self._source.renewed(refused)
            self._shown = fresh or refused
            return fresh
