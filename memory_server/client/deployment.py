"""The client's part for whoever runs the server: configuration, apply, state, secrets."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast
from urllib.parse import quote

from memory_server.client.transport import Transport, having

ADMIN = "/api/v1/admin"
APPLY_SECONDS = 300.0
"""How long an apply is waited for: models are loaded before anything is switched."""


class StoredDocument(TypedDict):
    """The configuration that was stored last."""

    digest: str
    stored_at: str
    memory: Mapping[str, Any]


class RunningDocument(TypedDict):
    """The configuration that runs."""

    digest: str
    since: str
    """When the services that run it began to serve."""
    memory: Mapping[str, Any]
    source: str
    """`applied` (stored here and applied), `delivered` (by whoever started it) or `built_in`."""
    local_models: bool
    """Whether the built-in models stand in for the configured providers."""


class ConfigDocument(TypedDict):
    """What is stored and what runs."""

    stored: StoredDocument | None
    running: RunningDocument
    pending: bool
    """Whether an apply would put something else into effect."""
    warnings: Sequence[str]


class ConfigStored(TypedDict):
    """The receipt for a configuration."""

    digest: str
    stored_at: str
    pending: bool
    changes: Sequence[str]
    """One line a changed key, against what was stored before, or else against what runs."""
    warnings: Sequence[str]


class Applied(TypedDict):
    """What an apply did, or, in a dry run, would do."""

    applied: bool
    """Whether new services took over."""
    digest: str
    """Of the configuration that the services run; in a dry run, would run."""
    changes: Sequence[str]
    """Why they were replaced, one line each; empty: nothing was to be done."""
    warnings: Sequence[str]


class RuntimeConfig(TypedDict):
    """Which configuration is stored and which one runs, without the documents."""

    stored: Mapping[str, str] | None
    """`digest`, `at`."""
    running: Mapping[str, str]
    """`digest`, `at`, `source`."""
    pending: bool
    applied_at: str | None
    """When a configuration was applied last; None: none ever was."""


class RuntimeDocument(TypedDict):
    """How the server is."""

    state: str
    """ready, starting or blocked."""
    blocked_on: Sequence[str]
    config: RuntimeConfig
    apply: Mapping[str, Any]
    """`running`, and of the last one `outcome`, `at` and `error`."""
    version: str
    project_id: str
    local_models: bool
    providers: Mapping[str, Mapping[str, Any]]
    index: Mapping[str, Any]
    store: Mapping[str, Any]
    worker: Mapping[str, Any]
    reembedding: Mapping[str, Any]
    projects: Sequence[str]
    queue: Mapping[str, Any]
    servers: NotRequired[Sequence[Mapping[str, Any]]]
    """Those at work on the store: `name`, `role`, `state`, `config_digest`, `problem`."""
    warnings: Sequence[str]


class SecretDocument(TypedDict):
    """A secret; its value never travels back."""

    name: str
    description: str
    version: int
    created_at: str
    updated_at: str
    warnings: NotRequired[Sequence[str]]
    """In the receipt only: what is to be known about it."""


class DeploymentClient:
    """Configures and applies over HTTP; see `MemoryServerClient` for what the methods raise.

    Only reads are repeated when the connection fails.
    """

    def __init__(self, wire: Transport, project: str) -> None:
        self._wire = wire
        self._secrets = f"{project}/secrets"

    async def config(self) -> ConfigDocument:
        """Return the stored and the running configuration."""
        answer = await self._wire.call("GET", f"{ADMIN}/config")
        return cast(ConfigDocument, having(answer, "running", "pending"))

    async def put_config(self, memory: Mapping[str, Any]) -> ConfigStored:
        """Store a `memory:` mapping for the next apply.

        Raises `InvalidProjectConfig` with every problem in `details["errors"]`.
        """
        body = {"memory": memory}
        answer = await self._wire.call("PUT", f"{ADMIN}/config", idempotent=True, json=body)
        return cast(ConfigStored, having(answer, "digest", "pending"))

    async def apply(
        self,
        *,
        dry_run: bool = False,
        force: bool = False,
        local_models: bool = False,
        reembed: bool = False,
        seconds: float = APPLY_SECONDS,
    ) -> Applied:
        """Put the stored configuration into effect; returns once it is, and is ready.

        With `reembed`, it may have another embedding model: all vectors are then made anew, in
        the background.
        """
        body = {"dry_run": dry_run, "force": force, "local_models": local_models}
        body |= {"reembed": True} if reembed else {}
        answer = await self._wire.call("POST", f"{ADMIN}/apply", json=body, timeout=seconds)
        return cast(Applied, having(answer, "applied", "changes"))

    async def reembed(self, *, seconds: float = APPLY_SECONDS) -> Applied:
        """Have all vectors made anew if they are not of the configured embedding model.

        Or give up what is being made of another one. Returns once it has begun.
        """
        answer = await self._wire.call("POST", f"{ADMIN}/reembedding", timeout=seconds)
        return cast(Applied, having(answer, "applied", "changes"))

    async def runtime(self) -> RuntimeDocument:
        """Return how the server is, whether ready or not."""
        answer = await self._wire.call("GET", f"{ADMIN}/runtime")
        return cast(RuntimeDocument, having(answer, "state", "config"))

    async def secrets(self) -> Sequence[SecretDocument]:
        """Return the project's secrets by name, without their values."""
        answer = await self._wire.call("GET", self._secrets)
        return cast(Sequence[SecretDocument], having(answer, "secrets")["secrets"])

    async def put_secret(
        self, name: str, value: str, *, description: str | None = None
    ) -> SecretDocument:
        """Set a secret; the models are given it by the next apply."""
        body = {"value": value} | ({} if description is None else {"description": description})
        answer = await self._wire.call("PUT", self._secret(name), json=body)
        return cast(SecretDocument, having(answer, "name", "version"))

    async def delete_secret(self, name: str) -> None:
        """Remove a secret."""
        await self._wire.call("DELETE", self._secret(name))

    def _secret(self, name: str) -> str:
        return f"{self._secrets}/{quote(name, safe='')}"
