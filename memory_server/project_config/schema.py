"""The shipped JSON Schema: what it knows, and what it says about a document."""

import functools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_server.project_config.explain import Violation

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SCHEMA_FILE = Path(__file__).with_name("memory_config.schema.json")


@functools.cache
def load_schema() -> dict[str, Any]:
    """Return the schema of a whole project-config.yaml."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def memory_schema() -> dict[str, Any]:
    """Return the schema of a `memory:` mapping alone, complete in itself."""
    written: dict[str, Any] = _written_out(load_schema()["$defs"]["memory"])
    return written


def _written_out(part: Any) -> Any:
    """Put what references point to in their places."""
    if isinstance(part, list):
        return [_written_out(item) for item in part]
    if not isinstance(part, dict):
        return part
    resolved = _resolved(part)
    return {name: _written_out(item) for name, item in resolved.items() if name != "$ref"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """What the schema says about one key."""

    schema: Mapping[str, Any]
    required: bool
    """Whether the mapping it belongs to must have it."""


@functools.cache
def known_keys() -> Mapping[str, KnownKey]:
    """Return every key by its path; `[]` stands for the items of a list."""
    return dict(_keys_below("", load_schema()))


def violations(document: Any) -> Iterator[Violation]:
    """Yield what the schema has against a document, conditions between keys left out.

    Those are `allOf` in the schema, for editors; here the cross rules say the same in words.
    """
    for error in _validator().iter_errors(document):
        if "allOf" not in error.absolute_schema_path:
            yield Violation(
                steps=tuple(error.absolute_path),
                keyword=str(error.validator),
                demand=error.validator_value,
                value=error.instance,
                schema=error.schema if isinstance(error.schema, dict) else {},
            )


def accepts(document: Any) -> bool:
    """Whether the schema alone, conditions included, accepts a document."""
    return bool(_validator().is_valid(document))


def _keys_below(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, KnownKey]]:
    holder = _resolved(schema)
    for name, written in holder.get("properties", {}).items():
        own = f"{path}.{name}" if path else name
        part = _resolved(written)
        yield own, KnownKey(schema=part, required=name in holder.get("required", ()))
        yield from _keys_below(own, part)
        yield from _keys_below(f"{own}[]", part.get("items", {}))


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference; what stands beside it adds to what it points to."""
    if "$ref" not in schema:
        return schema
    target: Mapping[str, Any] = load_schema()["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return {**target, **schema}


@functools.cache
def _validator() -> "Validator":
    from jsonschema import (  # noqa: PLC0415  costs 70 to 100 ms, and `--help` validates nothing
        Draft202012Validator,
        validators,
    )

    checker = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: type(value) is int,
            "number": lambda _, value: type(value) in {int, float} and math.isfinite(value),
        }
    )
    made: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]  # untyped stubs
        Draft202012Validator, type_checker=checker
    )
    return made(load_schema())
