"""Each request on the services it began on."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.domain.partitions import Partitions
from memory_server.ports.breaker import Breaker
from memory_server.services.administration import Administration
from memory_server.services.archiving import Archiving
from memory_server.services.blocks import BlockKeeping
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.deployment import Deployment
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.identity import Identity
from memory_server.services.invocation import Invocation
from memory_server.services.members import MemberKeeping
from memory_server.services.memories import MemoryKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.proposals import Reviewing
from memory_server.services.readiness import ReadinessOfServer
from memory_server.services.reembedding import Reembedding
from memory_server.services.search import Retrieval
from memory_server.services.servers import Presence
from memory_server.services.service_accounts import ServiceAccounts
from memory_server.services.spending import SpendingKeeping
from memory_server.services.turns import TurnRecording
from memory_server.settings import Settings

PIN = "serving"
"""Where a request's scope has its hold on the services."""
WAITS_BELOW = "/api/"
"""What stands elsewhere tells of the server, and answers also while nothing may be written."""


class Services(Protocol):
    """What the routes call; the composition root's application has them all."""

    @property
    def settings(self) -> Settings: ...
    @property
    def recording(self) -> TurnRecording: ...
    @property
    def keeping(self) -> MemoryKeeping: ...
    @property
    def retrieval(self) -> Retrieval: ...
    @property
    def partitions(self) -> Partitions: ...
    @property
    def custom_types(self) -> CustomTypes: ...
    @property
    def blocks(self) -> BlockKeeping: ...
    @property
    def context(self) -> ContextBuilding: ...
    @property
    def promotion(self) -> Promotion: ...
    @property
    def spending(self) -> SpendingKeeping: ...
    @property
    def breakers(self) -> Mapping[str, Breaker]: ...
    @property
    def identity(self) -> Identity: ...
    @property
    def service_accounts(self) -> ServiceAccounts: ...
    @property
    def projects(self) -> ProjectKeeping: ...
    @property
    def members(self) -> MemberKeeping: ...
    @property
    def executions(self) -> ExecutionKeeping: ...
    @property
    def invocation(self) -> Invocation: ...
    @property
    def reviewing(self) -> Reviewing: ...
    @property
    def administration(self) -> Administration: ...
    @property
    def archiving(self) -> Archiving: ...
    @property
    def readiness(self) -> ReadinessOfServer: ...
    @property
    def reembedding(self) -> Reembedding: ...
    @property
    def presence(self) -> Presence: ...


class OnOneRelease:
    """ASGI middleware: holds on to the services of the moment until the answer is given."""

    def __init__(self, app: ASGIApp, *, deployment: Deployment[Any]) -> None:
        self._app = app
        self._deployment = deployment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        pin = await self._deployment.pin(waits=scope["path"].startswith(WAITS_BELOW))
        scope[PIN] = pin
        try:
            await self._app(scope, receive, send)
        finally:
            pin.end()


def services(request: Request) -> Services:
    """Return the services that the request began on; others may serve new ones meanwhile."""
    return cast(Services, request.scope[PIN].release)


def deployment(request: Request) -> Deployment[Any]:
    """Return what holds the services and replaces them."""
    return cast(Deployment[Any], request.app.state.deployment)
