"""Service accounts in SQLite."""

import sqlite3
from collections.abc import Sequence

from memory_server.domain.account import ServiceAccount
from memory_server.errors import AccountNotFound, DuplicateName
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
        values = {"client_id": client_id}
        row = await self._database.read(lambda db: db.execute(SQL["find"], values).fetchone())
        return None if row is None else account_of(row)

    async def list(self, project_id: str) -> Sequence[ServiceAccount]:
        values = {"project_id": project_id}
        rows = await self._database.read(lambda db: db.execute(SQL["list"], values).fetchall())
        return [account_of(row) for row in rows]

    async def put(self, account: ServiceAccount) -> None:
        await self._database.write(lambda db: _put(db, account))

    async def delete(self, client_id: str) -> None:
        values = {"client_id": client_id}
        gone = await self._database.write(lambda db: db.execute(SQL["delete"], values).rowcount)
        if not gone:
            raise AccountNotFound(f"no service account has the client id {client_id!r}")


def _add(connection: sqlite3.Connection, account: ServiceAccount) -> None:
    _check_name(connection, account, is_new=True)
    connection.execute(SQL["insert"], account_values(account))


def _put(connection: sqlite3.Connection, account: ServiceAccount) -> None:
    _check_name(connection, account, is_new=False)
    if not connection.execute(SQL["update"], account_values(account)).rowcount:
        raise AccountNotFound(f"no service account has the client id {account.client_id!r}")


def _check_name(connection: sqlite3.Connection, account: ServiceAccount, *, is_new: bool) -> None:
    values = account_values(account) | {"is_new": is_new}
    if connection.execute(SQL["namesake"], values).fetchone() is not None:
        raise DuplicateName(f"a service account {account.name!r} exists in this project already")
