"""Decides what an apply has to do, before anything is touched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory_server import project_config
from memory_server.domain.deployment import RunningConfig, StoredConfig
from memory_server.domain.spaces import SpacesInUse
from memory_server.project_config import EmbeddingConfig, MemoryConfig, RequiredKey
from memory_server.settings import LOCAL_EMBEDDING, ConfigSource, Settings


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


def embedding_of(document: Mapping[str, Any], *, local_models: bool) -> EmbeddingConfig:
    """Return the embedding model that services with that configuration want."""
    return LOCAL_EMBEDDING if local_models else project_config.embedding_of(document)


def space_changes(spaces: SpacesInUse, wanted: EmbeddingConfig) -> Iterator[str]:
    """Yield what becomes of the vectors of a store if that model is to answer."""
    ahead, before = spaces.led_to(wanted).target, spaces.target
    if before is not None and (ahead is None or ahead.space != before.space):
        yield f"the re-embedding to {before.space} is given up"
    if ahead is not None and (before is None or ahead.space != before.space):
        assert spaces.active is not None, "otherwise the wanted model would answer at once"
        yield (
            f"{spaces.held} vectors are made anew in the background: {spaces.active.space} -> "
            f"{ahead.space}"
        )


def fitting(settings: Settings, spaces: SpacesInUse) -> Settings:
    """Return the settings of services that serve these spaces.

    A model of the configured space is the configured one: there may be several ways to it.
    """
    wanted = settings.embedding
    answers, target = spaces.active, spaces.target
    return replace(
        settings,
        answers=None if answers is None or answers.space == wanted.space else answers,
        target=wanted if target is not None and target.space == wanted.space else target,
    )


def fits(settings: Settings, spaces: SpacesInUse) -> bool:
    """Whether services with these settings serve the spaces as they are."""
    now, then = settings, fitting(settings, spaces)
    return (_space(now.answers), _space(now.target)) == (_space(then.answers), _space(then.target))


def _space(embedding: EmbeddingConfig | None) -> str | None:
    return None if embedding is None else embedding.space


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


def why_space_stays(spaces: SpacesInUse, wanted: EmbeddingConfig) -> str:
    """Say why the embedding model does not become another one by an apply."""
    return (
        f"the embedding model would change, {_space(spaces.active)} -> {wanted.space}, and the "
        f"store holds {spaces.held} vectors of the present one: vectors of different models "
        "cannot be compared. Have them made anew while the present ones answer: agentengine memory "
        "reembed"
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
