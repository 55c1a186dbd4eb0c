"""What the process is told by its environment, read once at start."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from memory_server import project_config
from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import EmbeddingConfig, MemoryConfig, connection_strings

LOCAL_EMBEDDING = EmbeddingConfig(provider="local", model="bge-small-en-v1.5", dimension=384)
"""The built-in model that stands in for the configured one."""


class ConfigSource(StrEnum):
    """Where the memory configuration came from."""

    DELIVERED = "delivered"
    """Whoever started the process gave it; nothing else can be applied then."""
    APPLIED = "applied"
    """It was stored with this server and applied."""
    BUILT_IN = "built_in"
    """Nobody gave one: the built-in models and every type."""


class ServerRole(StrEnum):
    """What a server does."""

    ALL = "all"
    """It answers requests and does background work."""
    API = "api"
    """It answers requests; others promote and extract."""
    WORKER = "worker"
    """It promotes and extracts, and answers only how it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoSettings:
    """A MongoDB deployment and the database in it."""

    uri: str = field(repr=False)
    """A secret: it may hold a password. `MONGODB_URI`."""
    base: str | None
    """What the database's name begins with: `MONGOMEM_DB_NAME`. None: the default."""
    project_id: str
    """What it ends with; empty where no project was named from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the memory server takes from outside."""

    data_dir: Path
    project_id: str
    org_id: str
    memory: MemoryConfig
    config_digest: str | None
    """Digest of the delivered configuration, echoed by readiness."""
    local_models: bool
    """Whether the built-in models stand in for the configured providers."""
    owner_token_file: Path | None
    secrets: Mapping[str, str] = field(repr=False)
    """Provider keys by name. Never logged."""
    mongodb: MongoSettings | None = None
    """The deployment that holds the store; None: SQLite in the data directory."""
    custom_memory_types: bool = True
    """Whether the types that projects declare are served: `AGENTENGINE_CUSTOM_MEMORY_TYPES`."""
    writes_a_second: float | None = None
    """Of one user: `AGENTENGINE_RATE_LIMIT`. None: the default; 0: no limit."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages that may use MCP beside those of this machine: `AGENTENGINE_ALLOWED_ORIGINS`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies that say truly whom they pass on, and whether there are
    any: `AGENTENGINE_TRUSTED_PROXIES`. With one, nobody is let in without a token."""
    instance_id: str | None
    """Given by whoever started the process, echoed by readiness: tells this process from another
    on the same port."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The `memory:` mapping that `memory` was read from."""
    source: ConfigSource = ConfigSource.BUILT_IN
    agent_file: Path | None = None
    """Describes the agent of the user's own: `AGENTENGINE_AGENT`. None: the built-in agent."""
    index_memory_bytes: int = 256 * 2**20
    """The most that vectors take in memory; others are read from the disk as they are needed:
    `AGENTENGINE_INDEX_MEMORY_MB`."""
    invoke_seconds: float = 600.0
    """How long one invocation may take: `AGENTENGINE_INVOKE_SECONDS`."""
    role: ServerRole = ServerRole.ALL
    """`AGENTENGINE_ROLE`."""
    workers: int = 1
    """How many server processes share the port: `AGENTENGINE_WORKERS`."""
    drain_seconds: float = 0.0
    """How long requests are still taken after the server was told to stop, while readiness says
    no: `AGENTENGINE_DRAIN_SECONDS`."""
    url: str | None = None
    """Where this server can be reached from its own machine, once it listens."""
    answers: EmbeddingConfig | None = None
    """The model of the vectors that the store holds. None: the configured one."""
    target: EmbeddingConfig | None = None
    """The model whose vectors are being made to take their place."""

    @property
    def embedding(self) -> EmbeddingConfig:
        """The configured embedding model, or the built-in one that stands in for it."""
        return LOCAL_EMBEDDING if self.local_models else self.memory.embedding


MOST_WORKERS = 64
MOST_DRAIN_SECONDS = 300.0

SECRET_NAMES = (
    "VOYAGE_API_KEY",
    "LLM_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "CEREBRAS_API_KEY",
)
"""Every secret the memory server may read."""


def package_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("agentengine")
    except PackageNotFoundError:
        return "unknown"


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read the settings; raises `InvalidProjectConfig` for what cannot be served."""
    given = {name: value for name, value in environ.items() if value.strip()}
    document = _delivered(given.get("AGENTENGINE_MEMORY_CONFIG"))
    if "MONGOMEM_ENABLED_EXTRACTIONS" in environ:
        listed = environ["MONGOMEM_ENABLED_EXTRACTIONS"].split(",")
        enabled = [name.strip() for name in listed if name.strip()]
        rest = document.get("extraction")
        rest = rest if isinstance(rest, Mapping) else {}
        document = {**document, "extraction": {**rest, "enabled": enabled}}
    token_file = given.get("AGENTENGINE_OWNER_TOKEN_FILE")
    return Settings(
        data_dir=Path(given.get("AGENTENGINE_DATA_DIR", ".agentengine/data")),
        project_id=given.get("PROJECT_ID", "local"),
        org_id=given.get("ORG_ID", "local"),
        memory=project_config.parse(document),
        config_digest=given.get("AGENTENGINE_CONFIG_DIGEST"),
        local_models=given.get("AGENTENGINE_LOCAL_MODELS", "") == "1",
        owner_token_file=Path(token_file) if token_file else None,
        secrets={name: given[name] for name in SECRET_NAMES if name in given},
        mongodb=_mongodb(given),
        custom_memory_types=_switch(given, "AGENTENGINE_CUSTOM_MEMORY_TYPES"),
        writes_a_second=_rate(given.get("AGENTENGINE_RATE_LIMIT")),
        allowed_origins=tuple(given.get("AGENTENGINE_ALLOWED_ORIGINS", "").split()),
        trusted_proxies=_networks(given.get("AGENTENGINE_TRUSTED_PROXIES", "")),
        instance_id=given.get("AGENTENGINE_INSTANCE_ID"),
        document=document,
        agent_file=Path(given["AGENTENGINE_AGENT"]) if "AGENTENGINE_AGENT" in given else None,
        index_memory_bytes=_megabytes(given.get("AGENTENGINE_INDEX_MEMORY_MB", "256")),
        invoke_seconds=_seconds(given.get("AGENTENGINE_INVOKE_SECONDS", "600")),
        role=_role(given),
        workers=_workers(given),
        drain_seconds=_drain_seconds(given.get("AGENTENGINE_DRAIN_SECONDS", "0")),
        source=(
            ConfigSource.DELIVERED
            if "AGENTENGINE_MEMORY_CONFIG" in given
            else ConfigSource.BUILT_IN
        ),
    )


def _mongodb(given: Mapping[str, str]) -> MongoSettings | None:
    """Return the deployment that is named, if one is."""
    if "MONGODB_URI" not in given:
        return None
    uri = given["MONGODB_URI"].strip()
    if problem := connection_strings.problem_of(uri):
        raise InvalidProjectConfig(f"MONGODB_URI cannot be used: {problem}")
    project_id = given.get("PROJECT_ID", "").strip()
    required = given.get("REQUIRE_PROJECT_SCOPED_DB", "").strip().lower()
    if required in {"1", "true", "yes", "on"} and not project_id:
        raise InvalidProjectConfig(
            "PROJECT_ID is not set, and REQUIRE_PROJECT_SCOPED_DB asks for a database of one "
            "project: set PROJECT_ID, or take the other away to use a database that no project "
            "is named by"
        )
    base = given.get("MONGOMEM_DB_NAME", "").strip() or None
    return MongoSettings(uri=uri, base=base, project_id=project_id)


def _rate(given: str | None) -> float | None:
    """Return how many writes a second one user has; 0 when the limit is switched off."""
    if given is None:
        return None
    text = given.strip().lower()
    try:
        rate = 0.0 if text == "off" else float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate < float("inf") or (text != "off" and not rate):
        raise InvalidProjectConfig(
            "AGENTENGINE_RATE_LIMIT: expected how many writes a second one user may make, as 50, "
            "or off"
        )
    return rate


def _networks(text: str) -> tuple[str, ...]:
    try:
        return tuple(str(ip_network(entry)) for entry in text.replace(",", " ").split())
    except ValueError:
        raise InvalidProjectConfig(
            "AGENTENGINE_TRUSTED_PROXIES: expected addresses or networks of proxies, as 127.0.0.1 "
            "10.0.0.0/8"
        ) from None


ONE_PROCESS = (
    "a SQLite file belongs to one process, which knows alone what is locked and what is indexed; "
    "a second one would answer from what it does not know. Set MONGODB_URI to share memory "
    "between servers"
)


def _role(given: Mapping[str, str]) -> ServerRole:
    text = given.get("AGENTENGINE_ROLE", ServerRole.ALL.value).strip().lower()
    if text not in [*ServerRole]:
        raise InvalidProjectConfig(
            f"AGENTENGINE_ROLE (--role): expected {', '.join(ServerRole)}, not {text!r}"
        )
    role = ServerRole(text)
    if role is not ServerRole.ALL and "MONGODB_URI" not in given:
        raise InvalidProjectConfig(
            f"AGENTENGINE_ROLE (--role): {role} leaves the other half of the work to other "
            f"servers, and there can be none: {ONE_PROCESS}"
        )
    return role


def _workers(given: Mapping[str, str]) -> int:
    text = given.get("AGENTENGINE_WORKERS", "1").strip()
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST_WORKERS:
        raise InvalidProjectConfig(
            "AGENTENGINE_WORKERS (--workers): expected how many processes share the port, "
            f"1 to {MOST_WORKERS}"
        )
    if int(text) > 1 and "MONGODB_URI" not in given:
        raise InvalidProjectConfig(f"AGENTENGINE_WORKERS (--workers): {text}, but {ONE_PROCESS}")
    return int(text)


def _drain_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_DRAIN_SECONDS:
        raise InvalidProjectConfig(
            "AGENTENGINE_DRAIN_SECONDS: expected how long a server that was told to stop goes on "
            f"taking requests, 0 to {MOST_DRAIN_SECONDS:g}"
        )
    return seconds


def _megabytes(text: str) -> int:
    """Return how many bytes the vectors in memory may take."""
    number = int(text) if text.isascii() and text.strip().isdigit() else 0
    if not 1 <= number <= 1_048_576:
        raise InvalidProjectConfig(
            "AGENTENGINE_INDEX_MEMORY_MB: expected how many megabytes of vectors are kept in "
            "memory, as 256; 1 at least, 1048576 at most"
        )
    return number * 2**20


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise InvalidProjectConfig(
            "AGENTENGINE_INVOKE_SECONDS: expected how long an invocation may take, as 600; a day "
            "at most"
        )
    return seconds


def _switch(given: Mapping[str, str], name: str) -> bool:
    """Return whether something is on: it is, unless it is switched off by 0."""
    value = given.get(name, "1").strip()
    if value not in {"0", "1"}:
        raise InvalidProjectConfig(f"{name}: expected 1 (on) or 0 (off)")
    return value == "1"


def _delivered(path: str | None) -> dict[str, Any]:
    """Read the delivered `memory:` mapping; with none, the built-in models and every type."""
    if path is None:
        return {"embedding": {"provider": "local"}, "extraction_llm": {"provider": "local"}}
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidProjectConfig(
            f"AGENTENGINE_MEMORY_CONFIG names {path}, which cannot be read: {error}"
        ) from error
    if not isinstance(document, dict):
        raise InvalidProjectConfig(f"{path}: expected a JSON object")
    return document
