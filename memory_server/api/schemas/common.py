"""What all bodies and documents share: tolerant in, exact out."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    Strict,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from memory_server.domain.json_values import check_storable
from memory_server.domain.limits import (
    MAX_ID,
    MAX_LIST_BYTES,
    MAX_METADATA_BYTES,
    MAX_QUERY_CHARACTERS,
)
from memory_server.domain.scope import Visibility


def _storable(max_bytes: int) -> AfterValidator:
    """Return a validator that refuses what JSON cannot carry back, and what is too large."""

    def check(value: Any) -> Any:
        check_storable(value, max_bytes=max_bytes)
        return value

    return AfterValidator(check)


def _blank_is_unset(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _number(value: Any) -> Any:
    """Refuse texts and booleans that could be read as numbers."""
    if isinstance(value, str | bool):
        raise ValueError("Input should be a number")  # noqa: TRY004 a validator's error
    return value


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")


def _written_out(value: Any) -> Any:
    """Refuse moments that are not written as ISO 8601: bare numbers, and texts of a number."""
    if isinstance(value, str) and _DATE.match(value):
        return value
    raise ValueError("Input should be a date and time with an offset, as ISO 8601 writes them")


JsonObject = Annotated[dict[str, Any], _storable(MAX_METADATA_BYTES)]
JsonList = Annotated[tuple[Any, ...], _storable(MAX_LIST_BYTES)]
JsonObjects = Annotated[tuple[dict[str, Any], ...], _storable(MAX_LIST_BYTES)]
Id = Annotated[str, Field(max_length=MAX_ID, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""An id of a user, session or agent: any characters but control characters."""
Query = Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)]
ONLY_NUMBERS = BeforeValidator(_number)
"""Stands after the bounds of a number: before them it would take them out of the description."""
Whole = Annotated[int, ONLY_NUMBERS]
Number = Annotated[float, ONLY_NUMBERS]
Flag = Annotated[bool, Strict()]
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]

QueryText = Annotated[str | None, BeforeValidator(_blank_is_unset)]
"""A query parameter; blank counts as absent."""
QueryVisibility = Annotated[Visibility | None, BeforeValidator(_blank_is_unset)]


def unset_if_blank(default: Any) -> BeforeValidator:
    """Return a validator of query parameters that takes a blank value for the default."""
    return BeforeValidator(lambda value: default if _blank_is_unset(value) is None else value)


BLANK: Mapping[str, Any] = {"type": "string", "pattern": r"^\s*$"}
"""The schema of a text that counts as absent."""
NULL: Mapping[str, Any] = {"type": "null"}
_ABOUT = ("title", "description", "default")
"""What stands beside the alternatives of a schema, not in one of them."""


class Body(BaseModel):
    """A request body: unknown fields are ignored; null and blank values count as absent."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    takes_blank: ClassVar[frozenset[str]] = frozenset()
    """Fields whose blank text is a value of its own."""

    @model_validator(mode="before")
    @classmethod
    def _drop_unset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if cls._is_set(name, value)}

    @classmethod
    def _is_set(cls, name: str, value: Any) -> bool:
        if value is None:
            return False
        blank = isinstance(value, str) and not value.strip()
        return not blank or name in cls.takes_blank

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Say in the schema too which fields take null and blank values for absent ones."""
        schema = handler(core_schema)
        shape = handler.resolve_ref_schema(schema)
        needed = shape.get("required", ())
        for name, field in shape.get("properties", {}).items():
            if name not in needed:
                shape["properties"][name] = _or_unset(field)
            elif field.get("type") == "string" and name not in cls.takes_blank:
                shape["properties"][name] = _not_blank(field)
        return schema


def _not_blank(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a text that has to be more than blank."""
    said = r"\S"
    return field | ({"allOf": [{"pattern": said}]} if "pattern" in field else {"pattern": said})


def _or_unset(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional field: its values, null, or a blank text."""
    values = {key: value for key, value in field.items() if key not in _ABOUT}
    options = [*values["anyOf"]] if list(values) == ["anyOf"] else [values]
    unset = (NULL,) if {"type": "string"} in options else (NULL, BLANK)
    options += [value for value in unset if value not in options]
    return {"anyOf": [*map(dict, options)]} | {
        key: value for key, value in field.items() if key in _ABOUT
    }


class Owned(Body):
    """Who it belongs to. `org_id` and `project_id` may be sent and decide nothing."""

    user_id: Id | None = None
    agent_id: Id | None = None
    visibility: Visibility | None = None
    metadata: JsonObject = Field(default_factory=dict)


class Answer(BaseModel):
    """A response body."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)
