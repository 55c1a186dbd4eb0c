"""What a process starts with: the environment, and what was configured over HTTP."""

from dataclasses import replace
from pathlib import Path

from memory_server import project_config
from memory_server.domain.deployment import AppliedConfig, keys_of
from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import MemoryConfig
from memory_server.settings import ConfigSource, Settings
from memory_server.storage.files.deployment import APPLIED, read_applied, read_secrets


def in_effect(settings: Settings) -> Settings:
    """Return the environment's settings with what was configured over HTTP."""
    if settings.source is ConfigSource.DELIVERED:
        return settings
    keys = keys_of(read_secrets(settings.data_dir), settings.secrets)
    applied = read_applied(settings.data_dir)
    if applied is None:
        return replace(settings, secrets=keys)
    return replace(
        settings,
        memory=_still_valid(applied, settings.data_dir),
        document=applied.document,
        config_digest=applied.digest,
        source=ConfigSource.APPLIED,
        local_models=settings.local_models or applied.local_models,
        secrets=keys,
    )


def _still_valid(applied: AppliedConfig, directory: Path) -> MemoryConfig:
    """Return a configuration that was valid when it was applied; a later version may refuse it."""
    try:
        return project_config.parse(applied.document)
    except InvalidProjectConfig as error:
        raise InvalidProjectConfig(
            f"{directory / APPLIED} is not valid any more; delete it to start with what is built "
            f"in, and configure the server anew: {error}",
            **error.details,
        ) from error
