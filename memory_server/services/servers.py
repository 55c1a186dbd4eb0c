"""A server among those that are at work on the same store."""

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from memory_server.domain.server import ALIVE, HEARTBEAT, KEPT, Server, told
from memory_server.errors import InvalidProjectConfig, StorageError
from memory_server.ports.clock import Clock
from memory_server.ports.servers import Servers

logger = logging.getLogger(__name__)

Listener = Callable[[], Awaitable[None]]


@lru_cache(maxsize=8)
def fingerprint_of(owner_token: str) -> str:
    """Return a digest that is the same for the same token, and does not tell it.

    Whoever reads the database can try tokens against it, and people choose some themselves: so it
    is a slow one.
    """
    digest = hashlib.scrypt(
        owner_token.encode(), salt=b"agentengine owner token", n=2**14, r=8, p=1, dklen=32
    )
    return digest.hex()


class Presence:
    """Reports this server again and again, and knows the others as of the last report."""

    def __init__(self, *, servers: Servers, clock: Clock, me: Server) -> None:
        self._servers = servers
        self._clock = clock
        self._me = me
        self._listener: Listener | None = None
        self._has_left = False
        self._steady_since: datetime | None = None
        self._reported_at = me.seen_at
        self.alive: Sequence[Server] = (me,)
        """The servers alive, this one among them, as of its last heartbeat."""

    @property
    def me(self) -> Server:
        """The server as it reports itself."""
        return self._me

    @property
    def is_steady(self) -> bool:
        """Whether its heartbeats have come through for so long that so have those of the others.

        After the store was away, everybody looks silent for a while.
        """
        since = self._steady_since
        return since is not None and self._clock.now() - since >= ALIVE

    @property
    def others(self) -> Sequence[Server]:
        """The other servers alive."""
        return [server for server in self.alive if server.id != self._me.id]

    @property
    def warnings(self) -> Sequence[str]:
        """What is to be said of the servers as a whole."""
        return [*told(self.alive)]

    def listen(self, listener: Listener) -> None:
        """Call somebody after each heartbeat."""
        self._listener = listener

    def runs(self, config_digest: str) -> None:
        """Note which configuration the services run; the next heartbeat tells the others."""
        self._me = replace(self._me, config_digest=config_digest, problem=None)
        self._put_me()

    def fails(self, problem: str) -> None:
        """Note why the configuration that was applied does not run here."""
        self._me = replace(self._me, problem=problem)
        self._put_me()

    async def join(self) -> None:
        """Report this server for the first time.

        Raises `InvalidProjectConfig` if another server alive has another owner token: each would
        refuse the tokens that the other signs.
        """
        self._me = replace(self._me, started_at=self._clock.now())
        await self._report()
        other = next((one for one in self.others if self._differs(one)), None)
        if other is not None:
            await self.leave()
            raise InvalidProjectConfig(
                f"the owner token of this server is another than that of {other.name}, which is "
                "at work on the same database: each would refuse the tokens that the other "
                "signed. If both serve one memory, give them the same file by "
                "AGENTENGINE_OWNER_TOKEN_FILE; if each has its own, give each a database of its "
                "own by MONGOMEM_DB_NAME. To change the token, stop all first (one that was "
                f"killed is forgotten after {ALIVE.total_seconds():g} seconds)"
            )

    async def beat(self) -> None:
        """Report this server, look who else is there, and tell the listener."""
        if self._has_left:
            return
        await self._report()
        if self._listener is not None:
            await self._listener()

    async def forget_old(self) -> None:
        """Forget the servers that did not take their leave long ago."""
        await self._servers.forget(before=self._clock.now() - KEPT)

    async def drain(self) -> None:
        """Tell the others that this server stops and does no more background work."""
        self._me = replace(self._me, is_stopping=True)
        await self._tried(self._report, "that this server stops")

    async def leave(self) -> None:
        """Take leave: the others know at once."""
        self._has_left = True
        await self._tried(lambda: self._servers.leave(self._me.id), "that this server has stopped")

    async def _report(self) -> None:
        now = self._clock.now()
        self._me = replace(self._me, seen_at=now)
        await self._servers.report(self._me)
        if self._steady_since is None or now - self._reported_at > 2 * HEARTBEAT:
            self._steady_since = now
        self._reported_at = now
        self.alive = await self._servers.seen_since(now - ALIVE)

    async def _tried(self, report: Callable[[], Awaitable[None]], what: str) -> None:
        """Report what the others find out by themselves in the end, if the store takes it."""
        try:
            await report()
        except StorageError as error:
            logger.warning("the other servers could not be told %s: %s", what, error)

    def _differs(self, other: Server) -> bool:
        return not hmac.compare_digest(other.owner_fingerprint, self._me.owner_fingerprint)

    def _put_me(self) -> None:
        self.alive = [self._me if one.id == self._me.id else one for one in self.alive]
