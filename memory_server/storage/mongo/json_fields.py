"""JSON that a caller gave, in fields of a document: it comes back exactly as it was.

It stands natively, for people, programs and indexes that look there. Where the database cannot hold
all of it, whole numbers of more than 64 bits and keys that mean something to the database, it also
stands as text, which then is what counts.
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
    """Return the fields that hold a value; raises `InvalidRequest` for what JSON cannot carry."""
    text = encode(value)
    plain = json.loads(text)
    native = _native(plain)
    return {name: native} if native == plain else {name: native, name + _AS_TEXT: text}


def json_change(name: str, value: Any) -> Document:
    """Return the fields that put a value in the place of a former one."""
    return {name: None, name + _AS_TEXT: None} | json_field(name, value)


def json_names(*names: str) -> dict[str, int]:
    """Return the projection that holds what `json_of` reads of these."""
    return {stored: 1 for name in names for stored in (name, name + _AS_TEXT)}


def json_of(document: Mapping[str, Any], name: str) -> Any:
    """Return the value that `json_field` stored under a name, or None."""
    text = document.get(name + _AS_TEXT)
    return document.get(name) if text is None else json.loads(text)


def _native(value: Any) -> Any:
    """Return as much of a value as the database can hold; what it cannot is a text, or left out."""
    match value:
        case dict():
            return {key: _native(one) for key, one in value.items() if _is_field_name(key)}
        case list():
            return [_native(one) for one in value]
        case int() if value not in _WHOLE:
            return str(value)
    return value


def _is_field_name(key: str) -> bool:
    return bool(key) and not key.startswith("$") and "." not in key and "\0" not in key
