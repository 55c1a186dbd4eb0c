"""Records of the memory types that a project declares."""

from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.domain.chunk import Source
from memory_server.domain.custom_type import NOT_ENABLED, UNKNOWN, CustomType, equal
from memory_server.domain.memory import Memory, MemoryType, Record
from memory_server.domain.scope import Scope
from memory_server.errors import InvalidRequest, UnknownCustomType
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.search import Found, Retrieval, SearchRequest


class CustomTypes:
    """Keeps and finds records by the declarations of their types."""

    def __init__(
        self,
        *,
        declared: Sequence[CustomType],
        enabled: bool,
        keeping: MemoryKeeping,
        retrieval: Retrieval,
    ) -> None:
        self._declared = {one.name: one for one in declared}
        self._enabled = enabled
        self._keeping = keeping
        self._retrieval = retrieval

    def meant(self, name: str | None) -> tuple[MemoryType | None, str | None]:
        """Return the kind that a type's name stands for, and of `custom` which declared type.

        Raises `InvalidRequest` for a name that no type has.
        """
        if name is None:
            return None, None
        if name in self._declared:
            return MemoryType.CUSTOM, name
        kinds = {kind.value: kind for kind in MemoryType}
        if name in kinds:
            return kinds[name], None
        raise InvalidRequest(f"type: expected one of {', '.join((*kinds, *self._declared))}")

    def named(self, name: str) -> CustomType:
        """Return a declared type.

        Raises `UnknownCustomType`, or `InvalidRequest` where the deployment has no such types.
        """
        if not self._enabled:
            raise InvalidRequest(f"{NOT_ENABLED} on this deployment")
        if name not in self._declared:
            raise UnknownCustomType(UNKNOWN.format(name))
        return self._declared[name]

    async def save(
        self,
        owner: Scope,
        name: str,
        *,
        content: str,
        tags: Mapping[str, Any],
        contextual_metadata: Mapping[str, Any],
    ) -> Memory:
        """Store a record, always a new one, private to its owner; tags must be declared."""
        body = Record(custom_type=name, content=content, tags=self.named(name).checked(tags))
        request = SaveRequest(body=body, contextual_metadata=contextual_metadata)
        return await self._keeping.save(owner, request)

    async def retrieve(
        self, scope: Scope, name: str, *, query: str, tags: Mapping[str, Any], top_k: int
    ) -> Found:
        """Return the scope's records of a type by words and meaning, of those with all the tags."""
        return await self._retrieval.search(
            SearchRequest(
                scope=scope,
                source=Source.CUSTOM,
                custom_type=name,
                query=query,
                top_k=top_k,
                filter=equal(self.named(name).checked(tags)),
            )
        )
