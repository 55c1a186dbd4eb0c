"""Service accounts in MongoDB."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from memory_server.domain.account import AccountRole, ServiceAccount
from memory_server.domain.moments import from_micros, maybe_micros, maybe_moment, to_micros
from memory_server.errors import AccountNotFound, DuplicateName, VersionConflict
from memory_server.ports.accounts import Accounts
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import ACCOUNTS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, secret_document, secret_of


class MongoAccounts(Accounts):
    """Accounts by client id; names are unique in a project."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def add(self, account: ServiceAccount) -> None:
        async def add(session: Session) -> None:
            if account.project_id is not None:
                await gates.enter(
                    self._database,
                    session,
                    account.project_id,
                    account.client_id,
                    account.created_at,
                )
            document = _document(account) | {"added": ObjectId()}
            try:
                await self._database[ACCOUNTS].insert_one(document, session=session)
            except DuplicateKeyError:
                raise _name_taken(account) from None

        await self._database.transact(add)

    async def find(self, client_id: str) -> ServiceAccount | None:
        with self._database.translated():
            found = await self._database[ACCOUNTS].find_one({"_id": client_id})
        return None if found is None else _account(found)

    async def list(self, project_id: str | None) -> Sequence[ServiceAccount]:
        with self._database.translated():
            found = self._database[ACCOUNTS].find({"project_id": project_id})
            return [_account(one) async for one in found.sort({"created_at": 1, "added": 1})]

    async def put(self, account: ServiceAccount, *, expected_updated_at: datetime) -> None:
        document = _document(account)
        used = document.pop("last_used_at")
        which = {"_id": document.pop("_id"), "project_id": document.pop("project_id")}
        change: Document = {"$set": document}
        if used is not None:
            change["$max"] = {"last_used_at": used}
        expected = {**which, "updated_at": to_micros(expected_updated_at)}
        with self._database.translated():
            try:
                done = await self._database[ACCOUNTS].update_one(expected, change)
            except DuplicateKeyError:
                raise _name_taken(account) from None
            if not done.matched_count:
                await self._explain(which)

    async def touch(self, client_id: str, at: datetime) -> None:
        used = {"$max": {"last_used_at": to_micros(at)}}
        with self._database.translated():
            await self._database[ACCOUNTS].update_one({"_id": client_id}, used)

    async def delete(self, client_id: str) -> None:
        with self._database.translated():
            gone = await self._database[ACCOUNTS].delete_one({"_id": client_id})
        if not gone.deleted_count:
            raise AccountNotFound(f"no service account has the client id {client_id!r}")

    async def _explain(self, which: Document) -> None:
        client_id = which["_id"]
        if await self._database[ACCOUNTS].find_one(which) is None:
            raise AccountNotFound(f"no service account has the client id {client_id!r}")
        raise VersionConflict(f"service account {client_id!r} was changed meanwhile; read it again")


def _name_taken(account: ServiceAccount) -> DuplicateName:
    return DuplicateName(f"a service account {account.name!r} exists here already")


def _document(account: ServiceAccount) -> Document:
    return {
        "_id": account.client_id,
        "project_id": account.project_id,
        "name": account.name,
        "role": account.role.value,
        "description": account.description,
        "secrets": [secret_document(secret) for secret in account.secrets],
        "ip_access_list": [*account.ip_access_list],
        "is_active": account.is_active,
        "created_at": to_micros(account.created_at),
        "updated_at": to_micros(account.updated_at),
        "last_used_at": maybe_micros(account.last_used_at),
    }


def _account(document: Mapping[str, Any]) -> ServiceAccount:
    return ServiceAccount(
        client_id=document["_id"],
        project_id=document["project_id"],
        name=document["name"],
        role=AccountRole(document["role"]),
        description=document["description"],
        secrets=tuple(secret_of(secret) for secret in document["secrets"]),
        ip_access_list=tuple(document["ip_access_list"]),
        is_active=document["is_active"],
        created_at=from_micros(document["created_at"]),
        updated_at=from_micros(document["updated_at"]),
        last_used_at=maybe_moment(document["last_used_at"]),
    )
