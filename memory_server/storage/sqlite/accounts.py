"""Service accounts in SQLite."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from memory_server.domain.account import ServiceAccount
from memory_server.domain.moments import to_micros
from memory_server.errors import AccountNotFound, DuplicateName, VersionConflict
from memory_server.ports.accounts import Accounts
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.rows import account_of, account_values

SQL = load("memory_server.storage.sqlite", "accounts.sql")


class SqliteAccounts(Accounts):
    """Accounts by client id; names are unique in a project."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: ServiceAccount) -> None:
        await self._database.write(lambda db: _add(db, account))

    async def find(self, client_id: str) -> ServiceAccount | None:
        return await self._database.read(lambda db: _find(db, client_id))

    async def list(self, project_id: str | None) -> Sequence[ServiceAccount]:
        values = {"project_id": project_id}
        return await self._database.read(
            lambda db: [account_of(row) for row in db.execute(SQL["list"], values)]
        )

    async def put(self, account: ServiceAccount, *, expected_updated_at: datetime) -> None:
        expected = to_micros(expected_updated_at)
        await self._database.write(lambda db: _put(db, account, expected))

    async def touch(self, client_id: str, at: datetime) -> None:
        values = {"client_id": client_id, "at": to_micros(at)}
        await self._database.write(lambda db: db.execute(SQL["touch"], values).rowcount)

    async def delete(self, client_id: str) -> None:
        values = {"client_id": client_id}
        gone = await self._database.write(lambda db: db.execute(SQL["delete"], values).rowcount)
        if not gone:
            raise AccountNotFound(f"no service account has the client id {client_id!r}")


def _add(connection: sqlite3.Connection, account: ServiceAccount) -> None:
    _check_name(connection, account, is_new=True)
    connection.execute(SQL["insert"], account_values(account))


def _find(connection: sqlite3.Connection, client_id: str) -> ServiceAccount | None:
    row = connection.execute(SQL["find"], {"client_id": client_id}).fetchone()
    return None if row is None else account_of(row)


def _put(connection: sqlite3.Connection, account: ServiceAccount, expected: int) -> None:
    stored = connection.execute(SQL["stored"], account_values(account)).fetchone()
    if stored is None:
        raise AccountNotFound(f"no service account has the client id {account.client_id!r}")
    if stored["updated_at"] != expected:
        raise VersionConflict(
            f"service account {account.client_id!r} was changed meanwhile; read it again"
        )
    _check_name(connection, account, is_new=False)
    connection.execute(SQL["update"], account_values(account))


def _check_name(connection: sqlite3.Connection, account: ServiceAccount, *, is_new: bool) -> None:
    values = account_values(account) | {"is_new": is_new}
    if connection.execute(SQL["namesake"], values).fetchone() is not None:
        raise DuplicateName(f"a service account {account.name!r} exists here already")
