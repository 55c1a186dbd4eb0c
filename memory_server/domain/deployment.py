"""What a deployment is configured with: the stored document, the applied one, and secrets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_server.domain.limits import MAX_SECRET_CHARACTERS
from memory_server.settings import SECRET_NAMES, ConfigSource

SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,127}")
RESERVED_PREFIX = "AGENTIC_PLATFORM_"
RESERVED_NAMES = frozenset(
    {"RUNNER_MODE", "APP_ID", "ORG_ID", "GROUP_ID", "AER_ENDPOINT", "TOOL_ENDPOINT"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConfig:
    """The configuration that waits to be applied, or was."""

    document: Mapping[str, Any]
    """The `memory:` mapping, valid when it was stored."""
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedConfig:
    """The configuration that a process starts with."""

    document: Mapping[str, Any]
    digest: str
    at: datetime
    local_models: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningConfig:
    """The configuration that the services run."""

    document: Mapping[str, Any]
    digest: str
    since: datetime
    source: ConfigSource
    local_models: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One secret; its value never appears in a representation."""

    name: str
    value: str = field(repr=False)
    description: str
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """What the caller of an apply asked for."""

    dry_run: bool = False
    force: bool = False
    """Replace the services though nothing changed."""
    local_models: bool = False
    """Let the built-in models stand in for the configured providers."""
    reembed: bool = False
    """Have every vector made anew if the embedding model is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What an apply did, or, in a dry run, would do."""

    applied: bool
    """Whether new services took over."""
    digest: str
    changes: Sequence[str] = ()
    """Why they were replaced; empty: there was nothing to do."""
    warnings: Sequence[str] = ()


def why_no_secret_name(name: str) -> str | None:
    """Return why a secret cannot have that name, without saying the name if it may be a value."""
    if not SECRET_NAME.fullmatch(name):
        return (
            "that is not a secret's name (not shown, in case it is a value): capital letters, "
            "digits and underscores, a letter first, 128 at most"
        )
    if name in RESERVED_NAMES or name.startswith(RESERVED_PREFIX):
        return f"{name} is reserved for the platform: use another name"
    return None


def why_no_secret_value(value: str) -> str | None:
    """Return why a secret cannot have that value, without saying it."""
    if not value.strip():
        return "value: is blank; delete the secret to do without it"
    if len(value) > MAX_SECRET_CHARACTERS:
        return f"value: has more than {MAX_SECRET_CHARACTERS} characters"
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return "value: holds a character that no key has"
    return None


def keys_of(secrets: Mapping[str, Secret], environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the provider keys among the secrets, then those of the environment."""
    kept = {name: secrets[name].value.strip() for name in SECRET_NAMES if name in secrets}
    return {**environment, **kept}
