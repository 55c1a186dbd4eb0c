"""Where people and their logins are kept."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.account import SecretHash
from memory_server.domain.member import Login, Member


class Members(Protocol):
    """Keeps the members of projects and what they have logged in."""

    @abstractmethod
    async def add(self, member: Member) -> None:
        """Store a new member; raise `DuplicateName` if the project has one of that user id."""
        ...

    @abstractmethod
    async def find(self, project_id: str, user_id: str) -> Member | None:
        """Return one member, or None."""
        ...

    @abstractmethod
    async def named(self, user_id: str) -> Sequence[Member]:
        """Return the members of that user id in all projects."""
        ...

    @abstractmethod
    async def list(self, project_id: str) -> Sequence[Member]:
        """Return a project's members in the order of their creation."""
        ...

    @abstractmethod
    async def put(
        self, member: Member, *, expected_updated_at: datetime, ends_logins: bool = False
    ) -> None:
        """Store the changed member, or raise `MemberNotFound`; with `ends_logins` all logins end.

        Raises `VersionConflict` unless the stored `updated_at` is the expected one.
        """
        ...

    @abstractmethod
    async def remove(self, project_id: str, user_id: str) -> None:
        """Remove a member with all logins, or raise `MemberNotFound`."""
        ...

    @abstractmethod
    async def begin(self, login: Login, *, of: Member, now: datetime, most: int) -> None:
        """Store a login of a member; raise `MemberNotFound` if they are gone.

        Raises `VersionConflict` unless the member is stored as given: with another password or
        not active any more, they are not to be logged in. The member's logins that are over by
        `now` go, and the oldest beyond `most`.
        """
        ...

    @abstractmethod
    async def login(self, login_id: str) -> tuple[Login, Member] | None:
        """Return a login with its member, or None if either is gone."""
        ...

    @abstractmethod
    async def renew(self, login_id: str, *, former: SecretHash, refresh: SecretHash) -> bool:
        """Replace a login's refresh token if it is still the former one; return whether it was."""
        ...

    @abstractmethod
    async def end(self, login_id: str) -> None:
        """Remove a login; none: do nothing."""
        ...
