"""The project's secrets: set and removed over HTTP, read only by what needs them."""

import asyncio
from collections.abc import Mapping, Sequence

from memory_server.domain.deployment import (
    Secret,
    keys_of,
    why_no_secret_name,
    why_no_secret_value,
)
from memory_server.domain.limits import MAX_SECRETS
from memory_server.errors import InvalidSecret, SecretNotFound, TooManySecrets
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords


class Secrets:
    """Keeps the secrets of the deployment's own project."""

    def __init__(self, *, records: DeploymentRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._editing = asyncio.Lock()

    async def list(self) -> Sequence[Secret]:
        """Return the secrets by name."""
        secrets = await self._records.secrets()
        return [secrets[name] for name in sorted(secrets)]

    async def put(self, name: str, value: str, *, description: str | None = None) -> Secret:
        """Create or replace a secret; without a description the former one stays."""
        problem = why_no_secret_name(name) or why_no_secret_value(value)
        if problem is not None:
            raise InvalidSecret(problem)
        async with self._editing:
            secrets = dict(await self._records.secrets())
            if name not in secrets and len(secrets) >= MAX_SECRETS:
                raise TooManySecrets(
                    f"the project holds {MAX_SECRETS} secrets, which is the most; delete one first"
                )
            secret = self._next(secrets.get(name), name, value, description)
            await self._records.keep_secrets({**secrets, name: secret})
        return secret

    async def delete(self, name: str) -> None:
        """Remove a secret, or raise `SecretNotFound`; reserved names may be removed too."""
        async with self._editing:
            secrets = dict(await self._records.secrets())
            if secrets.pop(name, None) is None:
                raise SecretNotFound("the project has no secret of that name")
            await self._records.keep_secrets(secrets)

    async def given(self, environment: Mapping[str, str]) -> Mapping[str, str]:
        """Return the provider keys for new services: a secret goes before the environment."""
        return keys_of(await self._records.secrets(), environment)

    def _next(
        self, former: Secret | None, name: str, value: str, description: str | None
    ) -> Secret:
        now = self._clock.now()
        kept = former.description if former else ""
        return Secret(
            name=name,
            value=value,
            description=kept if description is None else description,
            version=former.version + 1 if former else 1,
            created_at=former.created_at if former else now,
            updated_at=now,
        )
