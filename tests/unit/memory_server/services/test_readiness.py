import asyncio
from collections.abc import Callable

import pytest

from memory_server.errors import KeyRejected, ProviderUnavailable
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.readiness import Background, Readiness, ReadinessOfServer
from tests.unit.memory_server.services.conftest import ScriptedExtractor

Build = Callable[..., ReadinessOfServer]


class OddEmbedder(HashingEmbedder):
    """Answers its checks as the test says, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.checks = 0
        self.error: BaseException | None = None
        self.hangs = False

    async def check(self) -> None:
        self.checks += 1
        await asyncio.sleep(0)  # as a provider elsewhere would take its time
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error


@pytest.fixture
def odd() -> OddEmbedder:
    return OddEmbedder()


@pytest.fixture
def background() -> Background:
    running = Background()
    running.began()
    return running


@pytest.fixture
def readiness(
    store: Store, odd: OddEmbedder, extractor: ScriptedExtractor, background: Background
) -> ReadinessOfServer:
    return ReadinessOfServer(
        store=store,
        embedder=odd,
        extractor=extractor,
        embedding={"model": "odd"},
        extraction={},
        background=background,
        check_seconds=0.01,
        store_seconds=5,
    )


async def looked(readiness: ReadinessOfServer) -> tuple[str, list[str]]:
    look: Readiness = await readiness.look()
    return look.status, list(look.blocked_on)


async def test_server_whose_providers_were_not_asked_yet_is_starting(
    readiness: ReadinessOfServer,
) -> None:
    assert await looked(readiness) == (
        "starting",
        ["embedding: being checked", "extraction: being checked"],
    )


async def test_server_with_everything_is_ready(readiness: ReadinessOfServer) -> None:
    await readiness.probe()

    look = await readiness.look()
    assert (look.status, list(look.blocked_on)) == ("ready", [])
    assert look.embedding == {"model": "odd", "state": "ok", "problem": None}
    assert look.background == {"state": "running", "problem": None}


async def test_provider_that_fails_later_is_noticed_by_the_next_probe(
    readiness: ReadinessOfServer, odd: OddEmbedder
) -> None:
    await readiness.probe()
    odd.error = KeyRejected("the key was revoked")
    await readiness.probe()

    assert await looked(readiness) == ("blocked", ["embedding: the key was revoked"])


async def test_provider_that_answered_well_is_asked_again_only_when_in_doubt(
    readiness: ReadinessOfServer, odd: OddEmbedder
) -> None:
    await readiness.probe()
    await readiness.probe_doubtful()
    assert odd.checks == 1

    readiness.doubt()
    await readiness.probe_doubtful()

    assert odd.checks == 2


async def test_failing_provider_is_asked_until_it_answers(
    readiness: ReadinessOfServer, odd: OddEmbedder
) -> None:
    odd.error = ProviderUnavailable()
    await readiness.probe_doubtful()
    odd.error = None
    await readiness.probe_doubtful()

    assert (await looked(readiness))[0] == "ready"


async def test_two_that_ask_at_once_ask_once(
    readiness: ReadinessOfServer, odd: OddEmbedder
) -> None:
    await asyncio.gather(readiness.probe(), readiness.probe_doubtful())

    assert odd.checks == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("a detail"), asyncio.CancelledError()])
async def test_any_failure_of_a_check_is_a_problem_and_not_a_start_without_end(
    readiness: ReadinessOfServer, odd: OddEmbedder, error: BaseException
) -> None:
    odd.error = error
    await readiness.probe()

    status, [problem] = await looked(readiness)
    assert status == "blocked"
    assert problem.endswith("see the log")
    assert "a detail" not in problem


async def test_check_that_does_not_answer_is_a_problem(
    readiness: ReadinessOfServer, odd: OddEmbedder
) -> None:
    odd.hangs = True
    await readiness.probe()

    assert await looked(readiness) == (
        "blocked",
        ["embedding: did not answer within 0.01 seconds"],
    )


async def test_background_work_that_has_not_begun_is_waited_for(
    readiness: ReadinessOfServer, background: Background
) -> None:
    background.state = "starting"
    await readiness.probe()

    assert await looked(readiness) == ("starting", ["background: being started"])


async def test_background_work_that_ended_blocks_and_says_why(
    readiness: ReadinessOfServer, background: Background
) -> None:
    await readiness.probe()
    background.ended("it ended with MemoryError: see the log")

    look = await readiness.look()
    assert look.status == "blocked"
    assert look.blocked_on == ["background: it ended with MemoryError: see the log"]
    assert look.background["state"] == "stopped"


async def test_store_that_fails_in_an_unknown_way_is_a_problem(
    readiness: ReadinessOfServer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(store, "ping", fail)
    await readiness.probe()

    assert await looked(readiness) == ("blocked", ["store: ZeroDivisionError: see the log"])
