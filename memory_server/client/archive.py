"""Archives of a project, and copies of a server's store."""

from collections.abc import AsyncIterator, Sequence
from typing import TypedDict, cast

from memory_server.client.deployment import ADMIN
from memory_server.client.transport import Transport, given, having

LINES = "application/x-ndjson"


class Imported(TypedDict):
    """What became of a portion of an archive: items by kind."""

    new: dict[str, int]
    known: dict[str, int]
    conflict: dict[str, int]
    erased: dict[str, int]
    conflicts: Sequence[str]


class ArchiveClient:
    """Exports and imports one project. Raises as the client it belongs to."""

    def __init__(self, wire: Transport, admin: str) -> None:
        self._wire = wire
        self._admin = admin

    async def export(
        self,
        *,
        user_id: str | None = None,
        types: Sequence[str] = (),
        with_vectors: bool = False,
    ) -> AsyncIterator[bytes]:
        """Yield an archive in pieces; whether it is whole is for `ArchiveCheck` to say."""
        query = given(
            user_id=user_id, types=",".join(types) or None, with_vectors=with_vectors or None
        )
        path = f"{self._admin}/export"
        async with self._wire.stream(path, method="GET", params=query) as response:
            async for piece in response.aiter_bytes():
                yield piece

    async def take_in(
        self,
        portion: bytes,
        *,
        first_line: int,
        with_vectors: bool = True,
        restore_erased: bool = False,
        dry_run: bool = False,
    ) -> Imported:
        """Import some items of an archive, its first line before them; again is harmless.

        With `dry_run`, only say what would become of them.
        """
        query = given(
            first_line=first_line,
            with_vectors=None if with_vectors else False,
            restore_erased=restore_erased or None,
            dry_run=dry_run or None,
        )
        answer = await self._wire.call(
            "POST",
            f"{self._admin}/import",
            idempotent=True,
            params=query,
            content=portion,
            headers={"Content-Type": LINES},
        )
        return cast(Imported, having(answer, "new", "known", "conflict", "erased", "conflicts"))

    async def backup(self) -> AsyncIterator[bytes]:
        """Yield a copy of the server's whole database in pieces; a broken one raises."""
        async with self._wire.stream(f"{ADMIN}/backup", method="GET") as response:
            async for piece in response.aiter_bytes():
                yield piece
