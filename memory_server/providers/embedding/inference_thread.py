"""One thread for a model that computes in this process."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory_server.errors import ProviderUnavailable

T = TypeVar("T")

URGENT_IN_A_ROW = 8
"""After so many urgent pieces of work a patient one gets its turn, so that none waits for ever."""


class InferenceThread:
    """Runs pieces of work one after the other, urgent ones first.

    The work waiting is bounded by the number of callers: each hands in one piece and waits
    for it. A caller that is cancelled takes its waiting piece with it.
    """

    def __init__(self, name: str) -> None:
        # The executor starts the thread with the first piece and joins it at exit. It is handed
        # tickets, and each ticket does whatever is most urgent by then.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._urgent: deque[_Work[Any]] = deque()
        self._patient: deque[_Work[Any]] = deque()
        self._urgent_in_a_row = 0
        self._closed = False

    async def run(self, work: Callable[[], T], *, urgent: bool) -> T:
        """Return what the work returns; raises `ProviderUnavailable` once closed."""
        if self._closed:
            raise _closed()
        future: Future[T] = Future()
        (self._urgent if urgent else self._patient).append(_Work(work, future))
        self._executor.submit(self._take_one)
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Drop what waits and return when the running piece has ended."""
        self._closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        for line in (self._urgent, self._patient):
            while line:
                line.popleft().give_up()
        await asyncio.to_thread(self._executor.shutdown, wait=True)

    def _take_one(self) -> None:
        if work := self._next():
            work.do()

    def _next(self) -> "_Work[Any] | None":
        """Only the one thread takes, so what is there when it looks is there when it takes.

        The exception is `close`, which empties the lines; then there may be nothing left.
        """
        yields = self._urgent_in_a_row >= URGENT_IN_A_ROW and bool(self._patient)
        try:
            if self._urgent and not yields:
                self._urgent_in_a_row += 1
                return self._urgent.popleft()
            self._urgent_in_a_row = 0
            return self._patient.popleft()
        except IndexError:
            return None


@dataclass(frozen=True, slots=True)
class _Work(Generic[T]):
    """A piece of work and where its outcome goes."""

    work: Callable[[], T]
    future: Future[T]

    def do(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            outcome = self.work()
        except BaseException as error:  # noqa: BLE001 — raised where the outcome is awaited
            self.future.set_exception(error)
        else:
            self.future.set_result(outcome)

    def give_up(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(_closed())


def _closed() -> ProviderUnavailable:
    return ProviderUnavailable("This embedder has been closed; build another.")
