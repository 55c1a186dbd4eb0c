"""What stored documents carry for Atlas Search alone.

The rest is searched where it stands: `text` (made by `words.index_text`, as the local index has
it), `metadata`, `body.tags`, the owner, the state. It is written on every deployment: one that gets
Atlas Search later has nothing to migrate.
"""

from collections.abc import Mapping
from typing import Any

from memory_server.domain.moments import micros_of_text

MOMENTS = "moments"
"""The field that holds what `moments` returns of the metadata."""

DEPTH = 2
"""How deep in the metadata a filter may look: a declared key has one dot at most."""


def moments(metadata: Mapping[str, Any], depth: int = DEPTH) -> dict[str, Any]:
    """Return the moments that texts of the metadata name, under their keys, in microseconds.

    An index compares texts as texts: where a filter asks for a moment, it finds it here.
    """
    found: dict[str, Any] = {}
    for key, value in metadata.items():
        if not key or "." in key or key.startswith("$") or "\0" in key:
            continue  # no declared key is spelled like this, and no field may be
        inner = _of(value, depth)
        if inner:
            found[key] = inner
    return found


def _of(value: Any, depth: int) -> dict[str, Any] | list[int]:
    if isinstance(value, Mapping):
        return moments(value, depth - 1) if depth > 1 else {}
    elements = value if isinstance(value, list | tuple) else [value]
    named = (micros_of_text(one) for one in elements)
    return [micros for micros in named if micros is not None]
