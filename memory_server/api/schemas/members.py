"""Members of a project on the wire."""

from typing import Annotated

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, Flag
from memory_server.domain.account import AccountRole
from memory_server.domain.limits import MAX_ID
from memory_server.domain.member import Member
from memory_server.services.members import NewPassword

_NO = r"\s/\\?#%\x00-\x1f\x7f"
UserName = Annotated[str, Field(max_length=MAX_ID, pattern=rf"^[^.{_NO}][^{_NO}]*$")]
"""A user id that can stand in a path."""


class MemberBody(Body):
    """Somebody who is to be a member."""

    user_id: UserName
    """The user name, and whose memory it is."""
    role: AccountRole


class MemberPatch(Body):
    """What is to be different; null leaves it alone."""

    role: AccountRole | None = None
    is_active: Flag | None = None
    """False: the member is refused from the next request on, and all logins end."""


class MemberDocument(Answer):
    """A member; never the password."""

    user_id: str
    role: AccountRole
    is_active: bool
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, member: Member) -> "MemberDocument":
        """Return a member as it travels."""
        return cls(
            user_id=member.user_id,
            role=member.role,
            is_active=member.is_active,
            created_at=member.created_at.isoformat(),
            updated_at=member.updated_at.isoformat(),
        )


class Members(Answer):
    """The project's members, the oldest first."""

    members: list[MemberDocument]
    total: int


class OneMember(Answer):
    """One member."""

    member: MemberDocument


class MemberWithPassword(OneMember):
    """A member and their new password, which is told only now."""

    password: str = Field(repr=False)

    @classmethod
    def of(cls, made: NewPassword) -> "MemberWithPassword":
        """Return a new password as it travels."""
        return cls(member=MemberDocument.of(made.member), password=made.password)
