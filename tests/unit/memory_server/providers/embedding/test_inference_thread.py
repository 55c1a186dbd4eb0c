import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from memory_server.errors import ProviderUnavailable
from memory_server.providers.embedding.inference_thread import URGENT_IN_A_ROW, InferenceThread


class Occupied:
    """A thread that is busy until released, so that what is handed in meanwhile has to wait."""

    def __init__(self) -> None:
        self.thread = InferenceThread("test")
        self.done: list[str] = []
        self._started = threading.Event()
        self._released = threading.Event()
        self._first: asyncio.Future[None] | None = None

    async def begin(self) -> None:
        self._first = asyncio.ensure_future(self.thread.run(self._wait, urgent=False))
        await asyncio.to_thread(self._started.wait)

    def hand_in(self, name: str, *, urgent: bool) -> asyncio.Future[None]:
        work = self.thread.run(lambda: self.done.append(name), urgent=urgent)
        return asyncio.ensure_future(work)

    def release(self) -> None:
        self._released.set()

    def _wait(self) -> None:
        self._started.set()
        self._released.wait()


@pytest.fixture
async def occupied() -> AsyncIterator[Occupied]:
    occupied = Occupied()
    await occupied.begin()
    yield occupied
    occupied.release()
    await occupied.thread.close()


async def test_what_the_work_returns_arrives() -> None:
    thread = InferenceThread("test")

    assert await thread.run(lambda: 42, urgent=True) == 42
    await thread.close()


async def test_what_the_work_raises_arrives_and_the_thread_goes_on() -> None:
    thread = InferenceThread("test")

    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0, urgent=True)
    assert await thread.run(lambda: 42, urgent=True) == 42
    await thread.close()


async def test_all_work_is_done_by_one_thread() -> None:
    thread = InferenceThread("test")

    workers = await asyncio.gather(
        *(thread.run(threading.get_ident, urgent=number % 2 == 0) for number in range(20))
    )

    assert len(set(workers)) == 1
    assert workers[0] != threading.get_ident()
    await thread.close()


async def test_urgent_work_overtakes_patient_work(occupied: Occupied) -> None:
    waiting = [
        occupied.hand_in("document", urgent=False),
        occupied.hand_in("another document", urgent=False),
        occupied.hand_in("query", urgent=True),
    ]
    await asyncio.sleep(0)

    occupied.release()
    await asyncio.gather(*waiting)

    assert occupied.done == ["query", "document", "another document"]


async def test_patient_work_is_not_starved_by_urgent_work(occupied: Occupied) -> None:
    waiting = [occupied.hand_in("query", urgent=True) for _ in range(3 * URGENT_IN_A_ROW)]
    waiting.append(occupied.hand_in("document", urgent=False))
    await asyncio.sleep(0)

    occupied.release()
    await asyncio.gather(*waiting)

    assert occupied.done.index("document") == URGENT_IN_A_ROW


async def test_cancelled_work_is_not_done(occupied: Occupied) -> None:
    given_up = occupied.hand_in("given up", urgent=True)
    wanted = occupied.hand_in("wanted", urgent=False)
    await asyncio.sleep(0)

    given_up.cancel()
    await asyncio.sleep(0)
    occupied.release()
    await wanted

    assert occupied.done == ["wanted"]


async def test_closing_drops_what_waits_and_tells_its_callers(occupied: Occupied) -> None:
    waiting = [
        occupied.hand_in("document", urgent=False),
        occupied.hand_in("query", urgent=True),
    ]
    await asyncio.sleep(0)

    closing = asyncio.ensure_future(occupied.thread.close())
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    occupied.release()
    await closing

    assert [type(outcome) for outcome in outcomes] == [ProviderUnavailable] * 2
    assert occupied.done == []


async def test_closing_waits_for_the_running_piece(occupied: Occupied) -> None:
    closing = asyncio.ensure_future(occupied.thread.close())
    await asyncio.sleep(0)
    assert not closing.done()

    occupied.release()
    await closing


async def test_a_closed_thread_takes_no_work() -> None:
    thread = InferenceThread("test")
    await thread.close()

    with pytest.raises(ProviderUnavailable, match="closed"):
        await thread.run(lambda: 42, urgent=True)
