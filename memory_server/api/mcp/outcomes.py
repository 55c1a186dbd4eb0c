"""What comes of a call: an answer, or the same envelope that a route would send."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from memory_server.api.errors import of_invalid, of_memory_server, request_id
from memory_server.api.mcp.calls import ToolAnswer
from memory_server.domain.limits import REQUEST_SECONDS
from memory_server.errors import DeadlineExceeded, MemoryServerError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A tool's answer, or why there is none."""

    document: Mapping[str, Any]
    texts: Sequence[str]
    failed: bool = False


async def outcome_of(calling: Awaitable[ToolAnswer], request: Request) -> Outcome:
    """Wait for a call; what it raises becomes an error that the model can read and act on."""
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            answer = await calling
        return Outcome(document=answer.document, texts=answer.texts)
    except MemoryServerError as error:
        return _failed(of_memory_server(request, error))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        return _failed(await of_invalid(request, RequestValidationError(problems)))
    except TimeoutError:
        late = DeadlineExceeded(f"not done within {REQUEST_SECONDS:g} seconds, so it was given up")
        return _failed(of_memory_server(request, late))
    except Exception:  # a bug is told by its request id; its text stays in the log
        logger.exception("request %s: a tool failed", request_id(request))
        hidden = MemoryServerError(
            f"internal error; the server's log has the reason under request id "
            f"{request_id(request)}"
        )
        return _failed(of_memory_server(request, hidden))


def _failed(envelope: JSONResponse) -> Outcome:
    document = json.loads(bytes(envelope.body))
    return Outcome(
        document=document, texts=[f"{document['code']}: {document['error']}"], failed=True
    )
