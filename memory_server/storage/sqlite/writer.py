"""The only thread that writes: operations queue up, and those that wait are committed together."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar, cast

from memory_server.errors import StorageUnavailable
from memory_server.storage.sqlite.failures import translated

logger = logging.getLogger(__name__)

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], T]

LARGEST_BATCH = 256
"""Operations in one commit at most."""


class _Waiting:
    """An operation, whoever waits for it, and how it went."""

    __slots__ = ("_future", "alone", "error", "loop", "operation", "outcome")

    def __init__(self, operation: Operation[Any], *, alone: bool = False) -> None:
        self.operation = operation
        self.alone = alone
        self.loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self.loop.create_future()
        self.outcome: Any = None
        self.error: BaseException | None = None

    async def answered(self) -> Any:
        return await self._future

    def answer(self) -> None:
        """Tell the caller; one that was cancelled meanwhile has gone."""
        if self._future.done():
            return
        if isinstance(self.error, StopIteration):  # a future cannot carry it
            self._future.set_exception(RuntimeError("an operation raised StopIteration"))
        elif self.error is not None:
            self._future.set_exception(self.error)
        else:
            self._future.set_result(self.outcome)


class Writer:
    """Runs each operation in a savepoint of its own inside a shared, durable transaction."""

    def __init__(self, connection: sqlite3.Connection, location: str) -> None:
        self._connection = connection
        self._location = location
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._stopping = False
        self._ended = False
        self._thread = Thread(target=self._work, name="sqlite-writer", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Return if operations are carried out, else raise `StorageUnavailable`."""
        if self._stopping or self._ended:
            raise self._gone()

    async def run(self, operation: Operation[T]) -> T:
        """Run an operation; return what it returns once that is on the disk.

        What it raises rolls back its own writes only. A caller that is cancelled does not stop
        the operation: whether it was carried out is then unknown.
        """
        return cast(T, await self._queued(_Waiting(operation)))

    async def run_alone(self, operation: Operation[T]) -> T:
        """Run an operation outside of any transaction, while all others wait."""
        return cast(T, await self._queued(_Waiting(operation, alone=True)))

    async def _queued(self, waiting: _Waiting) -> Any:
        self.check()
        self._queue.put(waiting)
        if self._ended:  # it ended between the check and the put, and looks no more
            self._refuse_queued()
        return await waiting.answered()

    async def stop(self) -> None:
        """Carry out what waits, then end the thread."""
        self._stopping = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        batch: list[_Waiting] = []
        last = False
        try:
            while not last:
                last = self._collect(batch)
                self._carry_out(batch)
                batch = []
        except BaseException:  # there is nobody above a thread to tell
            logger.critical("%s: the writer has ended", self._location, exc_info=True)
        finally:
            # Whatever ended it, nobody shall wait for it.
            self._ended = True
            self._refuse(batch)
            self._refuse_queued()

    def _collect(self, batch: list[_Waiting]) -> bool:
        """Wait for something to do, add all that waits, and return whether the queue ends there."""
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if len(batch) == LARGEST_BATCH:
                return False
            try:
                item = self._queue.get_nowait()
            except Empty:
                return False
        return True

    def _carry_out(self, batch: Sequence[_Waiting]) -> None:
        shared = [waiting for waiting in batch if not waiting.alone]
        if shared:
            self._commit(shared)
            _answer(shared)
        for waiting in batch:
            if waiting.alone:
                self._attempt_alone(waiting)
                _answer([waiting])

    def _attempt_alone(self, waiting: _Waiting) -> None:
        try:
            with translated(self._location):
                waiting.outcome = waiting.operation(self._connection)
        except BaseException as error:  # noqa: BLE001 its caller is told
            self._fail([waiting], error)

    def _commit(self, batch: Sequence[_Waiting]) -> None:
        try:
            with translated(self._location):
                self._begin()
                for waiting in batch:
                    self._attempt(waiting)
                self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 every caller is told, whatever it was
            self._fail(batch, error)

    def _begin(self) -> None:
        if self._connection.in_transaction:  # of a batch that failed, and so did its rollback
            self._connection.rollback()
        self._connection.execute("BEGIN IMMEDIATE")

    def _attempt(self, waiting: _Waiting) -> None:
        self._connection.execute("SAVEPOINT operation")
        try:
            with translated(self._location):
                waiting.outcome = waiting.operation(self._connection)
        except BaseException as error:  # its caller is told
            waiting.error = error
            if not self._connection.in_transaction:
                raise  # SQLite gave up the whole transaction, as on a full disk
            self._connection.execute("ROLLBACK TO operation")
        self._connection.execute("RELEASE operation")

    def _fail(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        """Nothing of the batch was kept: every caller gets the reason, its own one if it has."""
        for waiting in batch:
            waiting.error = waiting.error or error
        try:
            if self._connection.in_transaction:
                self._connection.rollback()
        except sqlite3.Error as failure:
            logger.error("%s: a batch is not rolled back yet: %s", self._location, failure)  # noqa: TRY400 the next batch tries again

    def _refuse(self, batch: Sequence[_Waiting]) -> None:
        for waiting in batch:
            waiting.error = waiting.error or self._gone()
        _answer(batch)

    def _refuse_queued(self) -> None:
        """Answer what came too late, in whichever thread finds it."""
        with suppress(Empty):
            while True:
                item = self._queue.get_nowait()
                if item is not None:
                    self._refuse([item])

    def _gone(self) -> StorageUnavailable:
        state = "closed" if self._stopping else "not written to any more: start the server anew"
        return StorageUnavailable(f"{self._location}: the store is {state}")


def _answer(batch: Sequence[_Waiting]) -> None:
    """Wake each event loop once for all of its callers."""
    for loop in {waiting.loop for waiting in batch}:
        mine = [waiting for waiting in batch if waiting.loop is loop]
        try:
            loop.call_soon_threadsafe(_answer_all, mine)
        except RuntimeError:  # the loop has ended, and nobody waits there any more
            continue


def _answer_all(batch: Sequence[_Waiting]) -> None:
    for waiting in batch:
        waiting.answer()
