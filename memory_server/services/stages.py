"""How long the stages of a piece of work take.

Whoever wants to know opens a `recording`; what is measured with `stage` within it is added to it
and to all recordings around it, also what tasks do that were begun there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

OnStage = Callable[[str, float], None]
"""Is told a stage's name and its seconds."""


@dataclass(slots=True)
class Recording:
    """The seconds by stage; a stage that came several times has the sum."""

    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def milliseconds(self) -> dict[str, float]:
        """The stages in the order in which they ended."""
        return {name: round(1000 * took, 3) for name, took in self.seconds.items()}

    def add(self, name: str, took: float) -> None:
        """Note that a stage took some seconds."""
        self.seconds[name] = self.seconds.get(name, 0.0) + took


_listening: ContextVar[tuple[OnStage, ...]] = ContextVar("_listening", default=())


@contextmanager
def listening(on_stage: OnStage) -> Iterator[None]:
    """Have every stage told that ends in here, or in a task that begins in here."""
    token = _listening.set((*_listening.get(), on_stage))
    try:
        yield
    finally:
        _listening.reset(token)


@contextmanager
def recording() -> Iterator[Recording]:
    """Record the stages that end in here."""
    recorded = Recording()
    with listening(recorded.add):
        yield recorded


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure a stage, whether it succeeds or fails."""
    began = time.perf_counter()
    try:
        yield
    finally:
        took = time.perf_counter() - began
        for on_stage in _listening.get():
            on_stage(name, took)
