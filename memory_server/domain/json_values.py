"""Values as JSON has them: what can be stored of them, and how large they may be."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memory_server.domain.limits import MAX_METADATA_DEPTH, MAX_METADATA_KEYS
from memory_server.errors import InvalidRequest

Level = list[Mapping[str, Any] | list[Any] | tuple[Any, ...]]


def encode(value: Any) -> str:
    """Return JSON text; raises `InvalidRequest` for what JSON cannot carry."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidRequest(
            f"a value cannot be kept as JSON ({error}); use finite numbers, texts, lists, objects"
        ) from error


def check_storable(value: Any, *, max_bytes: int) -> None:
    """Raise `ValueError`, naming the limit, for a value that cannot be stored as it is.

    Refused: numbers that are not finite, halves of characters, and what is nested too deeply,
    has too many keys, or is too long. All else comes back as it was given, null characters and
    whole numbers of any length too.
    """
    _check_shape(value)
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, RecursionError):
        raise ValueError("holds a number or a text that cannot be stored as JSON") from None
    if size > max_bytes:
        raise ValueError(f"has {size} bytes as JSON; {max_bytes} are the most")


def _check_shape(value: Any) -> None:
    keys = 0
    level = _containers([value])
    for _ in range(MAX_METADATA_DEPTH):
        if not level:
            return
        keys += sum(len(one) for one in level if isinstance(one, Mapping))
        if keys > MAX_METADATA_KEYS:
            raise ValueError(f"has more than {MAX_METADATA_KEYS} keys, which are the most")
        level = _containers(inner for one in level for inner in _inside(one))
    if level:
        raise ValueError(f"is nested more than {MAX_METADATA_DEPTH} levels deep")


def _inside(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, Mapping) else container


def _containers(values: Iterable[Any]) -> Level:
    return [value for value in values if isinstance(value, Mapping | list | tuple)]
