"""All services joined over one configuration, as what replaces them by others sees them."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from memory_server.services.readiness import ReadinessOfServer
from memory_server.services.reembedding import Reembedding
from memory_server.settings import Settings


class Release(Protocol):
    """All services joined over one configuration."""

    @property
    @abstractmethod
    def settings(self) -> Settings: ...
    @property
    @abstractmethod
    def readiness(self) -> ReadinessOfServer: ...
    @property
    @abstractmethod
    def reembedding(self) -> Reembedding: ...

    @abstractmethod
    async def run(self, stopping: asyncio.Event) -> None:
        """Do the background work until told to stop."""
        ...

    @abstractmethod
    def shares(self, part: str, other: Any) -> bool:
        """Whether another release uses the same `embedding` or `extraction` model object."""
        ...

    @abstractmethod
    async def let_go(self, successor: Any) -> None:
        """Let go of the models that the successor does not use."""
        ...


R = TypeVar("R", bound=Release)
Succeed = Callable[[Settings, R], R]
"""Joins services with other settings over the same store; models that stay the same are shared."""
