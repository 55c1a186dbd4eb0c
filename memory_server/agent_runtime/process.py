"""The life of an agent's process: load, answer calls one after another, end with the server."""

import asyncio
import os
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import Any

from memory_server.agent_runtime import frames
from memory_server.agent_runtime.answering import Answering, Cancelled, TooLong, WrongAnswer
from memory_server.agent_runtime.invocation import Invocation
from memory_server.agent_runtime.loading import Unloadable, load

EXECUTION_VARIABLE = "AGENTENGINE_EXECUTION_ID"
_SAID = 500  # characters of an exception's text that travel


def main() -> None:
    """Run the agent that the arguments name: the channel's descriptor, and the entrypoint."""
    descriptor, entrypoint = int(sys.argv[2]), sys.argv[3]
    os.set_inheritable(descriptor, False)  # noqa: FBT003 the standard library's signature
    channel = _Channel(socket.socket(fileno=descriptor))
    sys.argv[:] = [entrypoint]
    sys.path.insert(0, str(os.getcwd()))  # noqa: PTH109 sys.path holds texts
    calls: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    process = _Process(channel, calls)
    threading.Thread(target=process.listen, name="server", daemon=True).start()
    try:
        process.work(entrypoint)
    finally:  # a thread of the agent's must not keep a process alive that answers nothing
        _end()


class _Channel:
    """The way to the server; not stdout, where anything may be written."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        # A copy of this process that the agent forks has nothing to say to the server.
        os.register_at_fork(after_in_child=connection.close)

    def send(self, kind: str, **content: Any) -> None:
        try:
            self._connection.sendall(frames.encode({"kind": kind, **content}))
        except OSError:
            _end()

    def receive(self) -> dict[str, Any] | None:
        try:
            return frames.receive(self._connection)
        except frames.BadFrame:
            return None


class _Process:
    def __init__(self, channel: _Channel, calls: "queue.SimpleQueue[dict[str, Any]]") -> None:
        self._channel = channel
        self._calls = calls
        self._answering: Answering | None = None
        self._current: str | None = None

    def listen(self) -> None:
        """Take what the server says; when it is gone, so is this process."""
        while (frame := self._channel.receive()) is not None:
            if frame["kind"] == frames.CALL:
                self._calls.put(frame)
            elif self._answering is not None and frame.get("execution_id") == self._current:
                self._answering.cancel()
        _end()

    def work(self, entrypoint: str) -> None:
        try:
            function, arity = load(entrypoint)
        except BaseException as error:  # noqa: BLE001 whatever the user's module does, it is told
            if not isinstance(error, Unloadable):
                _print()
            _flush()
            self._channel.send(frames.UNLOADABLE, **_told(error))
            return
        self._channel.send(frames.READY)
        with asyncio.Runner() as runner:
            self._answering = Answering(function, arity, runner, self._emit)
            while self._answer(self._answering, self._calls.get()):
                pass

    def _emit(self, event: Mapping[str, Any]) -> None:
        self._channel.send(frames.EVENT, execution_id=self._current, **event)

    def _answer(self, answering: Answering, call: Mapping[str, Any]) -> bool:
        """Answer a call; return whether there can be another."""
        invocation = Invocation(**call["invocation"])
        self._current = os.environ[EXECUTION_VARIABLE] = invocation.execution_id
        ending: tuple[str, dict[str, str]]
        try:
            answering.answer(call["message"], invocation)
            ending = frames.DONE, {}
        except Cancelled:
            ending = frames.FAILED, {"reason": "cancelled"}
        except (WrongAnswer, TooLong) as error:
            reason = "too_long" if isinstance(error, TooLong) else "wrong_answer"
            ending = frames.FAILED, {"reason": reason, **_told(error)}
        except SystemExit as error:
            ending = frames.FAILED, {"reason": "exit", **_told(error)}
        except BaseException as error:  # noqa: BLE001 whatever the user's code does, it is told
            _print()
            ending = frames.FAILED, {"reason": "raised", **_told(error)}
        finally:
            os.environ.pop(EXECUTION_VARIABLE, None)
        _flush()
        kind, content = ending
        self._channel.send(kind, execution_id=invocation.execution_id, **content)
        self._current = None
        return content.get("reason") != "exit"


def _told(error: BaseException) -> dict[str, str]:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 an exception that cannot even be shown is still told
        text = ""
    return {"type": type(error).__name__, "text": text[:_SAID]}


def _print() -> None:
    """Print the exception that is handled, where that is possible."""
    try:
        traceback.print_exc()
    except BaseException:  # noqa: BLE001 it may have a text that cannot be made, or the agent closed stderr
        _flush()


def _flush() -> None:
    """Let what was printed be read before the answer's end is."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the agent closed or replaced it
            continue


def _end() -> None:
    """End at once, whatever threads there are; the guard ends what was started."""
    os._exit(1)
