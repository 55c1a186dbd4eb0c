"""What all bodies and documents share: tolerant in, exact out."""

import json
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memory_server.domain.scope import Visibility

MAX_ID = 512
"""The longest id of a user, session or agent, in characters."""


def _storable(value: Any) -> Any:
    """Refuse what JSON cannot carry back: numbers that are not finite, halves of characters."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("holds a number or a text that cannot be stored as JSON") from None
    return value


def _blank_is_unset(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


JsonObject = Annotated[dict[str, Any], AfterValidator(_storable)]
JsonList = Annotated[tuple[Any, ...], AfterValidator(_storable)]
JsonObjects = Annotated[tuple[dict[str, Any], ...], AfterValidator(_storable)]
Id = Annotated[str, Field(max_length=MAX_ID)]

QueryText = Annotated[str | None, BeforeValidator(_blank_is_unset)]
"""A query parameter; blank counts as absent."""
QueryVisibility = Annotated[Visibility | None, BeforeValidator(_blank_is_unset)]


def unset_if_blank(default: Any) -> BeforeValidator:
    """Return a validator of query parameters that takes a blank value for the default."""
    return BeforeValidator(lambda value: default if _blank_is_unset(value) is None else value)


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


class Owned(Body):
    """Who it belongs to. `org_id` and `project_id` may be sent and decide nothing."""

    user_id: Id | None = None
    agent_id: Id | None = None
    visibility: Visibility | None = None
    metadata: JsonObject = Field(default_factory=dict)


class Answer(BaseModel):
    """A response body."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)
