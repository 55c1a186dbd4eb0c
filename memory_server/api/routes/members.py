"""Members of a project; their passwords are made here and told once."""

from fastapi import APIRouter

from memory_server.api.dependencies import NOT_KEPT, Keyholder, ServicesOfApp
from memory_server.api.schemas.members import (
    MemberBody,
    MemberDocument,
    MemberPatch,
    Members,
    MemberWithPassword,
    OneMember,
)

router = APIRouter(prefix="/projects/{project_id}/members", tags=["members"])


@router.post("", status_code=201, dependencies=[NOT_KEPT])
async def add_member(
    body: MemberBody, owner: Keyholder, services: ServicesOfApp
) -> MemberWithPassword:
    """Make somebody a member; their password is told only in this answer."""
    made = await services.members.add(owner.project_id, body.user_id, body.role)
    return MemberWithPassword.of(made)


@router.get("")
async def list_members(owner: Keyholder, services: ServicesOfApp) -> Members:
    """List the project's members."""
    found = await services.members.list(owner.project_id)
    return Members(members=[*map(MemberDocument.of, found)], total=len(found))


@router.get("/{user_id}")
async def read_member(user_id: str, owner: Keyholder, services: ServicesOfApp) -> OneMember:
    """Return one member."""
    member = await services.members.get(owner.project_id, user_id)
    return OneMember(member=MemberDocument.of(member))


@router.patch("/{user_id}")
async def change_member(
    user_id: str, body: MemberPatch, owner: Keyholder, services: ServicesOfApp
) -> OneMember:
    """Change a member's role, or whether they may call; it holds from their next request on."""
    member = await services.members.change(
        owner.project_id, user_id, role=body.role, is_active=body.is_active
    )
    return OneMember(member=MemberDocument.of(member))


@router.post("/{user_id}/reset-password", dependencies=[NOT_KEPT])
async def reset_password(
    user_id: str, owner: Keyholder, services: ServicesOfApp
) -> MemberWithPassword:
    """Give a member a new password; the former one and all their logins end."""
    return MemberWithPassword.of(await services.members.reset_password(owner.project_id, user_id))


@router.delete("/{user_id}", status_code=204)
async def remove_member(user_id: str, owner: Keyholder, services: ServicesOfApp) -> None:
    """Remove a member; their tokens are refused from the next request on."""
    await services.members.remove(owner.project_id, user_id)
