"""What extraction takes of a hosted model, by the hour, and how much of it a project may take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory_server.project_config import BudgetConfig

HOUR = timedelta(hours=1)
KEPT = timedelta(days=31)
"""How long the hours are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls of a model, those that failed among them, and the tokens it read and wrote."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Usage":
        """Return what a document tells of it; what it does not tell is none."""
        given = {name: told.get(name) for name in ("calls", "input_tokens", "output_tokens")}
        return cls(**{name: count for name, count in given.items() if isinstance(count, int)})

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    def __bool__(self) -> bool:
        return self != Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much a project may take within a clock hour; None: as much as there is work."""

    calls: int | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, config: BudgetConfig) -> "Budget":
        """Return the configured one."""
        return cls(calls=config.calls_per_hour, tokens=config.tokens_per_hour)

    @property
    def is_bounded(self) -> bool:
        """Whether there is any bound."""
        return self.calls is not None or self.tokens is not None

    def spent(self, usage: Usage, now: datetime) -> str | None:
        """Say that an hour's usage leaves nothing of it, and when it goes on; else None."""
        told = ", ".join(self._spent(usage))
        return f"{told}, goes on at {next_hour(now):%H:%M} UTC" if told else None

    def _spent(self, usage: Usage) -> Iterator[str]:
        for name, most, taken in (
            ("calls", self.calls, usage.calls),
            ("tokens", self.tokens, usage.tokens),
        ):
            if most is not None and taken >= most:
                yield f"budget of {most} {name} an hour is spent ({taken} of {most})"


def hour_of(moment: datetime) -> datetime:
    """Return the beginning of the clock hour of a moment."""
    return moment.replace(minute=0, second=0, microsecond=0)


def next_hour(moment: datetime) -> datetime:
    """Return when the next clock hour begins."""
    return hour_of(moment) + HOUR


def day_of(moment: datetime) -> datetime:
    """Return the beginning of the day of a moment."""
    return hour_of(moment).replace(hour=0)
