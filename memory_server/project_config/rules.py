"""What the schema cannot say, or not in words: rules between keys, and texts nobody can mean."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memory_server.project_config.embedding_models import LOCAL_DIMENSIONS, own_dimension
from memory_server.project_config.problem import Finding, Steps

T = TypeVar("T")
MISPLACED_AT_TOP = ("metadata_partition_key", "metadata_partition_index")
FOLDED = ("entity", "preferences")
"""Types that are extracted as semantic memories."""


def cross_findings(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield every broken rule; parts of the wrong kind are skipped, the schema tells them."""
    for rule in _RULES:
        yield from rule(document)


def warnings(document: Mapping[str, Any], memory_keys: Iterable[str]) -> Iterator[Finding]:
    """Yield what is allowed and probably not what the author thinks."""
    enabled = _at(document, list, "memory", "extraction", "enabled") or []
    for at, name in enumerate(enabled):
        if name in FOLDED:
            message = f"{name} is extracted as semantic; there is no separate {name} memory"
            yield Finding(("memory", "extraction", "enabled", at), message)
    for name in memory_keys:
        if name in document and name not in MISPLACED_AT_TOP:
            message = f"ignored at the top level; memory reads it at memory.{name}"
            yield Finding((name,), message, at_key=True)


def _one_embedding_block(document: Mapping[str, Any]) -> Iterator[Finding]:
    memory = _at(document, dict, "memory") or {}
    if "embedding" in memory and "voyage" in memory:
        message = "memory.embedding and memory.voyage both choose the embedding model: keep one"
        yield Finding(("memory", "embedding"), message, at_key=True)


def _local_embedding(document: Mapping[str, Any]) -> Iterator[Finding]:
    block = _at(document, dict, "memory", "embedding") or {}
    if block.get("provider") != "local":
        return
    steps = ("memory", "embedding")
    yield from _must_be_absent(block, steps, ("base_url", "api_key_secret"))
    model = block.get("model") or "bge-small-en-v1.5"
    if not isinstance(model, str):
        return
    if model not in LOCAL_DIMENSIONS:
        message = f"must be a built-in model: {', '.join(LOCAL_DIMENSIONS)}"
        yield Finding((*steps, "model"), message)
        return
    right, dimension = LOCAL_DIMENSIONS[model], block.get("dimension")
    if isinstance(dimension, int) and dimension != right:
        message = f"the dimension of {model} is fixed at {right}: write {right} or remove the key"
        yield Finding((*steps, "dimension"), message)


def _unknown_openai_model(document: Mapping[str, Any]) -> Iterator[Finding]:
    block = _at(document, dict, "memory", "embedding") or {}
    if block.get("provider") != "openai" or block.get("dimension") is not None:
        return
    model = block.get("model")
    if isinstance(model, str) and own_dimension("openai", model) is None:
        message = "is required: the dimension of this model is not known here"
        yield Finding(("memory", "embedding", "dimension"), message)


def _local_extraction(document: Mapping[str, Any]) -> Iterator[Finding]:
    block = _at(document, dict, "memory", "extraction_llm") or {}
    if block.get("provider") == "local":
        names = ("model", "base_url", "api_key_secret", "auth_header")
        yield from _must_be_absent(block, ("memory", "extraction_llm"), names)


def _must_be_absent(
    block: Mapping[str, Any], steps: Steps, names: Sequence[str]
) -> Iterator[Finding]:
    for name in names:
        if block.get(name) is not None:
            yield Finding((*steps, name), "must be absent or null when the provider is local")


def _index_needs_vectors(document: Mapping[str, Any]) -> Iterator[Finding]:
    legs = _at(document, list, "memory", "metadata_partition_index", "short_term") or []
    embeds = _at(document, bool, "memory", "short_term", "embed_on_write")
    if embeds is not True and ("vector" in legs or "both" in legs):
        message = (
            "an index over vectors (vector or both) needs memory.short_term.embed_on_write: true; "
            "without it only [text] is allowed"
        )
        yield Finding(("memory", "metadata_partition_index", "short_term"), message)


def _unique_names(document: Mapping[str, Any]) -> Iterator[Finding]:
    memory = _at(document, dict, "memory") or {}
    yield from _repeated_names(memory, ("memory",), "custom_memory_types")
    yield from _repeated_names(memory, ("memory",), "metadata_partition_key")
    for at, declared in enumerate(_at(memory, list, "custom_memory_types") or []):
        if isinstance(declared, dict):
            yield from _repeated_names(declared, ("memory", "custom_memory_types", at), "tags")


def _repeated_names(holder: Mapping[str, Any], steps: Steps, key: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for at, item in enumerate(_at(holder, list, key) or []):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name in seen:
            yield Finding((*steps, key, at, "name"), "this name is declared twice: keep one")
        elif isinstance(name, str):
            seen.add(name)


def _value_and_mapping(document: Mapping[str, Any]) -> Iterator[Finding]:
    memory = _at(document, dict, "memory") or {}
    yield from _both_at_once(memory, ("memory",), "metadata_partition_key", "a key")
    for at, declared in enumerate(_at(memory, list, "custom_memory_types") or []):
        if isinstance(declared, dict):
            steps = ("memory", "custom_memory_types", at)
            yield from _both_at_once(declared, steps, "tags", "a tag")


def _both_at_once(
    holder: Mapping[str, Any], steps: Steps, key: str, what: str
) -> Iterator[Finding]:
    # A field cannot hold a value and be a mapping at once.
    declared = _at(holder, list, key) or []
    names = [item.get("name") if isinstance(item, dict) else None for item in declared]
    for at, name in enumerate(names):
        if isinstance(name, str) and name.partition(".")[0] in names and "." in name:
            message = f"its first part is declared as {what} of its own: keep one of the two"
            yield Finding((*steps, key, at, "name"), message)


def _addresses(document: Mapping[str, Any]) -> Iterator[Finding]:
    for block in ("embedding", "extraction_llm"):
        address = _at(document, str, "memory", block, "base_url")
        if address and not _has_usable_host(address):
            message = "is not a usable address: check the host and the port"
            yield Finding(("memory", block, "base_url"), message)


def _has_usable_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port out of range, an unclosed [ of an IPv6 address
        return False


def _misplaced_at_top(document: Mapping[str, Any]) -> Iterator[Finding]:
    for name in MISPLACED_AT_TOP:
        if name in document:
            message = f"belongs at memory.{name}: move it under `memory:`"
            yield Finding((name,), message, at_key=True)


def _texts(document: Mapping[str, Any]) -> Iterator[Finding]:
    for steps, text in texts_of(document.get("memory"), ("memory",)):
        # A name like that is an unknown key already.
        if not text.isprintable() and steps[-1] != text:
            yield Finding(steps, "holds a line break, a control or an invisible character")


def texts_of(value: object, steps: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """Yield every text below a value, names of keys among them, however deep it goes."""
    waiting: list[tuple[Steps, object]] = [(steps, value)]
    while waiting:
        at, held = waiting.pop()
        if isinstance(held, str):
            yield at, held
        elif isinstance(held, Mapping):
            yield from (((*at, str(name)), str(name)) for name in held)
            waiting.extend(((*at, str(name)), item) for name, item in held.items())
        elif isinstance(held, list):
            waiting.extend(((*at, number), item) for number, item in enumerate(held))


def _at(document: Mapping[str, Any], kind: type[T], *names: str) -> T | None:
    """Return the value at a path if it is there and of that kind."""
    value: Any = document
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value if isinstance(value, kind) else None


_RULES: tuple[Callable[[Mapping[str, Any]], Iterator[Finding]], ...] = (
    _one_embedding_block,
    _local_embedding,
    _unknown_openai_model,
    _local_extraction,
    _index_needs_vectors,
    _unique_names,
    _value_and_mapping,
    _addresses,
    _misplaced_at_top,
    _texts,
)
