"""Memory types that a project declares itself: which tags their records carry."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.errors import InvalidRequest

NOT_ENABLED = "custom_memory_types is not enabled"
"""Clients recognise this phrase and say that the feature is off."""
UNKNOWN = "unknown custom memory type '{}'"
"""Clients recognise this phrase; a 404 without it tells them that the server is too old."""

TagValue = str | int | float | bool
"""Compared with its kind: 1 equals 1.0, but neither "1" nor true."""

_LARGEST = 2**63
"""Whole numbers of this size and beyond are kept exactly by no store."""
_NAMED = 5
"""How many undeclared tags one message names, each cut to so many characters."""
_SHOWN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomType:
    """One declared type."""

    name: str
    tags: Sequence[str] = ()
    """Names of one part, or two joined by a dot."""

    def checked(self, given: Mapping[str, Any]) -> dict[str, TagValue]:
        """Return tags under their dotted names, or raise `InvalidRequest`.

        `{"a.b": 1}` and `{"a": {"b": 1}}` are the same tag.
        """
        flat = list(_flat(given))
        undeclared = [name for name, _ in flat if name not in self.tags]
        if undeclared:
            raise InvalidRequest(self._about(undeclared))
        tags: dict[str, TagValue] = {}
        for name, value in flat:
            if name in tags:
                raise InvalidRequest(
                    f"tag '{name}' is given twice, dotted and nested: give it once"
                )
            tags[name] = _value(name, value)
        return tags

    def _about(self, undeclared: Sequence[str]) -> str:
        operators = [name for name in undeclared if "$" in name]
        if operators:
            return (
                f"{_listed(operators)}: tags are compared for equality and take no operators: "
                "give the value itself"
            )
        declared = ", ".join(self.tags)
        is_are = "is" if len(undeclared) == 1 else "are"
        rest = f"it declares {declared}" if declared else "it declares no tags"
        return (
            f"{_listed(undeclared)} {is_are} not declared for the custom memory type "
            f"'{self.name}': {rest}"
        )


def tag_tree(tags: Mapping[str, TagValue]) -> dict[str, Any]:
    """Return tags as filters reach them: `a.b` is the field b of a."""
    tree: dict[str, Any] = {}
    for name, value in tags.items():
        group, dot, field = name.partition(".")
        if dot:
            tree.setdefault(group, {})[field] = value
        else:
            tree[name] = value
    return tree


def equal(tags: Mapping[str, TagValue]) -> Filter | None:
    """Return the condition that a record has all these tags; None: no condition."""
    parts = tuple(Comparison(f"tags.{name}", Operator.EQ, value) for name, value in tags.items())
    return Clauses(Connective.AND, parts) if parts else None


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if not isinstance(value, Mapping):
            yield name, value
            continue
        if not value:
            raise InvalidRequest(f"{_listed([name])} is an empty object: give it a field and value")
        for field, own in value.items():
            yield f"{name}.{field}", own


def _value(name: str, value: Any) -> TagValue:
    match value:
        case str() if value.strip():
            return value
        case bool():
            return value
        case int() if -_LARGEST <= value < _LARGEST:
            return value
        case float() if math.isfinite(value):
            return value
    raise InvalidRequest(
        f"tag '{name}' takes a text that is not blank, a number within 64 bits, true or false; "
        f"this is {_kind(value)}"
    )


def _kind(value: Any) -> str:
    kinds: Mapping[type, str] = {
        type(None): "null",
        str: "a blank text",
        int: "a larger number",
        float: "no finite number",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "a value of another kind")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name[:_SHOWN]}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{'tag' if len(names) == 1 else 'tags'} {shown}{more}"
