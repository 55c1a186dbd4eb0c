"""Which keys a configuration needs before a server can be ready."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_server.project_config.values import EmbeddingConfig, MemoryConfig

OPENAI_URL = "https://api.openai.com/v1"

_EMBEDDING: Mapping[str, Sequence[str]] = {
    "voyage": ("VOYAGE_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
}
_EXTRACTION: Mapping[str, Sequence[str]] = {
    "openai": ("OPENAI_API_KEY", "LLM_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY", "LLM_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "LLM_API_KEY"),
    "cerebras": ("CEREBRAS_API_KEY", "LLM_API_KEY"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredKey:
    """One provider's need of a key."""

    purpose: Literal["embedding", "extraction"]
    provider: str
    names: Sequence[str]
    """Secrets and variables to look for, in order; the first that is set is used."""


def required_keys(config: MemoryConfig, *, local_models: bool = False) -> tuple[RequiredKey, ...]:
    """Return what must be found before a server can be ready, whatever types are extracted.

    With `local_models` the built-in models stand in for both providers, and nothing is needed.
    """
    if local_models:
        return ()
    needs = usable_keys(config)
    if needs_no_key(config.embedding):
        return tuple(need for need in needs if need.purpose != "embedding")
    return needs


def needs_no_key(embedding: EmbeddingConfig) -> bool:
    """Whether it is a server of one's own that speaks like OpenAI, and no key is named for it."""
    return (
        embedding.provider == "openai"
        and embedding.api_key_secret is None
        and embedding.base_url is not None
        and embedding.base_url.rstrip("/") != OPENAI_URL
    )


def usable_keys(config: MemoryConfig) -> tuple[RequiredKey, ...]:
    """Return the keys that are used where they are found, those that may be missing too."""
    embedding, llm = config.embedding, config.extraction_llm
    needs: list[RequiredKey] = []
    if embedding.provider != "local":
        names = _names(embedding.api_key_secret, _EMBEDDING[embedding.provider])
        needs.append(RequiredKey(purpose="embedding", provider=embedding.provider, names=names))
    if llm.provider != "local":
        names = _names(llm.api_key_secret, _EXTRACTION[llm.provider])
        needs.append(RequiredKey(purpose="extraction", provider=llm.provider, names=names))
    return tuple(needs)


def effective_types_line(config: MemoryConfig) -> str:
    """Return one line that says which types are extracted, and why."""
    names = ", ".join(config.enabled)
    if config.enabled_by_absence:
        return f"extraction: all: {names} (key absent)"
    return f"extraction: {names} (listed)" if names else "extraction: none (the list is empty)"


def _names(chosen: str | None, usual: Sequence[str]) -> tuple[str, ...]:
    return (chosen,) if chosen else tuple(usual)
