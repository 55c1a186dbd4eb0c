"""Where a deployment's configuration and secrets are kept: files, or the database of servers."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from memory_server.domain.deployment import AppliedConfig, Secret, StoredConfig


class DeploymentRecords(Protocol):
    """Keeps few, small things durably: each is replaced whole or not at all.

    Raises `StorageError` for what cannot be written, and `StorageCorrupt` for what cannot be
    understood; neither says what is inside.
    """

    @abstractmethod
    async def stored(self) -> StoredConfig | None:
        """Return the configuration that was stored last, or None."""
        ...

    @abstractmethod
    async def store(self, config: StoredConfig) -> None:
        """Replace the stored configuration."""
        ...

    @abstractmethod
    async def applied(self) -> AppliedConfig | None:
        """Return the configuration that was applied last, or None."""
        ...

    @abstractmethod
    async def claim(self, by: str, *, now: datetime, until: datetime) -> str | None:
        """Let one server at a time apply, `until` then; return who else has the claim, or None.

        Whoever has it may claim it again.
        """
        ...

    @abstractmethod
    async def let_go(self, by: str) -> None:
        """Give a claim up; nothing happens if it is another's by now."""
        ...

    @abstractmethod
    async def note_applied(self, config: AppliedConfig, *, by: str) -> None:
        """Replace the configuration that every process starts with, and that others follow.

        Raises `ApplyInProgress` if `by` has lost its claim to another.
        """
        ...

    @abstractmethod
    async def secrets(self) -> Mapping[str, Secret]:
        """Return the secrets by name."""
        ...

    @abstractmethod
    async def keep_secrets(self, secrets: Mapping[str, Secret]) -> None:
        """Replace all secrets; raises `SecretNotServed` where none are kept."""
        ...
