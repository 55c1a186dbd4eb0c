"""Valid values by default: a test says only what matters to it."""

import itertools
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from memory_server.domain.account import AccountRole, SecretHash, ServiceAccount
from memory_server.domain.candidate import Candidate
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.exchange import Said, Viewpoint
from memory_server.domain.job import Job, JobKind
from memory_server.domain.member import Login, Member, PasswordHash
from memory_server.domain.memory import Block, Episode, Fact, Memory, Procedure, Record, Term
from memory_server.domain.project import Project
from memory_server.domain.proposal import Proposal
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.snapshot import Snapshot, Trigger
from memory_server.domain.turn import NewTurn, Role
from tests.clock import START

PROJECT = "shop"
USER = "ana"
SESSION = "monday"
SPACE = EmbeddingSpace(model="toy", dimension=4)
OTHER_SPACE = EmbeddingSpace(model="toy-2", dimension=3)

_numbers = itertools.count(1)


def an_id(prefix: str) -> str:
    """Return an id that no other value has; later ones sort after earlier ones."""
    return f"{prefix}-{next(_numbers):06}"


def a_scope(**changes: Any) -> Scope:
    """Return Ana's scope."""
    return Scope(**{"project_id": PROJECT, "user_id": USER} | changes)


def a_turn(content: str = "I moved to Lisbon", **changes: Any) -> NewTurn:
    """Return something Ana said."""
    values: dict[str, Any] = {
        "id": an_id("turn"),
        "project_id": PROJECT,
        "session_id": SESSION,
        "user_id": USER,
        "role": Role.USER,
        "content": content,
        "created_at": START,
    }
    return NewTurn(**values | changes)


def a_fact(**changes: Any) -> Fact:
    """Return the body of a fact."""
    return Fact(**{"label": "home_city", "text": "Ana lives in Lisbon"} | changes)


def an_episode(**changes: Any) -> Episode:
    """Return the body of an episode."""
    return Episode(**{"title": "Moving", "content": "Ana moved to Lisbon"} | changes)


def a_term(**changes: Any) -> Term:
    """Return the body of a term."""
    values: dict[str, Any] = {
        "domain": "shipping",
        "term": "SKU",
        "definition": "a stock keeping unit",
    }
    return Term(**values | changes)


def a_procedure(**changes: Any) -> Procedure:
    """Return the body of a procedure."""
    values: dict[str, Any] = {
        "procedure": "refund_order",
        "description": "How an order is refunded",
        "content": "Open the order, press refund",
    }
    return Procedure(**values | changes)


def a_record(**changes: Any) -> Record:
    """Return the body of a record of a declared type."""
    return Record(**{"custom_type": "ticket", "content": "The Lisbon pump leaks"} | changes)


def a_block(**changes: Any) -> Block:
    """Return the body of an exchange of Ana's, as she saw it."""
    values: dict[str, Any] = {
        "exchange_id": "exchange",
        "viewpoint": Viewpoint.USER,
        "speaker": "Ana",
        "conversation_id": SESSION,
        "position": 1,
        "messages": some_said("I moved to Lisbon"),
        "annotations": {"conversation_id": SESSION},
    }
    return Block(**values | changes)


def some_said(asked: str, answered: str = "I see") -> tuple[Said, ...]:
    """Return what Ana said and the reply to it."""
    return (
        Said(id="m1", role=Role.USER, speaker="Ana", content=asked, position=1),
        Said(id="m2", role=Role.ASSISTANT, speaker="Ben", content=answered, position=2),
    )


def a_memory(*, at: datetime = START, **changes: Any) -> Memory:
    """Return something known about Ana since a moment."""
    values: dict[str, Any] = {
        "id": an_id("memory"),
        "project_id": PROJECT,
        "user_id": USER,
        "visibility": Visibility.PRIVATE,
        "body": a_fact(),
        "created_at": at,
        "updated_at": at,
        "valid_from": at,
    }
    return Memory(**values | changes)


def a_snapshot(first_seq: int = 1, last_seq: int = 1, **changes: Any) -> Snapshot:
    """Return a run of Ana's turns."""
    values: dict[str, Any] = {
        "id": an_id("snapshot"),
        "project_id": PROJECT,
        "session_id": SESSION,
        "user_id": USER,
        "agent_id": None,
        "first_seq": first_seq,
        "last_seq": last_seq,
        "trigger": Trigger.SIZE,
        "created_at": START,
    }
    return Snapshot(**values | changes)


def a_job(**changes: Any) -> Job:
    """Return work that is due for Ana."""
    job_id = an_id("job")
    values: dict[str, Any] = {
        "id": job_id,
        "project_id": PROJECT,
        "kind": JobKind.EXTRACT,
        "key": f"key-of-{job_id}",
        "payload": {"type": "semantic"},
        "user_id": USER,
        "created_at": START,
        "due_at": START,
    }
    return Job(**values | changes)


def a_proposal(*, said_at: datetime = START, **changes: Any) -> Proposal:
    """Return something that Ana said and that waits to be remembered."""
    proposal_id = an_id("proposal")
    values: dict[str, Any] = {
        "id": proposal_id,
        "project_id": PROJECT,
        "user_id": USER,
        "agent_id": None,
        "session_id": SESSION,
        "snapshot_id": "snapshot",
        "extractor": "rules/1",
        "key": f"key-of-{proposal_id}",
        "candidate": Candidate(body=a_fact(), turn_ids=("turn",)),
        "said_at": said_at,
        "created_at": START,
    }
    return Proposal(**values | changes)


def an_account(**changes: Any) -> ServiceAccount:
    """Return a service account."""
    client_id = an_id("client")
    values: dict[str, Any] = {
        "client_id": client_id,
        "project_id": PROJECT,
        "name": f"name-of-{client_id}",
        "role": AccountRole.AGENT_DEVELOPER,
        "secrets": (),
        "created_at": START,
        "updated_at": START,
    }
    return ServiceAccount(**values | changes)


def a_project(**changes: Any) -> Project:
    """Return a project."""
    project_id = an_id("project")
    values: dict[str, Any] = {
        "id": project_id,
        "name": f"name-of-{project_id}",
        "created_at": START,
        "updated_at": START,
    }
    return Project(**values | changes)


def a_member(**changes: Any) -> Member:
    """Return somebody who belongs to the project."""
    values: dict[str, Any] = {
        "project_id": PROJECT,
        "user_id": an_id("user"),
        "role": AccountRole.AGENT_DEVELOPER,
        "password": PasswordHash(salt="salt", digest="digest"),
        "created_at": START,
        "updated_at": START,
    }
    return Member(**values | changes)


def a_login(**changes: Any) -> Login:
    """Return a login of Ana's that is good for a day."""
    login_id = an_id("login")
    day = timedelta(days=1)
    values: dict[str, Any] = {
        "id": login_id,
        "project_id": PROJECT,
        "user_id": USER,
        "refresh": SecretHash(salt=login_id, digest=login_id, expires_at=START + day),
        "created_at": START,
    }
    return Login(**values | changes)


def a_vector(*components: float) -> Vector:
    """Return the unit vector in a direction; missing components are zero."""
    vector = np.zeros(SPACE.dimension, np.float32)
    vector[: len(components)] = components
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, np.float32)
