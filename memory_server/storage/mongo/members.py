"""People and their logins in MongoDB."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from memory_server.domain.account import AccountRole, SecretHash
from memory_server.domain.member import Login, Member, PasswordHash
from memory_server.domain.moments import from_micros, to_micros
from memory_server.errors import DuplicateName, MemberNotFound, VersionConflict
from memory_server.ports.members import Members
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import LOGINS, MEMBERS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, secret_document, secret_of


class MongoMembers(Members):
    """Members by project and user id; logins by id."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def add(self, member: Member) -> None:
        async def add(session: Session) -> None:
            await gates.enter(
                self._database, session, member.project_id, member.user_id, member.created_at
            )
            document = _document(member) | {"added": ObjectId(), "logins_begun": 0}
            try:
                await self._database[MEMBERS].insert_one(document, session=session)
            except DuplicateKeyError:
                raise DuplicateName(
                    f"{member.user_id!r} is a member of {member.project_id!r} already"
                ) from None

        await self._database.transact(add)

    async def find(self, project_id: str, user_id: str) -> Member | None:
        with self._database.translated():
            found = await self._database[MEMBERS].find_one({"_id": _who(project_id, user_id)})
        return None if found is None else _member(found)

    async def named(self, user_id: str) -> Sequence[Member]:
        return await self._members({"user_id": user_id}, "project_id")

    async def list(self, project_id: str) -> Sequence[Member]:
        return await self._members({"project_id": project_id}, "created_at", "added")

    async def put(
        self, member: Member, *, expected_updated_at: datetime, ends_logins: bool = False
    ) -> None:
        document = _document(member)
        who = document.pop("_id")

        async def put(session: Session) -> None:
            stored = await self._existing(session, member.project_id, member.user_id)
            if stored.updated_at != expected_updated_at:
                raise VersionConflict(
                    f"member {member.user_id!r} was changed meanwhile; read it again"
                )
            await self._database[MEMBERS].update_one(
                {"_id": who}, {"$set": document}, session=session
            )
            if ends_logins:
                await self._end_all(session, who)

        await self._database.transact(put)

    async def remove(self, project_id: str, user_id: str) -> None:
        who = _who(project_id, user_id)

        async def remove(session: Session) -> None:
            await self._existing(session, project_id, user_id)
            await self._end_all(session, who)
            await self._database[MEMBERS].delete_one({"_id": who}, session=session)

        await self._database.transact(remove)

    async def begin(self, login: Login, *, of: Member, now: datetime, most: int) -> None:
        who = _who(login.project_id, login.user_id)

        async def begin(session: Session) -> None:
            if await self._existing(session, login.project_id, login.user_id) != of:
                raise VersionConflict(f"member {of.user_id!r} was changed meanwhile; try again")
            # To write the member keeps a change of them, or a second login, from happening unseen.
            await self._database[MEMBERS].update_one(
                {"_id": who}, {"$inc": {"logins_begun": 1}}, session=session
            )
            await self._make_room(session, who, now=to_micros(now), most=most - 1)
            await self._database[LOGINS].insert_one(
                {
                    "_id": login.id,
                    "member": who,
                    "project_id": login.project_id,
                    "user_id": login.user_id,
                    "refresh": secret_document(login.refresh),
                    "created_at": to_micros(login.created_at),
                    "added": ObjectId(),
                },
                session=session,
            )

        await self._database.transact(begin)

    async def login(self, login_id: str) -> tuple[Login, Member] | None:
        steps = [
            {"$match": {"_id": login_id}},
            {
                "$lookup": {
                    "from": MEMBERS,
                    "localField": "member",
                    "foreignField": "_id",
                    "as": "members",
                }
            },
        ]
        with self._database.translated():
            found = await (await self._database[LOGINS].aggregate(steps)).to_list()
        if not found or not found[0]["members"]:
            return None
        return _login(found[0]), _member(found[0]["members"][0])

    async def renew(self, login_id: str, *, former: SecretHash, refresh: SecretHash) -> bool:
        which = {
            "_id": login_id,
            "refresh.salt": former.salt,
            "refresh.digest": former.digest,
        }
        new = {"$set": {"refresh": secret_document(refresh)}}
        with self._database.translated():
            return (await self._database[LOGINS].update_one(which, new)).matched_count == 1

    async def end(self, login_id: str) -> None:
        with self._database.translated():
            await self._database[LOGINS].delete_one({"_id": login_id})

    async def _members(self, which: Document, *order: str) -> Sequence[Member]:
        with self._database.translated():
            found = self._database[MEMBERS].find(which).sort([(field, 1) for field in order])
            return [_member(one) async for one in found]

    async def _existing(self, session: Session, project_id: str, user_id: str) -> Member:
        who = {"_id": _who(project_id, user_id)}
        found = await self._database[MEMBERS].find_one(who, session=session)
        if found is None:
            raise MemberNotFound(f"project {project_id!r} has no member {user_id!r}")
        return _member(found)

    async def _end_all(self, session: Session, who: Document) -> None:
        await self._database[LOGINS].delete_many({"member": who}, session=session)

    async def _make_room(self, session: Session, who: Document, *, now: int, most: int) -> None:
        logins = self._database[LOGINS].find({"member": who}, session=session)
        found = await logins.sort([("created_at", -1), ("added", -1)]).to_list()
        gone = [
            login["_id"]
            for place, login in enumerate(found)
            if place >= most or login["refresh"]["expires_at"] <= now
        ]
        if gone:
            await self._database[LOGINS].delete_many({"_id": {"$in": gone}}, session=session)


def _who(project_id: str, user_id: str) -> Document:
    return {"project_id": project_id, "user_id": user_id}


def _document(member: Member) -> Document:
    return {
        "_id": _who(member.project_id, member.user_id),
        "project_id": member.project_id,
        "user_id": member.user_id,
        "role": member.role.value,
        "password": {"salt": member.password.salt, "digest": member.password.digest},
        "is_active": member.is_active,
        "created_at": to_micros(member.created_at),
        "updated_at": to_micros(member.updated_at),
    }


def _member(document: Mapping[str, Any]) -> Member:
    return Member(
        project_id=document["project_id"],
        user_id=document["user_id"],
        role=AccountRole(document["role"]),
        password=PasswordHash(**document["password"]),
        is_active=document["is_active"],
        created_at=from_micros(document["created_at"]),
        updated_at=from_micros(document["updated_at"]),
    )


def _login(document: Mapping[str, Any]) -> Login:
    return Login(
        id=document["_id"],
        project_id=document["project_id"],
        user_id=document["user_id"],
        refresh=secret_of(document["refresh"]),
        created_at=from_micros(document["created_at"]),
    )
