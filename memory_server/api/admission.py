"""Who may come in now: a place for each request, and a fair share for each user.

A request holds a place from when its body is there until it is answered. One user works in a few
places at a time; what comes on top waits its turn, so that a flood is slow for whoever makes it
and for nobody else. Writes draw from a bucket for their user, and from one for their caller; where
one is empty they are slowed down, and refused when the wait would be long.

The caller is told apart by the credential that is shown, before it is checked: the share of
somebody else's user cannot be used up by naming them.
"""

import asyncio
import hmac
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from memory_server.domain.limits import (
    CALLER_FACTOR,
    MAX_CONCURRENT,
    MAX_CONCURRENT_OF_CALLER,
    MAX_CONCURRENT_OF_ONE,
    WORKING_OF_ONE,
    WRITE_BURST_SECONDS,
    WRITE_PATIENCE_SECONDS,
    WRITES_A_SECOND,
)
from memory_server.domain.rates import Bucket, Rate
from memory_server.errors import Overloaded, RateLimited
from memory_server.ports.clock import Clock

REMEMBERED = 10_000
"""How many buckets are kept; the one that was used longest ago goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a request is, as far as its turn is concerned."""

    caller: Hashable
    """Whoever shows one credential, or calls from one address without any."""
    is_trusted: bool
    """Whether it is this machine without a credential, or the owner of the server."""
    project_id: str | None = None
    user_id: str | None = None
    writes: bool = False
    takes_long: bool = False
    """Whether it waits for others, who may ask for the same user meanwhile."""


@dataclass(slots=True)
class _Lane:
    """The requests of one user."""

    working: int = 0
    waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    def pass_on(self) -> None:
        """Give the place that is free to who waits longest."""
        while self.waiting:
            first = self.waiting.popleft()
            if not first.done():
                first.set_result(None)
                return
        self.working -= 1


class Admission:
    """Counts who is in, and lets in who may.

    `writes_a_second` is for one user: None means the default, for everybody but the callers that
    are trusted; 0 means no limit.
    """

    def __init__(
        self, *, clock: Clock, owner_token: str, writes_a_second: float | None = None
    ) -> None:
        self._clock = clock
        self._owner = f"bearer {owner_token}".encode()
        self._spares_trusted = writes_a_second is None
        a_second = WRITES_A_SECOND if writes_a_second is None else writes_a_second
        self._rate = Rate(a_second=a_second, burst=max(a_second * WRITE_BURST_SECONDS, 1.0))
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()
        self._lanes: dict[Hashable, _Lane] = {}
        self._inside: Counter[Hashable] = Counter()

    def is_trusted(self, authorization: str | None) -> bool:
        """Return whether a credential is none or the owner's; none is good on this machine only."""
        scheme, _, token = (authorization or "").strip().partition(" ")
        shown = f"{scheme.lower()} {token.strip()}".encode()
        return not authorization or hmac.compare_digest(shown, self._owner)

    @asynccontextmanager
    async def place(self, asking: Asking) -> AsyncIterator[None]:
        """Hold a place; raises `Overloaded` or `RateLimited` when there is none."""
        self._check_room(asking.caller)
        self._inside[asking.caller] += 1
        try:
            async with nullcontext() if asking.takes_long else self._share(asking):
                await self._draw(asking)
                yield
        finally:
            self._inside[asking.caller] -= 1
            if not self._inside[asking.caller]:
                del self._inside[asking.caller]

    def _check_room(self, caller: Hashable) -> None:
        if self._inside.total() >= MAX_CONCURRENT:
            raise Overloaded(
                f"the server works on {MAX_CONCURRENT} requests, which is the most it takes at a "
                "time; nothing was done, try again"
            )
        if self._inside[caller] >= MAX_CONCURRENT_OF_CALLER:
            raise RateLimited(
                f"{MAX_CONCURRENT_OF_CALLER} requests of this caller are waiting or in work, which "
                "is the most at a time; nothing was done, try again",
                retry_after=1,
            )

    @asynccontextmanager
    async def _share(self, asking: Asking) -> AsyncIterator[None]:
        """Hold one of the places that a user has, once it is their turn."""
        key = _key(asking)
        lane = self._lanes.setdefault(key, _Lane())
        try:
            await _turn(lane)
            try:
                yield
            finally:
                lane.pass_on()
        finally:
            if not lane.working and not lane.waiting:
                self._lanes.pop(key, None)

    async def _draw(self, asking: Asking) -> None:
        """Take one write from the user's bucket and the caller's, or from neither.

        What is taken ahead of time is waited for: clients of the product take a refusal for good.
        """
        if not asking.writes or self._is_spared(asking):
            return
        now = self._clock.now().timestamp()
        of_caller = self._rate.times(CALLER_FACTOR)
        wanted: list[tuple[str, Hashable, Rate]] = [("caller", asking.caller, of_caller)]
        if asking.user_id is not None:
            wanted.append(("user", _key(asking), self._rate))
        drawn: dict[Hashable, Bucket] = {}
        longest = 0.0
        for whose, key, rate in wanted:
            bucket = self._buckets.get(key, Bucket.full(rate, now)).filled(rate, now)
            if (wait := bucket.wait(rate)) > WRITE_PATIENCE_SECONDS:
                raise RateLimited(
                    f"one {whose} may write {rate}; nothing was stored, try again in {wait:.2f} s",
                    retry_after=wait,
                )
            drawn[key] = bucket.drawn()
            longest = max(longest, wait)
        self._keep(drawn)
        if longest:
            await self._clock.sleep(longest)

    def _is_spared(self, asking: Asking) -> bool:
        return not self._rate.a_second or (asking.is_trusted and self._spares_trusted)

    def _keep(self, drawn: dict[Hashable, Bucket]) -> None:
        for key, bucket in drawn.items():
            self._buckets[key] = bucket
            self._buckets.move_to_end(key)
        while len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)


def _key(asking: Asking) -> Hashable:
    """Return the user as this caller means them."""
    return asking.caller, asking.project_id, asking.user_id


async def _turn(lane: _Lane) -> None:
    """Wait until one of the lane's places is ours; a wait that is given up leaves no trace."""
    if lane.working < WORKING_OF_ONE:
        lane.working += 1
        return
    if lane.working + len(lane.waiting) >= MAX_CONCURRENT_OF_ONE:
        raise RateLimited(
            f"{MAX_CONCURRENT_OF_ONE} requests for this user are waiting or in work, which is the "
            "most at a time; nothing was done, try again",
            retry_after=1,
        )
    turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    lane.waiting.append(turn)
    try:
        await turn
    except asyncio.CancelledError:
        if turn.done() and not turn.cancelled():
            lane.pass_on()
        elif turn in lane.waiting:
            lane.waiting.remove(turn)
        raise
