"""Erasures: what one removed, and how it is remembered without naming anybody."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from memory_server.domain.memory import MemoryType
from memory_server.domain.scope import Scope

COUNTED_AS: Mapping[MemoryType, str] = {MemoryType.CUSTOM: "records", MemoryType.BLOCK: "blocks"}
"""What memories of a type are counted as when they are erased; the others as memories."""


class Traces(StrEnum):
    """Whether what was erased could still be read from the disk by whoever has the disk."""

    NONE = "none"
    LEFT = "being removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What an erasure removed."""

    counts: Mapping[str, int]
    """By kind."""
    traces: Traces


def erased(scope: Scope) -> str:
    """Return what stands for whom a scope erases: one user, nobody, or a whole project."""
    if scope.user_id is None and not scope.userless:
        return _hash(scope.project_id)
    return _hash(scope.project_id, scope.user_id)


def erasures_of(project_id: str, user_id: str | None) -> Sequence[str]:
    """Return under what an erasure that concerns an owner is written down."""
    return [_hash(project_id), _hash(project_id, user_id)]


def _hash(*named: str | None) -> str:
    return sha256(json.dumps(named).encode()).hexdigest()
