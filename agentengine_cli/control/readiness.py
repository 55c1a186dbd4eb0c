"""Asks the server how it is, and tells its answer from everybody else's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPConnection, HTTPException
from typing import Any, Protocol

from agentengine_cli.control.addresses import HOST
from agentengine_cli.control.state import ServerRecord

TIMEOUT_SECONDS = 2.0
LARGEST_ANSWER = 1024 * 1024
QUEUE_PATH = "/api/v1/projects/local/memory/worker/queueStats"
QUEUE_STATES = ("queued", "running", "failed")


LASTING_CODES = frozenset({"KEY_MISSING", "PROVIDER_MISSING", "WRONG_DIMENSION"})
LASTING_SIGNS = (
    "no key for",
    "cannot be loaded",
    "is not installed",
    "is not the file this version",
    "There is no local embedding model",
    "needs a processor",
    "Make the two agree",
    "dimensions, but",
)
"""How the server words what a person has to mend, where it gives no code."""


class Voice(StrEnum):
    """Who answered on the recorded port."""

    OURS = "ours"
    FOREIGN = "foreign"
    SILENT = "silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back from `/ready`."""

    voice: Voice
    status: str = "starting"
    """ready, starting or blocked, in the server's words."""
    blocked_on: Sequence[str] = ()
    body: Mapping[str, Any] = field(default_factory=dict)
    """The whole document; empty unless the server is ours."""

    @property
    def is_hopeless(self) -> bool:
        """Whether it is blocked on something that waiting does not change."""
        if self.status != "blocked":
            return False
        parts = (self.body.get(name) for name in ("embedding", "extraction"))
        codes = {part.get("code") for part in parts if isinstance(part, dict)}
        told = any(sign in reason for sign in LASTING_SIGNS for reason in self.blocked_on)
        return told or not codes.isdisjoint(LASTING_CODES)

    @property
    def is_ready(self) -> bool:
        """Whether the server is ours and takes work."""
        return self.voice is Voice.OURS and self.status == "ready"


class Prober(Protocol):
    """Asks a recorded server for its readiness."""

    def __call__(self, record: ServerRecord) -> Answer:
        """Return the answer; never raises for a server that does not give one."""
        ...


def probe(record: ServerRecord) -> Answer:
    """Ask over HTTP, directly: the server is on loopback, whatever proxy the shell names.

    Not with httpx, whose import and first client cost a status command 0.2 seconds.
    """
    connection = HTTPConnection(HOST, record.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/ready", headers={"Accept": "application/json"})
        body = connection.getresponse().read(LARGEST_ANSWER)
    except (OSError, HTTPException):
        return Answer(voice=Voice.SILENT)
    finally:
        connection.close()
    return interpret(body, record.instance_id)


def vectors(body: Mapping[str, Any]) -> int | None:
    """Return how many vectors the store holds, if the readiness document says so."""
    search = body.get("search")
    count = search.get("vectors") if isinstance(search, dict) else None
    return count if isinstance(count, int) else None


def store(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return which store a readiness document is about, if it says so."""
    told = body.get("store")
    names = ("kind", "location", "database")
    return {name: told.get(name) for name in names} if isinstance(told, dict) and told else None


def reembedding(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a readiness document says of vectors of another model; empty: nothing."""
    told = body.get("reembedding")
    return told if isinstance(told, dict) else {}


def queue_counts(record: ServerRecord, token: str) -> Mapping[str, int] | None:
    """Return how many jobs are queued, running and failed, if the server says so."""
    connection = HTTPConnection(HOST, record.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", QUEUE_PATH, headers={"Authorization": f"Bearer {token}"})
        found = json.loads(connection.getresponse().read(LARGEST_ANSWER))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    counts = {name: found.get(name) for name in QUEUE_STATES} if isinstance(found, dict) else {}
    return {name: count for name, count in counts.items() if type(count) is int} or None


def interpret(text: str | bytes, instance_id: str) -> Answer:
    """Read an answer; one without our instance id is another program's."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict) or body.get("instance_id") != instance_id:
        return Answer(voice=Voice.FOREIGN)
    reasons = body.get("blocked_on") or ()
    return Answer(
        voice=Voice.OURS,
        status=str(body.get("status", "starting")),
        blocked_on=tuple(map(str, reasons)),
        body=body,
    )
