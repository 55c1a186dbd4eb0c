"""JSON that a caller gave, in fields of a document: it comes back exactly as it was.

It stands natively where the database can hold it, for people and programs that look there, and
as text where it cannot: whole numbers of more than 64 bits, and keys that mean something to the
database.
"""

import json
from collections.abc import Mapping
from typing import Any

from memory_server.domain.json_values import encode
from memory_server.storage.mongo.documents import Document

_AS_TEXT = "_json"
"""The end of the name of a field that holds text."""
_WHOLE = range(-(2**63), 2**63)


def json_field(name: str, value: Any) -> Document:
    """Return the field that holds a value; raises `InvalidRequest` for what JSON cannot carry."""
    text = encode(value)
    plain = json.loads(text)
    return {name: plain} if _is_native(plain) else {name + _AS_TEXT: text}


def json_of(document: Mapping[str, Any], name: str) -> Any:
    """Return the value that `json_field` stored under a name, or None."""
    text = document.get(name + _AS_TEXT)
    return document.get(name) if text is None else json.loads(text)


def _is_native(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_field_name(key) and _is_native(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(_is_native, value))
    return not isinstance(value, int) or value in _WHOLE


def _is_field_name(key: str) -> bool:
    return bool(key) and not key.startswith("$") and "." not in key and "\0" not in key
