"""Whether the server can do its work, and if not, what it is blocked on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_server.domain.characters import whole
from memory_server.errors import MemoryServerError
from memory_server.ports.breaker import Breaker
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.ports.store import Store
from memory_server.services.containment import contained
from memory_server.services.proposals import Reviewing
from memory_server.services.reembedding import Reembedding
from memory_server.services.spending import SpendingKeeping

logger = logging.getLogger(__name__)

CHECK_SECONDS = 30.0
"""How long a provider may take to answer a check; a local model is loaded by its first."""
STORE_SECONDS = 5.0
STOPPING = "server: it was told to stop; ask another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """One look at the server."""

    status: str
    """`ready`, `starting`, or `blocked`."""
    blocked_on: Sequence[str]
    store: Mapping[str, Any]
    search: Mapping[str, Any]
    embedding: Mapping[str, Any]
    extraction: Mapping[str, Any]
    background: Mapping[str, Any]
    reembedding: Mapping[str, Any] = field(default_factory=dict)
    """Empty where the vectors are of the configured model and no others are left."""
    waiting: Sequence[str] = ()
    """What background work waits for, though the server can do its work."""
    review: Mapping[str, Any] = field(default_factory=dict)
    """How what is extracted is approved, and how much waits for a decision."""

    def stopping(self) -> "Readiness":
        """Return the look at a server that was told to stop."""
        return replace(self, status="blocked", blocked_on=[STOPPING, *self.blocked_on])


@dataclass(slots=True)
class Background:
    """Whether the background work goes on; whoever runs it says so."""

    state: str = "starting"
    """`starting`, `running`, `elsewhere` or `stopped`."""
    problem: str | None = None

    def began(self, *, elsewhere: bool = False) -> None:
        """Note that it runs, or that it is left to other servers."""
        self.state, self.problem = "elsewhere" if elsewhere else "running", None

    def ended(self, problem: str) -> None:
        """Note that it does not run any more, and why."""
        self.state, self.problem = "stopped", problem

    def report(self) -> Mapping[str, Any]:
        """Return what readiness reports."""
        return {"state": self.state, "problem": self.problem}


@dataclass(slots=True)
class _Probe:
    """The last answer of a provider that is asked now and then, not at each look."""

    name: str
    check: Callable[[], Awaitable[None]]
    seconds: float
    described: Mapping[str, Any]
    asked: bool = False
    problem: str | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_doubtful(self) -> bool:
        return not self.asked or self.problem is not None

    async def ask(self) -> None:
        """Ask, or wait for the answer that is on its way."""
        is_asked = self._asking.locked()
        async with self._asking:
            if not is_asked:
                self.problem = await _problem(self.check, self.seconds)
                self.asked = True

    def report(self) -> Mapping[str, Any]:
        state = "starting" if not self.asked else "failing" if self.problem else "ok"
        return {**self.described, "state": state, "problem": self.problem}


class ReadinessOfServer:
    """Asks the store at each look, the providers when told to.

    Without `background`, the background work is another's and counts as running.
    """

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        extractor: Extractor,
        embedding: Mapping[str, Any],
        extraction: Mapping[str, Any],
        background: Background | None = None,
        reembedding: Reembedding | None = None,
        breakers: Mapping[str, Breaker] | None = None,
        spending: SpendingKeeping | None = None,
        project_id: str = "",
        reviewing: Reviewing | None = None,
        check_seconds: float = CHECK_SECONDS,
        store_seconds: float = STORE_SECONDS,
    ) -> None:
        self._store = store
        self._embedding = _Probe("embedding", embedder.check, check_seconds, embedding)
        self._extraction = _Probe("extraction", extractor.check, check_seconds, extraction)
        self._probes = (self._embedding, self._extraction)
        self._reembedding = reembedding
        self._breakers = breakers or {}
        self._spending = spending
        self._project_id = project_id
        self._reviewing = reviewing
        self._background = background or Background("running")
        self._store_seconds = store_seconds
        self._doubted = False

    async def probe(self) -> None:
        """Ask every provider, those that answered well before too."""
        self._doubted = False
        await asyncio.gather(*(probe.ask() for probe in self._probes))

    async def probe_doubtful(self) -> None:
        """Ask the providers that have not answered well yet; every one after a call failed."""
        doubtful = [probe for probe in self._probes if self._doubted or probe.is_doubtful]
        self._doubted = False
        await asyncio.gather(*(probe.ask() for probe in doubtful))

    def doubt(self) -> None:
        """Note that a call failed, so that the next probe asks whatever was answered before."""
        self._doubted = True

    async def look(self) -> Readiness:
        """Return the state of everything the server needs; never raises."""
        store: dict[str, Any] = {}
        search: dict[str, Any] = {}
        reembedding: dict[str, Any] = {}
        spending: dict[str, Any] = {}
        waiting: list[str] = []
        review: dict[str, Any] = {}

        async def ask_store() -> None:
            await self._store.ping()
            store.update(await self._store.describe())
            search.update(await self._store.search.describe())
            if self._reembedding is not None:
                reembedding.update(await self._reembedding.report())
            spending.update(await self._spent(waiting))
            if self._reviewing is not None:
                review.update(await self._reviewing.report())

        problems = {"store": await _problem(ask_store, self._store_seconds)}
        problems |= {probe.name: self._told(probe, waiting) for probe in self._probes}
        if problems["embedding"] and reembedding.get("to"):
            # The former model may be gone for good: words answer until the new one does.
            reembedding["meaning"] = f"off until the switch: {problems.pop('embedding')}"
        problems["background"] = self._background.problem
        problems["search index"] = search.get("problem")
        starting = [f"{probe.name}: being checked" for probe in self._probes if not probe.asked]
        if self._background.state == "starting":
            starting.append("background: being started")
        if not search.get("is_ready", True):
            starting.append(f"search index: {search['state']}")
        blocked = [f"{part}: {problem}" for part, problem in problems.items() if problem]
        return Readiness(
            status="blocked" if blocked else "starting" if starting else "ready",
            blocked_on=blocked or starting,
            store=store,
            search=search,
            embedding=self._reported(self._embedding),
            extraction=self._reported(self._extraction) | spending,
            background=self._background.report(),
            reembedding=reembedding,
            waiting=waiting,
            review=review,
        )

    async def _spent(self, waiting: list[str]) -> Mapping[str, Any]:
        """Return what the server's own project took; projects that wait are noted."""
        if self._spending is None:
            return {}
        for name, text in await self._spending.waiting():
            waiting.append(f"extraction of project {name}: {text}")
        return await self._spending.report(self._project_id)

    def _told(self, probe: _Probe, waiting: list[str]) -> str | None:
        """Return what is wrong with a provider; what passes by itself is noted as waited for."""
        breaker = self._breakers.get(probe.name)
        story = breaker.told() if breaker else None
        if story is not None and probe.problem is None:
            waiting.append(f"{probe.name}: {story}")
        return probe.problem and (story or probe.problem)

    def _reported(self, probe: _Probe) -> dict[str, Any]:
        breaker = self._breakers.get(probe.name)
        circuit = breaker.report() if breaker else {}
        return {**probe.report(), **({"circuit": circuit} if circuit else {})}


async def _problem(check: Callable[[], Awaitable[None]], seconds: float) -> str | None:
    """Return why a check does not succeed in that time, or None if it does."""
    try:
        async with asyncio.timeout(seconds):
            await contained(check())
    except TimeoutError:
        return f"did not answer within {seconds:g} seconds"
    except MemoryServerError as error:
        return whole(str(error))
    except Exception as error:
        logger.exception("a check failed on a fault of the program")
        return f"{type(error).__name__}: see the log"
    return None
