"""One process of an agent: loaded once, it answers one call after another."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import memory_server
from memory_server.agent_runtime import frames
from memory_server.errors import (
    AgentAnswerTooLong,
    AgentEnded,
    AgentError,
    AgentRaised,
    AgentUnloadable,
    WrongAgentAnswer,
)
from memory_server.ports.agent import AgentCall, AgentEvent, AgentEventKind, Badge
from memory_server.providers.agents.output import Output, Redaction
from memory_server.providers.agents.settings import AgentSettings

logger = logging.getLogger("agent.process")

GRACE_SECONDS = 1.0
"""How long an agent may take to end a call that nobody waits for, before it is killed."""
_EXIT_SECONDS = 5.0
_LOG_HINT = "agentengine logs --source agent shows what it said"

_PACKAGE = str(Path(memory_server.__file__).parent)
_BEGIN = (
    "import sys, types\n"
    "package = types.ModuleType('memory_server')\n"
    "package.__path__ = [sys.argv[1]]\n"
    "sys.modules['memory_server'] = package\n"
    "sys.path[:] = [place for place in sys.path if place]\n"
    "from memory_server.agent_runtime.guard import stand\n"
    "stand()\n"
    "from memory_server.agent_runtime.process import main\n"
    "main()\n"
)
"""Makes the runtime importable in whichever environment the agent has, and nothing else of ours."""


class AgentProcess:
    """A running process; made by `launch`."""

    def __init__(
        self,
        process: Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        badge: Badge,
        output: Output,
        redact: Redaction,
    ) -> None:
        assert process.stdout is not None
        self._process = process
        self._reader = reader
        self._writer = writer
        self._output = output
        self._redact = redact
        self._pumping = asyncio.create_task(output.pump(process.stdout))
        self._is_killed = False
        self.badge = badge
        self.project_id = ""
        self.sources = 0
        """The state of the agent's files that it was loaded from."""
        self.idle_since = 0.0

    @classmethod
    async def launch(
        cls, settings: AgentSettings, environment: Mapping[str, str], badge: Badge
    ) -> "AgentProcess":
        """Start a process and wait until its agent is loaded; raises `AgentUnloadable`."""
        started = await cls._spawned(settings, environment, badge)
        try:
            async with asyncio.timeout(settings.load_seconds):
                frame = await started._receive()
        except TimeoutError:
            await started.kill()
            raise AgentUnloadable(
                f"{settings.entrypoint} was not loaded within {settings.load_seconds:g} seconds: "
                f"its module does not come to an end. {_LOG_HINT}"
            ) from None
        except BaseException:
            started._signal()
            raise
        if frame is not None and frame["kind"] == frames.READY:
            return started
        how = await started._how_it_ended()
        await started.kill()
        raise AgentUnloadable(
            f"{settings.entrypoint} cannot be loaded: {started._said(frame) or how}. {_LOG_HINT}"
        )

    @classmethod
    async def _spawned(
        cls, settings: AgentSettings, environment: Mapping[str, str], badge: Badge
    ) -> "AgentProcess":
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                settings.python,
                *("-c", _BEGIN, _PACKAGE, str(theirs.fileno()), settings.entrypoint),
                cwd=settings.directory,
                env=dict(environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            ours.close()
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise AgentUnloadable(
                f"no process could be started for the agent in {settings.directory} with "
                f"{settings.python}: {reason}"
            ) from None
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        redact = Redaction({**settings.environment, "token of the execution": badge.token})
        output = Output(redact, f"process {process.pid} of the agent")
        return cls(process, reader, writer, badge=badge, output=output, redact=redact)

    @property
    def pid(self) -> int:
        """The id of the process that watches over the agent's own."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it can take another call."""
        return not self._is_killed and self._process.returncode is None

    async def answer(self, call: AgentCall) -> AsyncGenerator[AgentEvent]:
        """Have a call answered; see `Agent.answer`. A process that does not stop is killed."""
        is_over = False
        self.badge.execution_id = call.execution_id
        self._output.begin()
        try:
            self._send(frames.CALL, message=call.message, invocation=_invocation(call))
            while not is_over:
                frame = await self._reply(call)
                is_over = frame["kind"] in (frames.DONE, frames.FAILED)
                if frame["kind"] == frames.EVENT:
                    yield _event(frame)
                elif frame["kind"] == frames.FAILED:
                    raise self._failure(frame)
        finally:
            self.badge.execution_id = None
            if not is_over and self.is_usable:
                await self._interrupt(call)

    async def kill(self) -> None:
        """End it and everything it started, at once."""
        self._signal()
        self._writer.close()
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                await self._process.wait()
        except TimeoutError:
            # Something is left that cannot be ended; nobody waits for it any longer.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        # What is left of it may hold the pipe open for ever.
        await asyncio.wait({self._pumping}, timeout=GRACE_SECONDS)
        self._pumping.cancel()

    def _signal(self) -> None:
        """Let go of it, which has its guard end everything."""
        self._is_killed = True
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _send(self, kind: str, **content: Any) -> None:
        """Say something; to a process that is gone, nothing: reading tells that it is."""
        if not self._writer.is_closing():
            self._writer.write(frames.encode({"kind": kind, **content}))

    async def _receive(self) -> dict[str, Any] | None:
        """Return the next frame; None when there will be none, or none that can be read."""
        try:
            head = await self._reader.readexactly(frames.HEAD.size)
            size = frames.length(head, largest=frames.LARGEST_REPLY)
            return frames.decode(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            return None
        except frames.BadFrame as error:
            logger.error("process %d of the agent wrote into its channel: %s", self.pid, error)  # noqa: TRY400 our own words say it all
            return None

    async def _reply(self, call: AgentCall) -> dict[str, Any]:
        frame = await self._receive()
        if frame is not None and frame.get("execution_id") == call.execution_id:
            return frame
        how = await self._how_it_ended()
        await self.kill()
        logger.error("execution %s: the process of the agent %s", call.execution_id, how)
        raise AgentEnded(f"the process of the agent {how} before its answer did. {_LOG_HINT}")

    async def _interrupt(self, call: AgentCall) -> None:
        """Ask it to end the call, and have it back if it does so in time."""
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                self._send(frames.CANCEL, execution_id=call.execution_id)
                frame = await self._receive()
                while frame is not None and frame["kind"] == frames.EVENT:
                    frame = await self._receive()
                if frame is None:
                    self._signal()
        except TimeoutError:
            logger.warning("execution %s: the agent did not stop and was killed", call.execution_id)
            await self.kill()
        except BaseException:
            self._signal()
            raise

    async def _how_it_ended(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):  # its guard ends everything else first
                await self._process.wait()
        code = self._process.returncode
        if code is None:
            return "closed its channel to the server"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by the signal {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def _said(self, frame: Mapping[str, Any] | None) -> str:
        if frame is None or not frame.get("type"):
            return ""
        text = self._redact(str(frame.get("text", "")))
        kind = str(frame["type"])
        return text if kind == "Unloadable" else f"{kind}: {text}" if text else kind

    def _failure(self, frame: Mapping[str, Any]) -> AgentError:
        """Return the error of a call; what an exception said may be private and stays in the log.

        Our own words about an answer of the wrong form may be told.
        """
        match frame.get("reason"):
            case "wrong_answer":
                return WrongAgentAnswer(self._redact(str(frame.get("text", ""))))
            case "too_long":
                return AgentAnswerTooLong(
                    f"the agent told {frame.get('text')}; an answer may have no more"
                )
            case "exit":
                self._is_killed = True
                return AgentEnded(f"the agent ended its own process. {_LOG_HINT}")
            case _:
                return AgentRaised(f"the agent failed with {frame.get('type')}. {_LOG_HINT}")


def _event(frame: Mapping[str, Any]) -> AgentEvent:
    return AgentEvent(
        kind=AgentEventKind(frame["type"]),
        text=str(frame.get("text", "")),
        metadata=frame.get("metadata") or {},
    )


def _invocation(call: AgentCall) -> dict[str, Any]:
    """Return the fields of the runtime's `Invocation`."""
    return {
        "execution_id": call.execution_id,
        "session_id": call.session_id,
        "user_id": call.user_id,
        "project_id": call.project_id,
        "payload": call.payload,
        "headers": dict(call.headers),
        "context": _context(call),
        "history": [
            {"role": turn.role.value, "content": turn.content}
            for turn in call.recent
            if turn.session_id == call.session_id
        ],
    }


def _context(call: AgentCall) -> str:
    """Return what is remembered, and what was said elsewhere that is no memory yet."""
    elsewhere = [
        f"- {turn.role.value}: {turn.content}"
        for turn in call.recent
        if turn.session_id != call.session_id
    ]
    parts = [call.context, "\n".join(["## Said a moment ago", *elsewhere]) if elsewhere else ""]
    return "\n\n".join(filter(None, parts))
