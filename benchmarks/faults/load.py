"""Writers that record turns all the time, and remember what was acknowledged."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

SESSIONS = 8


@dataclass
class Load:
    """Turns that were acknowledged: by session and number, the content."""

    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    async def run(self, urls: Sequence[str], writers: int, until: Callable[[], bool]) -> None:
        """Let all writers record by turns through all servers until told to stop."""
        async with httpx.AsyncClient(timeout=180) as client:
            await asyncio.gather(
                *(self._write(client, urls, writer, until) for writer in range(writers))
            )

    async def _write(
        self, client: httpx.AsyncClient, urls: Sequence[str], writer: int, until: Callable[[], bool]
    ) -> None:
        number = 0
        while not until():
            number += 1
            session = f"s{(writer + number) % SESSIONS}"
            content = f"I have seen place {os.urandom(4).hex()} with writer {writer}."
            turn = {"session_id": session, "user_id": session, "role": "user", "content": content}
            try:
                answer = await client.post(
                    f"{urls[number % len(urls)]}/api/v1/memory/turns", json=turn
                )
            except httpx.TransportError:
                self.refused["connection"] += 1
                await asyncio.sleep(0.05)
                continue
            if answer.is_success:
                self.acknowledged[session, answer.json()["turn_seq"]] = content
            else:
                self.refused[str(answer.json().get("code"))] += 1
                await asyncio.sleep(0.05)
