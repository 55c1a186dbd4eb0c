"""Asks the server how it is, and tells its answer from everybody else's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agentengine_cli.control.state import ServerRecord

TIMEOUT_SECONDS = 2.0


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
    refused: bool = False
    """Silent because nothing listens, rather than because nobody answered in time."""

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
    """Ask over HTTP. Proxies of the calling shell are ignored: the server is on loopback."""
    import httpx  # noqa: PLC0415 - most commands ask nobody, and it is slow to load

    try:
        with httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
            response = client.get(f"{record.url}/ready")
    except httpx.ConnectError:
        return Answer(voice=Voice.SILENT, refused=True)
    except httpx.HTTPError:
        return Answer(voice=Voice.SILENT)
    return interpret(response.text, record.instance_id)


def interpret(text: str, instance_id: str) -> Answer:
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
