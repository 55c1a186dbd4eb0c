"""The calls about the server and its projects, as opposed to what one project remembers."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from memory_server.client.shapes import (
    MemberDocument,
    NewMember,
    PrincipalDocument,
    ProjectDocument,
    ProjectList,
    Session,
)
from memory_server.client.transport import Transport, having

AUTH = "/api/v1/auth"
PROJECTS = "/api/v1/projects"


class Platform:
    """Logs in, manages projects and their people.

    Raises what `MemoryServerClient` raises. Only reads are ever sent twice: a refresh token ends
    with its use, and a password that was made is told once.
    """

    def __init__(self, wire: Transport, project: str) -> None:
        self._wire = wire
        self._project = project

    async def login(
        self, *, username: str, password: str, project_id: str | None = None
    ) -> Session:
        """Exchange a person's password for tokens."""
        body = _given(username=username, password=password, project_id=project_id)
        answer = await self._wire.call("POST", f"{AUTH}/login", json=body)
        return cast(Session, having(answer, "access_token", "expires_in"))

    async def refresh(self, refresh_token: str) -> Session:
        """Exchange a refresh token, which ends with this, for fresh tokens."""
        body = {"refresh_token": refresh_token}
        answer = await self._wire.call("POST", f"{AUTH}/refresh", json=body)
        return cast(Session, having(answer, "access_token", "expires_in"))

    async def me(self) -> PrincipalDocument:
        """Return who the token speaks for."""
        answer = await self._wire.call("GET", f"{AUTH}/me")
        return cast(PrincipalDocument, having(answer, "kind", "id"))

    async def logout(self) -> None:
        """End the login whose token is shown."""
        await self._wire.call("POST", f"{AUTH}/logout")

    async def create_project(
        self, name: str, *, description: str | None = None, id: str | None = None
    ) -> ProjectDocument:
        """Make a project."""
        body = _given(name=name, description=description, id=id)
        answer = await self._wire.call("POST", PROJECTS, json=body)
        return cast(ProjectDocument, having(answer, "id", "name", "org_id"))

    async def projects(self) -> ProjectList:
        """Return the projects the caller may see."""
        answer = await self._wire.call("GET", PROJECTS)
        return cast(ProjectList, having(answer, "projects"))

    async def project(self) -> ProjectDocument:
        """Return the project."""
        answer = await self._wire.call("GET", self._project)
        return cast(ProjectDocument, having(answer, "id", "name", "org_id"))

    async def update_project(self, changes: Mapping[str, Any]) -> ProjectDocument:
        """Change what `changes` names of the project and leave the rest."""
        answer = await self._wire.call("PATCH", self._project, json=dict(changes))
        return cast(ProjectDocument, having(answer, "id", "name", "org_id"))

    async def delete_project(self) -> None:
        """Remove the project, which has to be empty."""
        await self._wire.call("DELETE", self._project)

    async def members(self) -> Sequence[MemberDocument]:
        """Return the people of the project."""
        answer = await self._wire.call("GET", f"{self._project}/members")
        return cast(Sequence[MemberDocument], having(answer, "members")["members"])

    async def add_member(self, *, user_id: str, role: str) -> NewMember:
        """Make a person a member; a password is told only if and when it is made."""
        body = {"user_id": user_id, "role": role}
        answer = await self._wire.call("POST", f"{self._project}/members", json=body)
        return cast(NewMember, having(answer, "member"))

    async def change_member(self, user_id: str, *, role: str) -> MemberDocument:
        """Give a person another role."""
        answer = await self._wire.call("PATCH", self._member(user_id), json={"role": role})
        return cast(MemberDocument, having(answer, "member")["member"])

    async def remove_member(self, user_id: str) -> None:
        """End a person's membership."""
        await self._wire.call("DELETE", self._member(user_id))

    async def reset_password(self, user_id: str) -> NewMember:
        """Give a person a new password, which is told only now."""
        path = f"{self._member(user_id)}/reset-password"
        answer = await self._wire.call("POST", path)
        return cast(NewMember, having(answer, "member", "password"))

    def _member(self, user_id: str) -> str:
        return f"{self._project}/members/{quote(user_id, safe='')}"


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
