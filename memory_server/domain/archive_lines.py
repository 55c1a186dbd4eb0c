"""The lines of an archive: one JSON object each, read strictly and written exactly.

Times keep their microseconds and, where it matters, their offset. What belongs to every item of
one project, its id, is said once, in the head.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from memory_server.domain.archive import (
    FORMAT,
    ITEM_TYPES,
    KINDS,
    VERSION,
    End,
    Head,
    Item,
    Kind,
    StoredVector,
)
from memory_server.domain.archive_checks import (
    check_count,
    check_item,
    check_json,
    check_text,
    check_vector,
)
from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import BODY_TYPES, Memory, MemoryType
from memory_server.errors import ArchiveTooNew, InvalidArchive

_KIND = "kind"
_TYPE = "type"
_END = "end"
_BROKEN = "error"
_OF_PROJECT = "project_id"
_DERIVED = frozenset(("has_embedding",))
"""What follows from other lines' content: whether there is a vector."""
_MOST_SHOWN = 200


def head_line(head: Head) -> bytes:
    """Return the first line, with its line feed."""
    return _line(_members(head))


def item_line(item: Item) -> bytes:
    """Return the line of an item, with its line feed."""
    return _line({_KIND: KINDS[type(item)].value, **_members(item)})


def end_line(end: End) -> bytes:
    """Return the last line, with its line feed."""
    return _line({_KIND: _END, **_members(end)})


def broken_line(reason: str) -> bytes:
    """Return the last line of an archive that could not be written to its end."""
    return _line({_KIND: _BROKEN, _BROKEN: reason})


def is_head(line: bytes) -> bool:
    """Whether a line is the first one of an archive, of whatever version."""
    try:
        return bool(json.loads(line)["format"] == FORMAT)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def head_of(line: bytes) -> Head:
    """Read the first line; raises `InvalidArchive`, or `ArchiveTooNew` for a later version."""
    document = _object(line, "line 1")
    if document.get("format") != FORMAT:
        raise InvalidArchive(f"line 1: it does not begin an archive: its format is not {FORMAT}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InvalidArchive(f"line 1: version: {_shown(version)} is no version of the format")
    if version > VERSION:
        raise ArchiveTooNew(
            f"line 1: the archive is of version {version} of the format, and this program reads "
            f"versions 1 to {VERSION}: upgrade it to at least the program that wrote the archive"
        )
    return cast(Head, _built(Head, document, "line 1", None))


def kind_of(line: bytes, where: str) -> str:
    """Return the kind of a line after the first: a `Kind`, or `end`.

    Raises `InvalidArchive` with the reason where the line says that the export broke off.
    """
    document = _object(line, where)
    kind = document.get(_KIND)
    if kind == _BROKEN:
        raise InvalidArchive(
            f"{where}: the export broke off there: {_shown(document.get(_BROKEN))}"
        )
    if kind != _END and kind not in list(Kind):
        raise InvalidArchive(f"{where}: {_shown(kind)} is no kind of item")
    return str(kind)


def end_of(line: bytes, where: str) -> End:
    """Read the last line."""
    document = _object(line, where)
    document.pop(_KIND, None)
    return cast(End, _built(End, document, where, None))


def item_of(line: bytes, *, project_id: str, where: str) -> Item:
    """Read an item as one of a project; raises `InvalidArchive` naming the place."""
    document = _object(line, where)
    kind = document.pop(_KIND, None)
    if kind not in list(Kind):
        raise InvalidArchive(f"{where}: {_shown(kind)} is no kind of item")
    item = cast(Item, _built(ITEM_TYPES[Kind(kind)], document, where, project_id))
    check_item(item, where)
    return item


def _line(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidArchive(f"{where}: it is not JSON ({error})") from error
    if not isinstance(document, dict):
        raise InvalidArchive(f"{where}: it is no JSON object")
    return document


def _members(value: Any) -> dict[str, Any]:
    """Return a value's members that say something, as JSON has them."""
    left_out = _DERIVED if isinstance(value, Head) else _DERIVED | {_OF_PROJECT}
    has_body = isinstance(value, Memory | Candidate)
    document: dict[str, Any] = {_TYPE: value.type.value} if has_body else {}
    for one in fields(value):
        member = getattr(value, one.name)
        if one.name not in left_out and not (member is None and _default(one) is None):
            document[one.name] = _plain(member)
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, StoredVector):
        data = base64.b64encode(value.data).decode("ascii")
        return {"space": value.space, "data": data}
    if is_dataclass(value):
        return _members(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _default(one: Field[Any]) -> Any:
    return one.default if one.default is not MISSING else MISSING


@cache
def _hints(made: type) -> Mapping[str, Any]:
    return get_type_hints(made)


def _built(made: type, document: Mapping[str, Any], where: str, project_id: str | None) -> Any:
    """Return a value of a class from its members; unknown, missing and wrong ones are refused."""
    given = dict(document)
    hints = dict(_hints(made))
    if made in (Memory, Candidate):
        hints["body"] = _body_type(given.pop(_TYPE, None), where)
    values: dict[str, Any] = {}
    for one in fields(made):
        place = f"{where}: {one.name}"
        if one.name == _OF_PROJECT and project_id is not None:
            values[one.name] = project_id
        elif one.name in given:
            values[one.name] = _read(hints[one.name], given.pop(one.name), place, project_id)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise InvalidArchive(f"{place} is missing")
    if given:
        raise InvalidArchive(f"{where}: {_shown(min(given))} is no member of it")
    return made(**values)


def _body_type(name: Any, where: str) -> type:
    if name not in list(MemoryType):
        raise InvalidArchive(f"{where}: type: {_shown(name)} is no type of memory")
    return BODY_TYPES[MemoryType(name)]


def _read(hint: Any, raw: Any, where: str, project_id: str | None) -> Any:  # noqa: PLR0911 one answer a form
    """Return a member's value, of the type that the class declares."""
    if hint is Any:
        check_json(raw, where)
        return raw
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(arguments, raw, where, project_id)
    if origin is not None:
        return _collected(origin, arguments, raw, where, project_id)
    if is_dataclass(hint):
        if not isinstance(raw, dict):
            raise InvalidArchive(f"{where} has to be an object")
        return _built(cast(type, hint), raw, where, project_id)
    if hint is datetime:
        return _moment(raw, where)
    if hint is bytes:
        return _decoded(raw, where)
    return _scalar(hint, raw, where)


def _one_of(arguments: Sequence[Any], raw: Any, where: str, project_id: str | None) -> Any:
    if raw is None and NoneType in arguments:
        return None
    others = [one for one in arguments if one is not NoneType]
    if len(others) == 1:
        return _read(others[0], raw, where, project_id)
    if type(raw) not in others:
        raise InvalidArchive(f"{where} is of the wrong type")
    check_json(raw, where)
    return raw


def _collected(
    origin: Any, arguments: Sequence[Any], raw: Any, where: str, project_id: str | None
) -> Any:
    if issubclass(origin, Mapping):
        if not isinstance(raw, dict):
            raise InvalidArchive(f"{where} has to be an object")
        for name in raw:
            check_text(name, where)
        return {name: _read(arguments[1], one, where, project_id) for name, one in raw.items()}
    if not isinstance(raw, list):
        raise InvalidArchive(f"{where} has to be a list")
    return tuple(_read(arguments[0], one, where, project_id) for one in raw)


def _scalar(hint: Any, raw: Any, where: str) -> Any:
    if issubclass(hint, StrEnum):
        if raw not in list(hint):
            raise InvalidArchive(f"{where}: {_shown(raw)} is none of {', '.join(hint)}")
        return hint(raw)
    if type(raw) is not hint:
        raise InvalidArchive(f"{where} has to be of the type {hint.__name__}")
    if hint is str:
        check_text(raw, where)
    elif hint is int:
        check_count(raw, where)
    return raw


def _moment(raw: Any, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(raw)
    except (TypeError, ValueError) as error:
        raise InvalidArchive(f"{where}: {_shown(raw)} is no moment") from error
    if moment.tzinfo is None:
        raise InvalidArchive(f"{where}: {_shown(raw)} has no UTC offset")
    return moment


def _decoded(raw: Any, where: str) -> bytes:
    try:
        data = base64.b64decode(raw, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise InvalidArchive(f"{where} is not base64") from error
    check_vector(data, where)
    return data


def _shown(raw: Any) -> str:
    """Return what is named in an error: of a hostile file, as little as is needed to find it."""
    text = repr(raw)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
