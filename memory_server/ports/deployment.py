"""Where a deployment's configuration and secrets are kept, beside its store."""

from abc import abstractmethod
from collections.abc import Mapping
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
    async def note_applied(self, config: AppliedConfig) -> None:
        """Replace the configuration that the next process starts with."""
        ...

    @abstractmethod
    async def secrets(self) -> Mapping[str, Secret]:
        """Return the secrets by name."""
        ...

    @abstractmethod
    async def keep_secrets(self, secrets: Mapping[str, Secret]) -> None:
        """Replace all secrets."""
        ...
