"""Whether the server can do its work, and if not, what it is blocked on."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_server.errors import MemoryServerError, ProviderError
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.ports.store import Store


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


@dataclass(slots=True)
class _Probe:
    """The last answer of a provider that is asked now and then, not at each look."""

    name: str
    check: Callable[[], Awaitable[None]]
    asked: bool = False
    problem: str | None = None
    code: str | None = None
    described: Mapping[str, Any] = field(default_factory=dict)

    async def ask(self) -> None:
        try:
            await self.check()
        except ProviderError as error:
            self.problem, self.code = str(error), error.code
        else:
            self.problem = self.code = None
        self.asked = True

    def report(self) -> Mapping[str, Any]:
        state = "starting" if not self.asked else "failing" if self.problem else "ok"
        return {**self.described, "state": state, "problem": self.problem}


class ReadinessOfServer:
    """Asks the store at each look, the providers when `probe` is called."""

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        extractor: Extractor,
        embedding: Mapping[str, Any],
        extraction: Mapping[str, Any],
    ) -> None:
        self._store = store
        self._embedding = _Probe("embedding", embedder.check, described=embedding)
        self._extraction = _Probe("extraction", extractor.check, described=extraction)

    async def probe(self) -> None:
        """Ask the providers that have not answered well yet."""
        for probe in (self._embedding, self._extraction):
            if not probe.asked or probe.problem:
                await probe.ask()

    async def look(self) -> Readiness:
        """Return the state of everything the server needs."""
        blocked: list[str] = []
        store: Mapping[str, Any] = {}
        search: Mapping[str, Any] = {}
        try:
            await self._store.ping()
            store = await self._store.describe()
            search = await self._store.search.describe()
        except MemoryServerError as error:
            blocked.append(f"store: {error}")
        probes = (self._embedding, self._extraction)
        blocked += [f"{probe.name}: {probe.problem}" for probe in probes if probe.problem]
        starting = [probe.name for probe in probes if not probe.asked]
        status = "blocked" if blocked else "starting" if starting else "ready"
        return Readiness(
            status=status,
            blocked_on=blocked or [f"{name}: being checked" for name in starting],
            store=store,
            search=search,
            embedding=self._embedding.report(),
            extraction=self._extraction.report(),
        )
