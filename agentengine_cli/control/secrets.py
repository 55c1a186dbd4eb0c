"""The project's secrets, as `agentengine secret` keeps them: secrets.json, mode 0600."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import StateDamaged, read_json, write_json
from agentengine_cli.control.state import StateDirectory
from agentengine_cli.errors import CliError

NAME = re.compile(r"[A-Z][A-Z0-9_]{0,127}")
RESERVED_PREFIX = "AGENTIC_PLATFORM_"
RESERVED_NAMES = frozenset(
    {"RUNNER_MODE", "APP_ID", "ORG_ID", "GROUP_ID", "AER_ENDPOINT", "TOOL_ENDPOINT"}
)
LIMIT_PER_SCOPE = 100


class InvalidSecretName(CliError):
    """A secret cannot have that name."""


class SecretNotFound(CliError):
    """No secret has that name in that scope."""


class ResourceLimitExceeded(CliError):
    """The scope holds as many secrets as it may."""


class SecretScope(StrEnum):
    """Who reads a secret. The memory server reads the project's only."""

    PROJECT = "project"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One secret; its value never appears in a representation."""

    name: str
    value: str = field(repr=False)
    description: str = ""
    version: int = 1
    created_at: str
    updated_at: str

    def public(self) -> dict[str, Any]:
        """Return everything but the value."""
        return {name: value for name, value in asdict(self).items() if name != "value"}


def check_form(name: str) -> None:
    """Raise `InvalidSecretName`, which does not say the name, unless it has a name's form."""
    if not NAME.fullmatch(name):
        raise InvalidSecretName(
            "That is not a secret's NAME (not shown, in case it is a value): capital letters, "
            "digits and underscores, a letter first, 128 at most",
            hint="Use: agentengine secret set OPENAI_API_KEY",
        )


def check_name(name: str) -> None:
    """Raise `InvalidSecretName` unless a secret may have that name."""
    check_form(name)
    if name in RESERVED_NAMES or name.startswith(RESERVED_PREFIX):
        raise InvalidSecretName(f"{name} is reserved for the platform", hint="Use another name")


class SecretStore:
    """Reads and changes the secrets of one project."""

    def __init__(self, state: StateDirectory, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    def set(
        self, values: Mapping[str, str], *, scope: SecretScope, description: str | None = None
    ) -> Sequence[Secret]:
        """Create or replace secrets, all or none; each gets the next version."""
        for name in values:
            check_name(name)
        with self._state.editing("secrets", self._clock):
            everything = self._read()
            kept = everything[scope]
            changed = [
                self._next(kept.get(name), name, values[name], description) for name in values
            ]
            kept.update({secret.name: secret for secret in changed})
            if len(kept) > LIMIT_PER_SCOPE:
                raise ResourceLimitExceeded(
                    f"RESOURCE_LIMIT_EXCEEDED: the {scope} scope holds {LIMIT_PER_SCOPE} secrets "
                    "at most",
                    hint="Delete one first: agentengine secret delete NAME",
                )
            self._write(everything)
        return changed

    def list(self, scope: SecretScope) -> Sequence[Secret]:
        """Return the scope's secrets by name."""
        return sorted(self._read()[scope].values(), key=lambda secret: secret.name)

    def delete(self, name: str, *, scope: SecretScope) -> None:
        """Remove one; reserved names may be removed too."""
        with self._state.editing("secrets", self._clock):
            everything = self._read()
            if everything[scope].pop(name, None) is None:
                raise SecretNotFound(
                    f"The {scope} scope has no secret named {name}",
                    hint="See them with: agentengine secret list",
                )
            self._write(everything)

    def values(self) -> dict[str, str]:
        """Return what the memory server may read: the project's secrets."""
        return {secret.name: secret.value for secret in self._read()[SecretScope.PROJECT].values()}

    @property
    def _path(self) -> Path:
        return self._state.path / "secrets.json"

    def _next(
        self, previous: Secret | None, name: str, value: str, description: str | None
    ) -> Secret:
        now = self._clock.now().isoformat(timespec="seconds")
        return Secret(
            name=name,
            value=value,
            description=description or (previous.description if previous else ""),
            version=previous.version + 1 if previous else 1,
            created_at=previous.created_at if previous else now,
            updated_at=now,
        )

    def _read(self) -> dict[SecretScope, dict[str, Secret]]:
        document = read_json(self._path) or {}
        try:
            return {
                scope: {name: Secret(**fields) for name, fields in document.get(scope, {}).items()}
                for scope in SecretScope
            }
        except (TypeError, AttributeError):
            # Without the cause: its text could hold a value.
            raise StateDamaged(
                f"Cannot read {self._path}: it is not what `secret set` writes",
                hint="Delete it and set the secrets again",
            ) from None

    def _write(self, everything: Mapping[SecretScope, Mapping[str, Secret]]) -> None:
        write_json(
            self._path,
            {
                scope: {name: asdict(secret) for name, secret in kept.items()}
                for scope, kept in everything.items()
            },
        )
