"""Where service accounts are kept."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.account import ServiceAccount


class Accounts(Protocol):
    """Keeps service accounts."""

    @abstractmethod
    async def add(self, account: ServiceAccount) -> None:
        """Store a new account; raise `DuplicateName` if the project has one of that name.

        The organization's accounts, those with no project, have names of their own.
        """
        ...

    @abstractmethod
    async def find(self, client_id: str) -> ServiceAccount | None:
        """Return the account with that client id, or None."""
        ...

    @abstractmethod
    async def list(self, project_id: str | None) -> Sequence[ServiceAccount]:
        """Return the accounts of a project, or of the organization, in order of creation."""
        ...

    @abstractmethod
    async def put(self, account: ServiceAccount, *, expected_updated_at: datetime) -> None:
        """Store the changed account, or raise `AccountNotFound`.

        Raises `VersionConflict` unless the stored `updated_at` is the expected one. When it was
        used last never goes back.
        """
        ...

    @abstractmethod
    async def touch(self, client_id: str, at: datetime) -> None:
        """Note that the account was used at a moment, and nothing else; none: do nothing."""
        ...

    @abstractmethod
    async def delete(self, client_id: str) -> None:
        """Remove the account for good, or raise `AccountNotFound`."""
        ...
