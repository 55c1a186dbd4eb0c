"""Values of a data file against the shape they should have, and where they differ from it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evaluation.datasets.errors import InvalidDataset

MOST_SHOWN: Final = 3
"""Faults of one object that a message names; the others are counted."""

_Shape = TypeVar("_Shape", bound=BaseModel)

_KINDS: Final[Mapping[type, str]] = {
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_WANTED: Final[Mapping[str, str]] = {
    "string_type": "should be text",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "bool_type": "should be true or false",
    "list_type": "should be a list",
    "dict_type": "should be an object",
    "model_type": "should be an object",
}


def checked(shape: type[_Shape], value: object, place: str, *, fix: str = "") -> _Shape:
    """Return the value in that shape.

    Raises InvalidDataset naming the place, each field, what it is, and the fix where one is given.
    """
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        faults = list(described(error))
        more = len(faults) - MOST_SHOWN
        shown = "; ".join(faults[:MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        raise InvalidDataset(f"{place}: {shown}" + (f". {fix}" if fix else "")) from None


def described(error: ValidationError) -> Iterator[str]:
    """Say each fault once: its field as one would write it, and what is wrong there."""
    said = set()
    for fault in error.errors(include_url=False):
        text = f"{_field(fault['loc'])} {_reason(fault)}"
        if text not in said:
            said.add(text)
            yield text


def kind_of(value: object) -> str:
    """Name what a JSON value is."""
    return _KINDS.get(type(value), type(value).__name__)


def _field(steps: Sequence[str | int]) -> str:
    field = ""
    for step in steps:
        if isinstance(step, int):
            field += f"[{step}]"
        elif step not in _UNION_STEPS:
            field += f".{step}" if field else step
    return field or "it"


_UNION_STEPS: Final = {"str", "int", "float", "bool"}
"""What pydantic adds to a place for each kind that a field may be of."""


def _reason(fault: ErrorDetails) -> str:
    value: Any = fault["input"]
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] == "extra_forbidden":
        return "is no field of it: take it out, or mend its name"
    if fault["type"] in ("too_short", "string_too_short"):
        return "should not be empty"
    wanted = _WANTED.get(fault["type"])
    if wanted:
        return f"{wanted}, is {kind_of(value)}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"is not right: {message[:1].lower()}{message[1:]}"
