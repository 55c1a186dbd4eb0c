"""What Prometheus may scrape."""

from collections.abc import Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from memory_server.domain.job import JobCounts
from memory_server.domain.server import Server
from memory_server.settings import ServerRole

CONTENT_TYPE = CONTENT_TYPE_LATEST

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


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
        self._reembedding = Gauge(
            "memory_server_reembedding_texts",
            "Texts of a re-embedding under way: those done, and all of them.",
            ("what",),
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
