"""One line of a conversation file: what it must say, and every reason why it does not."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NoReturn

MAX_CONTENT_BYTES = 256 * 1024
"""The longest content the server takes, in bytes of UTF-8."""
ROLES = ("user", "assistant", "tool", "system")
EPOCH = re.compile(r"\d{10}|\d{13}")
LARGEST_SECONDS = 10_000_000_000
"""Above it a number counts milliseconds."""
Complaint = tuple[str, str]
"""The key, empty for the whole line, and what is wrong with it."""
Check = Callable[[Any], str | None]


class BadLine(Exception):
    """The line is not a turn; `complaints` has every reason."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("; ".join(what for _, what in complaints))
        self.complaints = complaints


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTurn:
    """A turn as the file tells it."""

    session_id: str
    user_id: str
    role: str
    content: str | None
    idempotency_key: str | None
    metadata: Mapping[str, Any]
    """With the line's `timestamp` in it."""
    more: Mapping[str, Any]
    """The rarer fields, by their names on the wire."""


def parse_line(raw: bytes) -> ImportedTurn:
    """Return the turn a line tells, or raise `BadLine`."""
    document = _document(raw)
    complaints = [*_unknown(document), *_missing(document), *_unfit(document)]
    complaints += [] if complaints else _contradictions(document)
    if complaints:
        raise BadLine(complaints)
    metadata = dict(document.get("metadata") or {})
    if document.get("timestamp") is not None:
        metadata["timestamp"] = document["timestamp"]
    return ImportedTurn(
        session_id=document["session_id"],
        user_id=document["user_id"],
        role=document["role"],
        content=document.get("content"),
        idempotency_key=document.get("idempotency_key"),
        metadata=metadata,
        more={name: document[name] for name in RARE if document.get(name) is not None},
    )


def _document(raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise BadLine([("", f"byte {error.start + 1} is not UTF-8")]) from error
    except RecursionError as error:
        raise BadLine([("", "nested too deeply")]) from error
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg} at character {error.pos + 1}"
        raise BadLine([("", what)]) from error
    except ValueError as error:  # a number JSON does not have, or of absurd length
        raise BadLine([("", f"not JSON: {error}")]) from error
    if not isinstance(document, dict):
        raise BadLine(
            [("", f"expected an object with session_id, user_id, ..., found {_kind(document)}")]
        )
    return document


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"expected text, found {_kind(value)}"
    if not value.strip():
        return "must not be blank"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which is no character"
    return None


def _content(value: Any) -> str | None:
    if value is None or value == "":
        return None
    complaint = _text(value)
    if complaint:
        return complaint
    size = len(value.encode())
    if size > MAX_CONTENT_BYTES:
        return f"{size} bytes; a turn may have {MAX_CONTENT_BYTES} at most"
    return None


def _role(value: Any) -> str | None:
    if value in ROLES:
        return None
    shown = repr(value) if isinstance(value, str) else _kind(value)
    return f"expected one of {', '.join(ROLES)}, found {shown}"


def _moment(value: Any) -> str | None:
    """Complain of what is no point in time: ISO 8601, or seconds or milliseconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"expected a time, found {_kind(value)}"
    if _is_moment(value):
        return None
    return (
        f"{str(value)[:40]!r} is no time: ISO 8601, such as 2023-05-08T13:56:00Z, or epoch seconds"
    )


def _is_moment(value: str | float) -> bool:
    if isinstance(value, str) and not EPOCH.fullmatch(value.strip()):
        try:
            datetime.fromisoformat(value.strip())
        except ValueError:
            return False
        return True
    seconds = abs(float(value))
    return (seconds / 1000 if seconds > LARGEST_SECONDS else seconds) <= LARGEST_SECONDS


def _optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else f"expected an object, found {_kind(value)}"


def _list(value: Any) -> str | None:
    return None if isinstance(value, list) else f"expected a list, found {_kind(value)}"


def _boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"expected true or false, found {_kind(value)}"


REQUIRED: Mapping[str, Check] = {"session_id": _text, "user_id": _text, "role": _role}
RARE: Mapping[str, Check] = {
    "agent_id": _optional(_text),
    "tool_calls": _optional(_list),
    "tool_call_id": _optional(_text),
    "tool_name": _optional(_text),
    "is_error": _optional(_boolean),
    "model_name": _optional(_text),
}
CHECKS: Mapping[str, Check] = {
    **REQUIRED,
    "content": _content,
    "timestamp": _optional(_moment),
    "metadata": _optional(_object),
    "idempotency_key": _optional(_text),
    **RARE,
}


def _unknown(document: Mapping[str, Any]) -> Sequence[Complaint]:
    return [(name, _nearest(name)) for name in document if name not in CHECKS]


def _nearest(name: str) -> str:
    near = get_close_matches(name, CHECKS, n=1)
    return f"unknown key; did you mean {near[0]!r}?" if near else "unknown key"


def _missing(document: Mapping[str, Any]) -> Sequence[Complaint]:
    return [(name, "missing") for name in REQUIRED if name not in document]


def _unfit(document: Mapping[str, Any]) -> Sequence[Complaint]:
    found = ((name, CHECKS[name](document[name])) for name in document if name in CHECKS)
    return [(name, what) for name, what in found if what is not None]


def _contradictions(document: Mapping[str, Any]) -> Sequence[Complaint]:
    """Return what is wrong with a line whose keys are each right."""
    complaints: list[Complaint] = []
    role, calls = document["role"], document.get("tool_calls")
    if not document.get("content") and not (role == "assistant" and calls):
        says = "needs content or tool_calls" if role == "assistant" else "needs content"
        complaints.append(("content", f"a turn of role {role} {says}"))
    if role == "tool" and not document.get("tool_call_id"):
        complaints.append(("tool_call_id", "missing: a tool turn names the call it answers"))
    told = (document.get("metadata") or {}).get("timestamp")
    if document.get("timestamp") and told is not None and told != document["timestamp"]:
        complaints.append(("timestamp", "metadata.timestamp says something else"))
    return complaints
