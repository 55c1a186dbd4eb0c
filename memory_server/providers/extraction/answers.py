"""Finding the items in what a model wrote, however it wrapped them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MAX_CHARACTERS = 400_000
_MAX_ATTEMPTS = 5000
"""Brackets that are looked at; an answer with more of them is not worth the time."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The items of an answer, unchecked."""

    items: Sequence[Any]
    remainder: str = ""
    """What was cut off in the middle of an item; empty when the answer is whole."""


def parse(text: str, *, key: str) -> Answer | None:
    """Return the items of an answer, or None when it holds none in any form.

    Understood: the agreed `{key: [...]}`, also fenced, wrapped in prose (even prose with
    braces), or as a JSON string; a bare list or single lines of objects; and an agreed list
    that breaks off, of which the complete items are kept. Nothing but objects is an item.
    """
    text = text[:_MAX_CHARACTERS].strip()
    values = list(_values(text))
    agreed = [v[key] for v in values if isinstance(v, Mapping) and isinstance(v.get(key), list)]
    if agreed:
        return Answer(items=next((items for items in reversed(agreed) if items), []))
    return _cut_off(text, key) or _bare(values) or _in_string(text, key)


def _values(text: str) -> Iterator[Any]:
    """Yield every JSON object or list that stands in the text, outermost ones only."""
    position = attempts = 0
    while attempts < _MAX_ATTEMPTS and (start := _next_bracket(text, position)) is not None:
        value, position = _decoded(text, start)
        attempts += 1
        if value is not None:
            yield value


def _next_bracket(text: str, position: int) -> int | None:
    found = re.compile(r"[{\[]").search(text, position)
    return found.start() if found else None


def _decoded(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except ValueError:
        return None, start + 1
    except RecursionError:
        return None, len(text)


def _cut_off(text: str, key: str) -> Answer | None:
    """Read `{"key": [{...}, {...}, {"te` up to where it ends."""
    opened = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text)
    if opened is None:
        return None
    items: list[Any] = []
    position = opened.end()
    while (found := re.compile(r"[\s,]*(?=\{)").match(text, position)) is not None:
        value, end = _decoded(text, found.end())
        if value is None:
            break
        items.append(value)
        position = end
    rest = text[position:].strip(" ,\n")
    return Answer(items=items, remainder="" if rest.startswith("]") else rest or "[")


def _bare(values: Sequence[Any]) -> Answer | None:
    """Take a list of objects, or objects one after another, for the items."""
    for value in values:
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return Answer(items=value)
    items = [value for value in values if isinstance(value, Mapping) and value]
    return Answer(items=items) if items else None


def _in_string(text: str, key: str) -> Answer | None:
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parse(inner, key=key) if isinstance(inner, str) and inner != text else None
