"""A filter as the document that a client would write for it."""

from datetime import datetime
from typing import Any

from memory_server.domain.filters import Clauses, Filter, Scalar


def filter_document(condition: Filter) -> dict[str, Any]:
    """Return the filter in the filter language; dates are ISO 8601 texts.

    One that matches everything is empty, one that matches nothing has an `$in` without values.
    """
    if isinstance(condition, Clauses):
        parts = [filter_document(part) for part in condition.filters]
        return {condition.connective.value: parts} if parts else {}
    return {condition.path: {condition.operator.value: _plain(condition.value)}}


def _plain(value: Scalar | tuple[Scalar, ...]) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value
