"""Projects: what memory, people and credentials belong to."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project of this server. Nothing of it is visible from another."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    description: str = ""
    enforce_identity: bool = False
    """Whether people may name only themselves as a user, and anonymous callers are refused."""
    allow_delegation: bool = False
    """Whether a service account that invokes an agent may name a user."""
