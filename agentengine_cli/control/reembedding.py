"""Asks the local server to have its vectors made by the configured model."""

import json
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from typing import Protocol

from agentengine_cli.control.addresses import HOST
from agentengine_cli.control.readiness import LARGEST_ANSWER
from agentengine_cli.control.state import ServerRecord
from agentengine_cli.errors import CliError

PATH = "/api/v1/admin/reembedding"
SECONDS = 300.0
"""The model is loaded or called before anything begins."""
OK = 200
AGAIN = "The former vectors answer on. Mend the cause, then again: agentengine memory reembed"


class ReembeddingRefused(CliError):
    """The vectors cannot be made by the configured model."""


class Leader(Protocol):
    """Asks a recorded server to lead its vectors to the configured model."""

    def __call__(self, record: ServerRecord, token: str) -> Sequence[str]:
        """Return what that changed, one line each; raises `ReembeddingRefused`."""
        ...


def lead(record: ServerRecord, token: str) -> Sequence[str]:
    """Ask over HTTP, directly, as `readiness.probe` does."""
    connection = HTTPConnection(HOST, record.port, timeout=SECONDS)
    try:
        connection.request("POST", PATH, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = json.loads(answer.read(LARGEST_ANSWER))
    except (OSError, HTTPException, ValueError) as error:
        raise ReembeddingRefused(
            f"The memory server at {record.url} does not answer: {error}", hint=AGAIN
        ) from error
    finally:
        connection.close()
    if answer.status != OK:
        raise ReembeddingRefused(str(body.get("detail") or answer.reason), hint=AGAIN)
    return [str(change) for change in body.get("changes", ())]
