"""What a server says of itself, and what of that decides the figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from memory_server.client import TOKENIZER, MemoryServerClient

_EMBEDDING = ("provider", "model", "dimension")
_EXTRACTION = ("provider", "model", "enabled")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """One server, as a report names it."""

    document: Mapping[str, Any]
    """Version, configuration, embedding, extraction, store and tokenizer. All of it has to be the
    same for what is stored and found to be the same; `place` is the address and project of a
    server that is not the evaluation's own."""

    @classmethod
    async def of(cls, client: MemoryServerClient, *, place: str | None = None) -> Self:
        """Ask a server that is ready."""
        ready = await client.ready()
        embedding, extraction = ready.get("embedding") or {}, ready.get("extraction") or {}
        document = {
            "version": ready.get("version"),
            "config_digest": ready.get("config_digest"),
            "local_models": ready.get("local_models"),
            "store": (ready.get("store") or {}).get("kind"),
            "search": (ready.get("search") or {}).get("kind"),
            "embedding": {name: embedding.get(name) for name in _EMBEDDING},
            "extraction": {name: extraction.get(name) for name in _EXTRACTION},
            "tokenizer": TOKENIZER,
            "place": place,
        }
        return cls(document=document)
