"""What Prometheus may scrape."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from memory_server.domain.job import JobCounts
from memory_server.domain.memory import MemoryType
from memory_server.domain.reconciliation import Action
from memory_server.domain.server import Server
from memory_server.domain.spending import Usage
from memory_server.ports.breaker import Breaker
from memory_server.ports.proposals import ProposalCounts
from memory_server.settings import ServerRole

CONTENT_TYPE = CONTENT_TYPE_LATEST

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MODEL = ("provider", "model", "type")


class _UsageOfModel(Collector):
    """Counters whose values are counted elsewhere."""

    def __init__(self) -> None:
        self.taken: Sequence[tuple[tuple[str, str, str], Usage]] = ()

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield the calls and tokens by provider, model and type of memory."""
        calls = CounterMetricFamily(
            "memory_server_model_calls", "Calls of the extraction model.", labels=_MODEL
        )
        tokens = CounterMetricFamily(
            "memory_server_model_tokens",
            "Tokens that the extraction model read and wrote.",
            labels=(*_MODEL, "direction"),
        )
        for labels, usage in self.taken:
            calls.add_metric(labels, usage.calls)
            tokens.add_metric((*labels, "input"), usage.input_tokens)
            tokens.add_metric((*labels, "output"), usage.output_tokens)
        yield calls
        yield tokens


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memory_server_requests",
            "Requests answered, by method, route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memory_server_request_seconds",
            "Time until the answer was complete, by route.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "memory_server_stage_seconds",
            "Time that stages of recording blocks and of searches took, by stage.",
            ("stage",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._jobs = Gauge(
            "memory_server_jobs", "Background jobs, by state.", ("state",), registry=self._registry
        )
        self._servers = Gauge(
            "memory_server_servers",
            "Servers alive on the store, by role.",
            ("role",),
            registry=self._registry,
        )
        self._configurations = Gauge(
            "memory_server_configurations",
            "Configurations that the servers alive run: more than one while they are rolled.",
            registry=self._registry,
        )
        self._usage = _UsageOfModel()
        self._registry.register(self._usage)
        self._circuits = Gauge(
            "memory_server_circuit_open",
            "Whether a provider that kept failing is left alone, by what it is for.",
            ("purpose",),
            registry=self._registry,
        )
        self._budgets = Gauge(
            "memory_server_budgets_spent",
            "Projects whose extraction waits for the next hour.",
            registry=self._registry,
        )
        self._reembedding = Gauge(
            "memory_server_reembedding_texts",
            "Texts of a re-embedding under way: those done, and all of them.",
            ("what",),
            registry=self._registry,
        )

        self._proposals = Gauge(
            "memory_server_proposals",
            "What was extracted to be reviewed, by state.",
            ("state",),
            registry=self._registry,
        )
        self._approved = Gauge(
            "memory_server_proposals_approved",
            "Proposals that were approved, by what that did to memory.",
            ("outcome",),
            registry=self._registry,
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def observe_stage(self, stage: str, seconds: float) -> None:
        """Note how long a stage took."""
        self._stages.labels(stage).observe(seconds)

    def set_jobs(self, counts: JobCounts) -> None:
        """Set how much background work there is."""
        for state in ("queued", "running", "failed", "done"):
            self._jobs.labels(state).set(getattr(counts, state))

    def set_proposals(self, counts: ProposalCounts) -> None:
        """Set how much was proposed, and what was decided."""
        approved = sum(counts.approved.values())
        states = {"pending": counts.pending, "approved": approved, "rejected": counts.rejected}
        for state, number in states.items():
            self._proposals.labels(state).set(number)
        for action in Action:
            self._approved.labels(action.value).set(counts.approved.get(action.value, 0))

    def set_model(
        self, model: Mapping[str, object], used: Sequence[tuple[MemoryType, Usage]]
    ) -> None:
        """Set what extraction took of its model since this server runs its configuration."""
        named = str(model.get("provider") or ""), str(model.get("model") or "")
        self._usage.taken = [((*named, kind.value), usage) for kind, usage in used]

    def set_waiting(self, breakers: Mapping[str, Breaker], budgets_spent: int) -> None:
        """Set which providers are left alone, and how many projects have spent their budget."""
        for purpose, breaker in breakers.items():
            self._circuits.labels(purpose).set(bool(breaker.report()))
        self._budgets.set(budgets_spent)

    def set_servers(self, servers: Sequence[Server]) -> None:
        """Set who is at work on the store."""
        for role in ServerRole:
            self._servers.labels(role.value).set(sum(one.role is role for one in servers))
        self._configurations.set(len({one.config_digest for one in servers}))

    def set_reembedding(self, report: Mapping[str, Any]) -> None:
        """Set how far a re-embedding is; nothing is shown while there is none."""
        self._reembedding.clear()
        for what in ("done", "total"):
            if what in report:
                self._reembedding.labels(what).set(report[what])

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
