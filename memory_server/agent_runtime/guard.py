"""The watch over an agent's process: what it started ends with it, and all of it with the server.

An agent may start programs, and those may leave its session, so that no signal to a group reaches
them. So a second process stands between the server and the agent: on Linux whatever loses its
parent falls to it, and when the agent ends, or the server lets go of it, it ends everything.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
from pathlib import Path

SERVER = 0
"""The descriptor that ends when the server does, or when it wants the agent ended."""
_LINUX = sys.platform == "linux"
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_TAKE_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER
_FIRST_TO_GO = "500"
"""When memory runs out, the system ends the agent before it ends the server."""


def stand() -> None:
    """Split in two: returns in the agent's process, and never in the one that watches.

    Called before anything else, when there is one thread.
    """
    if _LINUX:
        ctypes.CDLL(None).prctl(_TAKE_ORPHANS, 1)
    woken, waking = os.pipe()
    for end in (woken, waking):
        os.set_blocking(end, False)
    signals = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: None) for number in signals}
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    guard = os.getpid()
    agent = os.fork()
    if agent:
        os._exit(_as(_watch(agent, woken)))
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)
    os.close(woken)
    os.close(waking)
    _be_watched(guard)


def _be_watched(guard: int) -> None:
    """Leave the server's descriptor and the guard's session alone, and die with the guard."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, SERVER)
    os.close(nothing)
    if not _LINUX:
        return
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(1)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")


def _watch(agent: int, woken: int) -> int:
    """Return how the agent ended, once nothing is left of what it started."""
    # Only the agent speaks: its channel and its output must not stay open on account of this one.
    os.closerange(3, woken)
    os.closerange(woken + 2, 1024)
    ended: int | None = None
    while ended is None:
        ready, _, _ = select.select([SERVER, woken], [], [])
        if SERVER in ready or set(os.read(woken, 4096)) - {signal.SIGCHLD}:
            break
        ended = _reaped(agent)
    return _end_all(agent, ended)


def _reaped(agent: int) -> int | None:
    """Take leave of what has ended; return how the agent did, if it did."""
    ended: int | None = None
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended = found[1] if found[0] == agent else ended
    return ended


def _end_all(agent: int, ended: int | None) -> int:
    """End every child, and those that fall to this process when they do, until there is none."""
    if ended is None:
        _kill(agent)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(agent, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in _children():
                _kill(child)
            found, status = os.waitpid(-1, 0)
            ended = status if found == agent else ended
    return signal.SIGKILL if ended is None else ended


def _children() -> list[int]:
    """Return the ids of the processes whose parent this one is."""
    if not _LINUX:
        return []
    own = os.getpid()
    found = (int(entry) for entry in os.listdir("/proc") if entry.isdecimal())  # noqa: PTH208 names are all it takes
    return [process for process in found if _parent(process) == own]


def _parent(process: int) -> int | None:
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:  # gone meanwhile
        return None
    # After the name, which is in brackets and may hold anything: the state, then the parent.
    return int(told.rpartition(")")[2].split()[1])


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def _as(ended: int) -> int:
    """Return the agent's exit code; an end by a signal is told by ending of the same."""
    if os.WIFSIGNALED(ended):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(ended)
        with contextlib.suppress(OSError):  # SIGKILL has no handler to be reset
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(ended) if os.WIFEXITED(ended) else 1
