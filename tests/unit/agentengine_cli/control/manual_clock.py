"""A clock that moves only when it is told to wait."""

from datetime import UTC, datetime, timedelta

from agentengine_cli.control.clock import Clock


class ManualClock(Clock):
    def __init__(self) -> None:
        self.elapsed = 0.0

    def now(self) -> datetime:
        return datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC) + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        self.elapsed += seconds
