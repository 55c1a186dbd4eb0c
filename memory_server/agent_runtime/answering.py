"""Calling the agent, whichever of its forms it has, and passing on what it tells."""

import asyncio
import inspect
import json
import threading
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from typing import Any

from memory_server.agent_runtime import frames
from memory_server.agent_runtime.invocation import Invocation

Emit = Callable[[Mapping[str, Any]], None]

_encode = json.JSONEncoder(allow_nan=False).encode

_FORMS = (
    "a string, pieces of text or step events "
    '({"type": "step" | "subagent_start" | "subagent_end", "text": ..., "metadata": {...}})'
)


class WrongAnswer(Exception):
    """The agent told something that is no answer."""


class TooLong(Exception):
    """The agent told more than an answer may hold."""


class Cancelled(Exception):
    """The server wants no more of this answer."""


class Answering:
    """One agent at work; one call at a time, in the main thread, on one event loop for all."""

    def __init__(
        self, function: Callable[..., Any], arity: int, runner: asyncio.Runner, emit: Emit
    ) -> None:
        self._function = function
        self._arity = arity
        self._runner = runner
        self._emit = emit
        self._told = 0
        self._cancelled = threading.Event()
        self._task: asyncio.Task[None] | None = None

    def answer(self, message: str, invocation: Invocation) -> None:
        """Call the agent and emit its answer; what it raises passes through.

        Raises `WrongAnswer`, `TooLong`, or `Cancelled`.
        """
        self._told = 0
        self._cancelled.clear()
        result = self._function(*(message, invocation)[: self._arity])
        if isinstance(result, str):
            self._tell(result)
        elif inspect.isawaitable(result) or isinstance(result, AsyncIterable):
            self._runner.run(self._drive(result))
        elif isinstance(result, Iterable) and not isinstance(result, bytes | Mapping):
            self._pieces(result)
        else:
            raise _wrong("returned", result)
        if self._cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the running call to end; called from another thread. What blocks is not reached."""
        self._cancelled.set()
        task = self._task
        if task is not None:
            self._runner.get_loop().call_soon_threadsafe(task.cancel)

    async def _drive(self, result: Any) -> None:
        self._task = asyncio.current_task()
        try:
            if self._cancelled.is_set():
                raise Cancelled
            await (self._async_pieces(result) if _is_stream(result) else self._awaited(result))
        except asyncio.CancelledError:
            if self._cancelled.is_set():
                raise Cancelled from None
            raise
        finally:
            self._task = None

    async def _awaited(self, result: Awaitable[Any]) -> None:
        answer = await result
        if isinstance(answer, AsyncIterable):
            await self._async_pieces(answer)
        elif isinstance(answer, str):
            self._tell(answer)
        else:
            raise _wrong("returned", answer)

    async def _async_pieces(self, pieces: AsyncIterable[Any]) -> None:
        try:
            async for piece in pieces:
                self._tell(piece)
        finally:
            if inspect.isasyncgen(pieces):
                await pieces.aclose()

    def _pieces(self, pieces: Iterable[Any]) -> None:
        try:
            for piece in pieces:
                self._tell(piece)
        finally:
            if inspect.isgenerator(pieces):
                pieces.close()

    def _tell(self, piece: Any) -> None:
        if self._cancelled.is_set():
            raise Cancelled
        if isinstance(piece, str):
            self._tell_text(piece)
        elif isinstance(piece, Mapping):
            self._tell_step(piece)
        else:
            raise _wrong("yielded", piece)

    def _tell_text(self, text: str) -> None:
        data = str.encode(text, "utf-8", "replace")  # not as a subclass might
        self._told += len(data)
        if self._told > frames.ANSWER_BYTES:
            raise TooLong(f"more than {frames.ANSWER_BYTES} bytes")
        whole = data.decode("utf-8")
        for start in range(0, len(whole), frames.PIECE_CHARACTERS):
            piece = whole[start : start + frames.PIECE_CHARACTERS]
            self._emit({"type": frames.TEXT, "text": piece})

    def _tell_step(self, given: Mapping[str, Any]) -> None:
        kind, text = given.get("type"), given.get("text", "")
        metadata = given.get("metadata", {})
        if kind == frames.TEXT and isinstance(text, str):
            self._tell_text(text)
            return
        known = kind in frames.STEPS and isinstance(text, str) and isinstance(metadata, Mapping)
        if not known:
            raise WrongAnswer(f"the agent yielded an event of another form; expected {_FORMS}")
        event = {"type": kind, "text": text, "metadata": dict(metadata)}
        if len(_as_json(event)) > frames.STEP_BYTES:
            raise TooLong(f"a step event of more than {frames.STEP_BYTES} bytes")
        self._emit(event)


def _is_stream(result: Any) -> bool:
    return isinstance(result, AsyncIterable) and not inspect.isawaitable(result)


def _as_json(event: Mapping[str, Any]) -> str:
    try:
        return _encode(event)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongAnswer(f"the metadata of a step event is no JSON: {error}") from error


def _wrong(verb: str, value: Any) -> WrongAnswer:
    return WrongAnswer(f"the agent {verb} {type(value).__name__}; expected {_FORMS}")
