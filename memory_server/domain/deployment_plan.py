"""Decides what an apply has to do, before anything is touched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_server import project_config
from memory_server.domain.deployment import RunningConfig, StoredConfig
from memory_server.project_config import MemoryConfig, RequiredKey
from memory_server.settings import ConfigSource

LOCAL_MODELS: Mapping[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}


def is_pending(stored: StoredConfig | None, running: RunningConfig) -> bool:
    """Whether an apply would put another configuration into effect."""
    if stored is None or running.source is ConfigSource.DELIVERED:
        return False
    return running.source is not ConfigSource.APPLIED or stored.digest != running.digest


def changes(running: RunningConfig, stored: StoredConfig, *, local_models: bool) -> Iterator[str]:
    """Yield why the services have to be replaced by others with the stored configuration."""
    differences = project_config.differences(running.document, stored.document)
    yield from differences
    if not differences and is_pending(stored, running):
        yield "the stored configuration says the same and is not the applied one yet"
    if local_models != running.local_models:
        who = "built-in models take" if local_models else "configured providers take"
        yield f"the {who} over"


def secret_changes(running: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield which keys the running services have otherwise, or not; never the values."""
    for name in sorted({*running, *now}):
        if name not in running:
            yield f"{name} was set"
        elif name not in now:
            yield f"{name} was removed"
        elif running[name] != now[name]:
            yield f"{name} was changed"


def space_change(
    running: RunningConfig, document: Mapping[str, Any], *, local_models: bool
) -> str | None:
    """Return the old and the new embedding space if they differ, as `a@1024 -> b@384`."""
    return project_config.needs_reembedding(
        effective(running.document, local_models=running.local_models),
        effective(document, local_models=local_models),
    )


def redirections(running: RunningConfig, config: MemoryConfig) -> Iterator[str]:
    """Yield the paths by which conversations or provider keys would go elsewhere than now."""
    now = project_config.parse(running.document)
    for block, before, after in (
        ("embedding", now.embedding, config.embedding),
        ("extraction_llm", now.extraction_llm, config.extraction_llm),
    ):
        for name in ("provider", "base_url", "api_key_secret", "auth_header"):
            if getattr(before, name, None) != getattr(after, name, None):
                yield f"memory.{block}.{name}"


def why_space_stays(change: str, vectors: int) -> str:
    """Say why the embedding model cannot be another one."""
    return (
        f"the embedding model would change, {change}, and the store holds {vectors} vectors of "
        "the present one: vectors of different models cannot be compared. Keep the model, or "
        "begin with an empty store"
    )


def missing_keys(
    config: MemoryConfig, secrets: Mapping[str, str], *, local_models: bool
) -> Sequence[RequiredKey]:
    """Return the needs that no given key meets."""
    needs = project_config.required_keys(config, local_models=local_models)
    return [need for need in needs if not any(name in secrets for name in need.names)]


def told(need: RequiredKey) -> str:
    """Say which key is missing, with every name that was looked for, in order."""
    return (
        f"{need.purpose} ({need.provider}): no key; looked for {', then '.join(need.names)} in "
        "the project's secrets and in the environment of the server"
    )


def effective(document: Mapping[str, Any], *, local_models: bool) -> dict[str, Any]:
    """Return the document with the providers that the services really use."""
    if not local_models:
        return dict(document)
    return {**{k: v for k, v in document.items() if k != "voyage"}, **LOCAL_MODELS}
