"""A new configuration against the stored one: what may not change, what costs, what differs."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_server.project_config.build import embedding_of, partition_keys_of
from memory_server.project_config.problem import Finding, Problem, Steps
from memory_server.project_config.schema import known_keys
from memory_server.project_config.validation import Source
from memory_server.project_config.values import MEMORY_TYPES, ProjectConfig

_ABSENT = object()
_ENABLED = "memory.extraction.enabled"


def digest(document: Mapping[str, Any]) -> str:
    """Return the sha256 (hex) of a document, the same whatever the order of its keys."""
    canonical = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def check_against_stored(
    stored: Mapping[str, Any], new: Mapping[str, Any], *, source: ProjectConfig | None = None
) -> list[Problem]:
    """Return every write-once rule the change from one `memory:` mapping to another breaks.

    With the file the new mapping was read from as `source`, the problems carry its places.
    """
    origin = Source(file=str(source.path), places=source.places) if source else Source()
    findings = [*_changed_types(stored, new), *_changed_keys(stored, new)]
    return [origin.locate(finding) for finding in findings]


def needs_reembedding(stored: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return the old and the new embedding space if they differ, as `a@1024 -> b@384`."""
    old, changed = embedding_of(stored).space, embedding_of(new).space
    return None if old == changed else f"{old} -> {changed}"


def differences(stored: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[str]:
    """Return one line per changed key, as `memory.log_level: info -> debug`.

    A key that is written out and says what its absence says is no difference. Lists of named
    things are compared by name, so that a change of order is none either.
    """
    old, changed = dict(_leaves(stored or {}, "memory")), dict(_leaves(new, "memory"))
    paths = [*changed, *(path for path in old if path not in changed)]
    return [
        f"{path}: {_shown(path, old.get(path, _ABSENT))} -> "
        f"{_shown(path, changed.get(path, _ABSENT))}"
        for path in paths
        if not _same(_effective(path, old), _effective(path, changed))
    ]


def _effective(path: str, leaves: Mapping[str, Any]) -> Any:
    """Return what holds for a key, written or not."""
    value = leaves.get(path, _ABSENT)
    if path == _ENABLED:
        return sorted(MEMORY_TYPES if value is _ABSENT else value)
    key = known_keys().get(path)
    default = key.schema.get("default", _ABSENT) if key else _ABSENT
    if value is _ABSENT:
        return default
    return _ABSENT if value == [] and default is _ABSENT else value


def _changed_types(stored: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    key = "custom_memory_types"
    present = _by_name(new.get(key, ()))
    for name, old in _by_name(stored.get(key, ())).items():
        if name not in present:
            message = f"the stored type {name} is missing; a type cannot be removed: put it back"
            yield Finding(("memory", key), message)
        elif (changed := _changed_part(old, present[name][1])) is not None:
            steps: Steps = ("memory", key, present[name][0])
            message = (
                f"the {changed} of the stored type {name} cannot be edited: restore it, and "
                "declare a type of another name for the change"
            )
            yield Finding((*steps, changed), message)


def _changed_part(old: tuple[int, Mapping[str, Any]], new: Mapping[str, Any]) -> str | None:
    if old[1]["collection"] != new["collection"]:
        return "collection"
    return None if _tags(old[1]) == _tags(new) else "tags"


def _changed_keys(stored: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    key = "metadata_partition_key"
    present = _by_name(partition_keys_of(new))
    for name, (_, old) in _by_name(partition_keys_of(stored)).items():
        if name not in present:
            message = f"the stored key {name} is missing; a key cannot be removed: put it back"
            yield Finding(("memory", key), message)
        elif present[name][1]["type"] != old["type"]:
            message = (
                f"the stored key {name} has the type {old['type']}, which cannot be changed: "
                "restore it, or declare a key of another name"
            )
            yield Finding(("memory", key, present[name][0], "type"), message)


def _by_name(items: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, Mapping[str, Any]]]:
    return {item["name"]: (at, item) for at, item in enumerate(items)}


def _tags(declared: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(tag["name"] for tag in declared.get("tags", ()))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every value that is not a mapping with its path; an empty mapping says nothing."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}")
    elif isinstance(value, list) and value and all(_is_named(item) for item in value):
        for item in value:
            rest = {name: part for name, part in item.items() if name != "name"}
            yield from _leaves(rest or "declared", f"{path}[{item['name']}]")
    else:
        yield path, value


def _is_named(item: Any) -> bool:
    return isinstance(item, Mapping) and "name" in item


def _same(old: Any, new: Any) -> bool:
    """1 and True, 1 and 1.0 are equal in Python and different in a document."""
    return type(old) is type(new) and bool(old == new)


def _shown(path: str, value: Any) -> str:
    if value is not _ABSENT:
        return _written(value)
    if path == _ENABLED:
        return "(absent: every type)"
    key = known_keys().get(path)
    if key is None or "default" not in key.schema:
        return "(absent)"
    return f"{_written(key.schema['default'])} (default)"


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return value if isinstance(value, str) else json.dumps(value)
