"""Long-term memory in SQLite: writing, with the index in the same transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.memory import Memory
from memory_server.errors import DuplicateMemory, MemoryNotFound, VersionConflict
from memory_server.ports.memories import Add, Erase, MemoryOperation, Replace
from memory_server.search.local import documents
from memory_server.search.local.entries import memory_entry
from memory_server.search.local.statements import load
from memory_server.search.local.vectors import spaced
from memory_server.storage.sqlite.memory_rows import memory_of, memory_values

SQL = load("memory_server.storage.sqlite", "memories.sql")


class Changes:
    """The operations of one call, in their order, on one project."""

    def __init__(
        self,
        project_id: str,
        operations: Sequence[MemoryOperation],
        space: EmbeddingSpace | None,
    ) -> None:
        self._project_id = project_id
        self._operations = operations
        self._space = space

    def apply(self, connection: sqlite3.Connection) -> None:
        """Carry them out; the caller's savepoint undoes them all if one raises."""
        for operation in self._operations:
            match operation:
                case Add():
                    self._add(connection, operation)
                case Replace():
                    self._replace(connection, operation)
                case Erase():
                    self._erase(connection, operation.memory_id)

    def _add(self, connection: sqlite3.Connection, add: Add) -> None:
        memory = add.memory
        values = self._values(memory, has_embedding=add.vector is not None)
        if connection.execute(SQL["stored"], values).fetchone() is not None:
            raise DuplicateMemory(f"memory {memory.id!r} is there already; replace it instead")
        _check_identity(connection, memory, values)
        root = None if add.history_of is None else self._root(connection, memory, add.history_of)
        root_id = memory.id if root is None else root["id"]
        connection.execute(SQL["insert"], values | {"root_id": root_id})
        hidden = root is not None and bool(root["deleted"])
        documents.put(connection, memory_entry(memory, hidden=hidden))
        self._set_vector(connection, memory.id, add.vector)

    def _replace(self, connection: sqlite3.Connection, replace: Replace) -> None:
        memory = replace.memory
        stored = self._stored(connection, memory)
        had_vector = bool(stored["has_embedding"]) and not replace.drop_vector
        values = self._values(memory, has_embedding=replace.vector is not None or had_vector)
        if replace.former_id is not None:
            self._keep_former(connection, stored, replace.former_id, values)
        _check_identity(connection, memory, values)
        connection.execute(SQL["update"], values)
        documents.put(connection, memory_entry(memory))
        if replace.vector is None and replace.drop_vector:
            documents.drop_vectors(connection, self._project_id, memory.id)
        new_content = replace.former_id is not None
        self._set_vector(connection, memory.id, replace.vector, drop_others=new_content)
        if (bool(stored["deleted"]), stored["visibility"]) != (memory.deleted, memory.visibility):
            self._follow(connection, memory, stored["root_id"])

    def _erase(self, connection: sqlite3.Connection, memory_id: str) -> None:
        where = {"project_id": self._project_id, "id": memory_id}
        versions = connection.execute(SQL["versions"], where).fetchall()
        if not versions:
            raise MemoryNotFound(f"no memory {memory_id!r} to erase")
        documents.remove(connection, self._project_id, [row["id"] for row in versions])
        for version in versions:
            documents.tell_neighbours(connection, memory_entry(memory_of(version)))
        connection.execute(SQL["delete"], where)

    def _stored(self, connection: sqlite3.Connection, memory: Memory) -> sqlite3.Row:
        where = {"project_id": self._project_id, "id": memory.id}
        stored: sqlite3.Row | None = connection.execute(SQL["stored"], where).fetchone()
        if stored is None or stored["revision"] != memory.revision - 1:
            raise VersionConflict(
                f"memory {memory.id!r} is not at revision {memory.revision - 1} any more"
            )
        return stored

    def _keep_former(
        self,
        connection: sqlite3.Connection,
        stored: sqlite3.Row,
        former_id: str,
        new: dict[str, Any],
    ) -> None:
        former = dict(stored) | {
            "id": former_id,
            "is_latest": False,
            "superseded_by": new["id"],
            "valid_to": new["valid_from"],
        }
        connection.execute(SQL["insert"], former)
        documents.put(connection, memory_entry(memory_of(former)))
        documents.copy_vectors(connection, self._project_id, new["id"], to=former_id)

    def _follow(self, connection: sqlite3.Connection, memory: Memory, root_id: str) -> None:
        """Let all versions be seen as far as their memory, and found while it is not deleted."""
        where = {"project_id": self._project_id, "id": root_id, "root_id": root_id}
        connection.execute(SQL["show"], where | {"visibility": memory.visibility.value})
        root = connection.execute(SQL["root"], where).fetchone()
        for row in connection.execute(SQL["versions"], where).fetchall():
            hidden = bool(root["deleted"])
            documents.put(connection, memory_entry(memory_of(row), hidden=hidden))

    def _root(self, connection: sqlite3.Connection, memory: Memory, history_of: str) -> sqlite3.Row:
        """Return the memory to whose history a new one belongs."""
        if memory.is_latest:
            raise ValueError(f"memory {memory.id!r} is the latest, not a former version")
        where = {"project_id": self._project_id, "id": history_of}
        root: sqlite3.Row | None = connection.execute(SQL["root"], where).fetchone()
        if root is None:
            raise VersionConflict(f"memory {history_of!r}, of which there was more, is gone")
        if (root["user_id"], root["type"]) != (memory.user_id, memory.type.value):
            raise ValueError(f"memory {memory.id!r} is of another owner or type than its memory")
        return root

    def _set_vector(
        self,
        connection: sqlite3.Connection,
        memory_id: str,
        vector: Vector | None,
        *,
        drop_others: bool = False,
    ) -> None:
        if vector is not None:
            documents.set_vector(
                connection,
                self._project_id,
                memory_id,
                spaced(vector, self._space),
                drop_others=drop_others,
            )

    def _values(self, memory: Memory, *, has_embedding: bool) -> dict[str, Any]:
        if memory.project_id != self._project_id:
            raise ValueError(f"memory {memory.id!r} belongs to another project")
        return memory_values(memory) | {"has_embedding": has_embedding}


def _check_identity(connection: sqlite3.Connection, memory: Memory, values: dict[str, Any]) -> None:
    if not memory.is_live or memory.identity_key is None:
        return
    namesake = connection.execute(SQL["namesake"], values).fetchone()
    if namesake is not None:
        raise DuplicateMemory(
            f"memory {namesake['id']!r} is live under the same identity; replace it instead"
        )
