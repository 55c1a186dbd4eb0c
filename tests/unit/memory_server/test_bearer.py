import asyncio
from dataclasses import dataclass, field

import httpx
import pytest

from memory_server.client import MemoryServerClient, TokenSource
from memory_server.errors import NotAuthenticated

REFUSAL = {"code": "TOKEN_EXPIRED", "error": "expired"}


@dataclass
class Tokens(TokenSource):
    """Hands out the tokens in order, and counts how often a new one was asked for."""

    values: list[str] = field(default_factory=lambda: ["old", "new"])
    renewals: int = 0

    async def token(self) -> str:
        return self.values[0]

    async def renewed(self, refused: str) -> str | None:
        await asyncio.sleep(0)
        self.renewals += 1
        position = self.values.index(refused) + 1
        return self.values[position] if position < len(self.values) else None


def client(tokens: Tokens, *, takes: str) -> MemoryServerClient:
    """Return a client of a server that takes one token only."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.headers["authorization"] != f"Bearer {takes}":
            return httpx.Response(401, json=REFUSAL)
        return httpx.Response(200, json={"queued": 0, "running": 0, "failed": 0})

    return MemoryServerClient(
        "http://127.0.0.1:1", token=tokens, transport=httpx.MockTransport(answer)
    )


async def test_a_valid_token_is_shown_and_no_other_is_asked_for() -> None:
    tokens = Tokens()

    async with client(tokens, takes="old") as server:
        await server.queue_stats()

    assert tokens.renewals == 0


async def test_a_refused_request_is_sent_again_with_a_fresh_token() -> None:
    tokens = Tokens()

    async with client(tokens, takes="new") as server:
        await server.queue_stats()
        await server.queue_stats()

    assert tokens.renewals == 1


async def test_requests_refused_at_once_renew_the_token_once() -> None:
    tokens = Tokens()

    async with client(tokens, takes="new") as server:
        await asyncio.gather(*(server.queue_stats() for _ in range(8)))

    assert tokens.renewals == 1


async def test_a_token_that_cannot_be_renewed_stays_refused() -> None:
    tokens = Tokens(values=["old"])

    async with client(tokens, takes="new") as server:
        with pytest.raises(NotAuthenticated, match="expired"):
            await server.queue_stats()


async def test_a_fresh_token_that_is_refused_too_is_not_tried_for_ever() -> None:
    tokens = Tokens()

    async with client(tokens, takes="another") as server:
        with pytest.raises(NotAuthenticated):
            await server.queue_stats()

    assert tokens.renewals == 1
