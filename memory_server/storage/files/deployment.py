"""Configuration and secrets of a deployment as files.

configuration.stored.json    the `memory:` document of the last PUT, its digest and time
configuration.applied.json   the one the next process starts with
secrets.json                 the project's secrets
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from memory_server.domain.deployment import AppliedConfig, Secret, StoredConfig
from memory_server.ports.deployment import DeploymentRecords
from memory_server.storage.files.documents import damaged, read, write

T = TypeVar("T")

STORED = "configuration.stored.json"
APPLIED = "configuration.applied.json"
SECRETS = "secrets.json"


class DeploymentDirectory(DeploymentRecords):
    """The files in the data directory. One process owns them: whoever holds the store's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def stored(self) -> StoredConfig | None:
        return await asyncio.to_thread(_read, self._path / STORED, _stored)

    async def store(self, config: StoredConfig) -> None:
        await asyncio.to_thread(write, self._path / STORED, _written(config))

    async def applied(self) -> AppliedConfig | None:
        return await asyncio.to_thread(read_applied, self._path)

    async def claim(self, by: str, *, now: datetime, until: datetime) -> str | None:
        return None  # the one process that owns the files applies one configuration at a time

    async def let_go(self, by: str) -> None:
        return

    async def note_applied(self, config: AppliedConfig, *, by: str) -> None:
        document = _written(config) | {"local_models": config.local_models}
        await asyncio.to_thread(write, self._path / APPLIED, document)

    async def secrets(self) -> Mapping[str, Secret]:
        return await asyncio.to_thread(read_secrets, self._path)

    async def keep_secrets(self, secrets: Mapping[str, Secret]) -> None:
        document = {name: _written_secret(secret) for name, secret in secrets.items()}
        await asyncio.to_thread(write, self._path / SECRETS, document)


def read_applied(directory: Path) -> AppliedConfig | None:
    """Return what a process in that directory starts with; blocks."""
    return _read(directory / APPLIED, _applied)


def read_secrets(directory: Path) -> Mapping[str, Secret]:
    """Return the secrets kept in that directory; blocks."""
    return _read(directory / SECRETS, _secrets) or {}


def _read(path: Path, understand: Callable[[Mapping[str, Any]], T]) -> T | None:
    document = read(path)
    if document is None:
        return None
    try:
        return understand(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        # Without the cause: its text could hold a part of the content.
        raise damaged(path) from None


def _stored(document: Mapping[str, Any]) -> StoredConfig:
    return StoredConfig(
        document=dict(document["memory"]),
        digest=str(document["digest"]),
        at=datetime.fromisoformat(document["at"]),
    )


def _applied(document: Mapping[str, Any]) -> AppliedConfig:
    stored = _stored(document)
    return AppliedConfig(
        document=stored.document,
        digest=stored.digest,
        at=stored.at,
        local_models=bool(document["local_models"]),
    )


def _written(config: StoredConfig | AppliedConfig) -> dict[str, Any]:
    return {
        "digest": config.digest,
        "at": config.at.isoformat(),
        "memory": dict(config.document),
    }


def _secrets(document: Mapping[str, Any]) -> Mapping[str, Secret]:
    return {name: _secret(name, kept) for name, kept in document.items()}


def _secret(name: str, kept: Mapping[str, Any]) -> Secret:
    return Secret(
        name=name,
        value=str(kept["value"]),
        description=str(kept["description"]),
        version=int(kept["version"]),
        created_at=datetime.fromisoformat(kept["created_at"]),
        updated_at=datetime.fromisoformat(kept["updated_at"]),
    )


def _written_secret(secret: Secret) -> dict[str, Any]:
    return {
        "value": secret.value,
        "description": secret.description,
        "version": secret.version,
        "created_at": secret.created_at.isoformat(),
        "updated_at": secret.updated_at.isoformat(),
    }
