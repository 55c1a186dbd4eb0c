"""Several server processes on one port: started, watched, started again, and stopped together."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence

logger = logging.getLogger(__name__)

STOP_SECONDS = 60.0
"""How long processes may take to end what they have begun; those left then are killed."""
LIVED_SECONDS = 60.0
"""A process that served for so long is started again at once when it dies."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
READY = b"1"
"""What a process writes once it serves."""


class ProcessesFailed(Exception):
    """A process ended before it ever served, so that none could."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"a server process ended with {exit_code} before it served")
        self.exit_code = exit_code if 0 < exit_code < 256 else 1


class Supervisor:
    """Holds the port for some processes, and serves nothing itself.

    A process hears that its supervisor is gone, however it went, by the end of a pipe.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        count: int,
        listener: socket.socket,
        environ: Mapping[str, str],
        on_serving: Callable[[], None],
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """Prepare; `command` is told the socket, the pipe to live by, and where to say it serves.

        As the last three arguments, by their file descriptors.
        """
        self._command = command
        self._count = count
        self._listener = listener
        self._environ = environ
        self._on_serving = on_serving
        self._stop_seconds = stop_seconds
        self._stopping = asyncio.Event()
        self._lifeline, self._alive = os.pipe()
        self._processes: set[asyncio.subprocess.Process] = set()

    async def run(self) -> int:
        """Run the processes until told to stop by a signal; return the exit code.

        That is the first process's own when one of them ends before it ever served.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        exit_code = 0
        try:
            async with asyncio.TaskGroup() as keeping:
                started = [asyncio.Event() for _ in range(self._count)]
                tasks = [keeping.create_task(self._keep(event)) for event in started]
                tasks.append(keeping.create_task(self._announce(started)))
                await self._stopping.wait()
                await self._stop()
                for task in tasks:
                    task.cancel()
        except* ProcessesFailed as failed:
            exit_code = next(
                one.exit_code for one in failed.exceptions if isinstance(one, ProcessesFailed)
            )
            await self._stop()
        finally:
            os.close(self._alive)
            os.close(self._lifeline)
        return exit_code

    async def _announce(self, started: Sequence[asyncio.Event]) -> None:
        for event in started:
            await event.wait()
        self._on_serving()

    async def _keep(self, served: asyncio.Event) -> None:
        """Keep one process running; it may not die before it served for the first time."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            loop = asyncio.get_running_loop()
            began = loop.time()
            exit_code = await self._run_one(served)
            if self._stopping.is_set():
                return
            if not served.is_set():
                raise ProcessesFailed(exit_code)
            if loop.time() - began >= LIVED_SECONDS:
                pause = FIRST_PAUSE
            logger.error("a server process ended with %s; another is started", exit_code)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _run_one(self, served: asyncio.Event) -> int:
        """Run one process to its end; note when it serves."""
        told, telling = os.pipe()
        passed = (self._listener.fileno(), self._lifeline, telling)
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                *map(str, passed),
                env=dict(self._environ),
                pass_fds=passed,
                # Of a group of its own: what a terminal sends to all of them comes once, from us.
                start_new_session=True,
            )
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(telling)
        self._processes.add(process)
        listening = asyncio.create_task(_hear(told, served))
        try:
            exit_code = await process.wait()
            await listening
        finally:
            listening.cancel()
        self._processes.discard(process)
        return exit_code

    async def _stop(self) -> None:
        """Ask all to end, and kill those that do not within their time."""
        self._stopping.set()
        self._listener.close()
        left = [process for process in self._processes if process.returncode is None]
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        ends = [asyncio.ensure_future(process.wait()) for process in left]
        if ends:
            await asyncio.wait(ends, timeout=self._stop_seconds)
        for process in left:
            if process.returncode is None:
                logger.error("server process %s does not end, and is killed", process.pid)
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        await asyncio.gather(*ends)


async def _hear(told: int, served: asyncio.Event) -> None:
    """Note that a process serves; it closes the pipe at its end, whether it served or not."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(told, "rb", buffering=0)
    )
    try:
        if await reader.read(1) == READY:
            served.set()
    finally:
        transport.close()
