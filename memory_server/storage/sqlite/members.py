"""People and their logins in SQLite."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_server.domain.account import AccountRole, SecretHash
from memory_server.domain.member import Login, Member, PasswordHash
from memory_server.domain.moments import from_micros, to_micros
from memory_server.errors import DuplicateName, MemberNotFound, VersionConflict
from memory_server.ports.members import Members
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database

SQL = load("memory_server.storage.sqlite", "members.sql")


class SqliteMembers(Members):
    """Members by project and user id; logins by id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, member: Member) -> None:
        await self._database.write(lambda db: _add(db, member))

    async def find(self, project_id: str, user_id: str) -> Member | None:
        return await self._database.read(lambda db: _find(db, project_id, user_id))

    async def named(self, user_id: str) -> Sequence[Member]:
        return await self._members("named", user_id=user_id)

    async def list(self, project_id: str) -> Sequence[Member]:
        return await self._members("list", project_id=project_id)

    async def put(
        self, member: Member, *, expected_updated_at: datetime, ends_logins: bool = False
    ) -> None:
        def put(connection: sqlite3.Connection) -> None:
            _put(connection, member, expected_updated_at)
            if ends_logins:
                connection.execute(SQL["end_all"], _values(member))

        await self._database.write(put)

    async def remove(self, project_id: str, user_id: str) -> None:
        values = {"project_id": project_id, "user_id": user_id}

        def remove(connection: sqlite3.Connection) -> None:
            _existing(connection, project_id, user_id)
            connection.execute(SQL["end_all"], values)
            connection.execute(SQL["delete"], values)

        await self._database.write(remove)

    async def begin(self, login: Login, *, of: Member, now: datetime, most: int) -> None:
        room = {"now": to_micros(now), "most": most - 1}
        values = {
            "id": login.id,
            "project_id": login.project_id,
            "user_id": login.user_id,
            "created_at": to_micros(login.created_at),
            **_secret_values(login.refresh),
        }

        def begin(connection: sqlite3.Connection) -> None:
            if _existing(connection, login.project_id, login.user_id) != of:
                raise VersionConflict(f"member {of.user_id!r} was changed meanwhile; try again")
            connection.execute(SQL["make_room"], values | room)
            connection.execute(SQL["begin"], values)

        await self._database.write(begin)

    async def login(self, login_id: str) -> tuple[Login, Member] | None:
        return await self._database.read(lambda db: _login(db, login_id))

    async def renew(self, login_id: str, *, former: SecretHash, refresh: SecretHash) -> bool:
        values = {
            "id": login_id,
            "former_salt": former.salt,
            "former_digest": former.digest,
            **_secret_values(refresh),
        }
        changed = await self._database.write(lambda db: db.execute(SQL["renew"], values).rowcount)
        return changed == 1

    async def end(self, login_id: str) -> None:
        await self._database.write(lambda db: db.execute(SQL["end"], {"id": login_id}).rowcount)

    async def _members(self, statement: str, **values: str) -> Sequence[Member]:
        return await self._database.read(
            lambda db: [_member(row) for row in db.execute(SQL[statement], values)]
        )


def _add(connection: sqlite3.Connection, member: Member) -> None:
    if _find(connection, member.project_id, member.user_id) is not None:
        raise DuplicateName(f"{member.user_id!r} is a member of {member.project_id!r} already")
    connection.execute(SQL["insert"], _values(member))


def _find(connection: sqlite3.Connection, project_id: str, user_id: str) -> Member | None:
    values = {"project_id": project_id, "user_id": user_id}
    row = connection.execute(SQL["find"], values).fetchone()
    return None if row is None else _member(row)


def _existing(connection: sqlite3.Connection, project_id: str, user_id: str) -> Member:
    found = _find(connection, project_id, user_id)
    if found is None:
        raise MemberNotFound(f"project {project_id!r} has no member {user_id!r}")
    return found


def _put(connection: sqlite3.Connection, member: Member, expected: datetime) -> None:
    stored = _existing(connection, member.project_id, member.user_id)
    if stored.updated_at != expected:
        raise VersionConflict(f"member {member.user_id!r} was changed meanwhile; read it again")
    connection.execute(SQL["update"], _values(member))


def _login(connection: sqlite3.Connection, login_id: str) -> tuple[Login, Member] | None:
    row = connection.execute(SQL["login"], {"id": login_id}).fetchone()
    member = None if row is None else _find(connection, row["project_id"], row["user_id"])
    if member is None:
        return None
    login = Login(
        id=row["id"],
        project_id=row["project_id"],
        user_id=row["user_id"],
        refresh=SecretHash(
            salt=row["salt"], digest=row["digest"], expires_at=from_micros(row["expires_at"])
        ),
        created_at=from_micros(row["created_at"]),
    )
    return login, member


def _secret_values(secret: SecretHash) -> Mapping[str, Any]:
    return {
        "salt": secret.salt,
        "digest": secret.digest,
        "expires_at": to_micros(secret.expires_at),
    }


def _values(member: Member) -> Mapping[str, Any]:
    return {
        "project_id": member.project_id,
        "user_id": member.user_id,
        "role": member.role.value,
        "salt": member.password.salt,
        "digest": member.password.digest,
        "is_active": member.is_active,
        "created_at": to_micros(member.created_at),
        "updated_at": to_micros(member.updated_at),
    }


def _member(row: sqlite3.Row) -> Member:
    return Member(
        project_id=row["project_id"],
        user_id=row["user_id"],
        role=AccountRole(row["role"]),
        password=PasswordHash(salt=row["salt"], digest=row["digest"]),
        is_active=bool(row["is_active"]),
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
    )
