"""Exchange blocks of one project."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from memory_server.client.shapes import BlockDocument, FoundBlocks, RecordedBlocks
from memory_server.client.transport import Transport, having


class BlocksClient:
    """Records and finds blocks. Raises as the client it belongs to."""

    def __init__(self, wire: Transport, project: str) -> None:
        self._wire = wire
        self._path = f"{project}/memory/blocks"

    async def record(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        conversation_id: str,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        context_required: bool = False,
        sync: bool = False,
        seconds: float | None = None,
        **more: Any,
    ) -> RecordedBlocks:
        """Store the exchanges of these messages, once, all or none.

        A message has `role`, `content`, and if wanted `id` and `metadata`. Without a key of the
        caller's, a fresh one covers the retries. `more` are the rarer fields, by their names on
        the wire: `viewpoints`, `metadata`, `annotations`, `agent_id`. `seconds` is the time limit
        of this call.
        """
        body = {
            "messages": [*map(dict, messages)],
            "conversation_id": conversation_id,
            "user_id": user_id,
            "idempotency_key": idempotency_key or str(uuid.uuid4()),
            "context_required": context_required,
            "sync": sync,
            **more,
        }
        options = {} if seconds is None else {"timeout": seconds}
        answer = await self._wire.call(
            "POST", self._path, idempotent=True, json=_given(body), **options
        )
        return cast(RecordedBlocks, having(answer, "exchanges", "timing"))

    async def list(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        exchange_id: str | None = None,
        viewpoint: str | None = None,
        limit: int | None = None,
    ) -> Sequence[BlockDocument]:
        """Return blocks, the newest first."""
        query = {
            "user_id": user_id,
            "conversation_id": conversation_id,
            "exchange_id": exchange_id,
            "viewpoint": viewpoint,
            "limit": limit,
        }
        answer = await self._wire.call("GET", self._path, params=_given(query))
        return cast(Sequence[BlockDocument], having(answer, "blocks")["blocks"])

    async def get(self, block_id: str) -> BlockDocument:
        """Return one block; raises `MemoryNotFound` for an id that is none's."""
        answer = await self._wire.call("GET", f"{self._path}/{quote(block_id, safe='')}")
        return cast(BlockDocument, having(answer, "id", "message"))

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        top_k: int | None = None,
        mode: str | None = None,
        as_of: str | None = None,
        **more: Any,
    ) -> FoundBlocks:
        """Return the blocks that are found, the best first, and how long the stages took.

        `more` are the rarer fields, by their names on the wire: `conversation_id`, `viewpoint`,
        `speaker`, `metadata_filter`, `similarity_threshold`.
        """
        body = {
            "query": query,
            "user_id": user_id,
            "top_k": top_k,
            "mode": mode,
            "as_of": as_of,
            **more,
        }
        path = f"{self._path}/search"
        answer = await self._wire.call("POST", path, idempotent=True, json=_given(body))
        return cast(FoundBlocks, having(answer, "blocks", "timing"))


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
