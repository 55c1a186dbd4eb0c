"""Bringing the index to what is stored: one step after the other, never two at once.

A step reads the present state of some documents and writes it to the index before the next one
reads. So the index never goes back, in whichever order it hears of changes. A load reads what may
have changed since it began, and leaves out what was refreshed meanwhile.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import bson

from memory_server.domain.moments import maybe_moment, moment_text, to_micros
from memory_server.errors import MemoryServerError, StorageUnavailable
from memory_server.ports.clock import Clock
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.mirror.cache import Cache, Make, Progress
from memory_server.storage.mongo.mirror.marks import Key, Marks
from memory_server.storage.mongo.mirror.source import Source

logger = logging.getLogger(__name__)

BATCH = 200
"""Documents in one step. A search that follows a write waits for two steps at the most."""
MOST_WAITING = 100_000
"""Changes of others that wait; with more, the stream is read no further."""
WAIT_SECONDS = 10.0
"""How long a search waits for the index."""
RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 10.0


class Refresher:
    """Keeps a cache at what a source holds."""

    def __init__(self, source: Source, cache: Cache, *, clock: Clock) -> None:
        self._source = source
        self._cache = cache
        self._clock = clock
        self._own = Marks(clock)
        self._others = Marks(clock)
        self._tokens: deque[tuple[int, bytes]] = deque()
        self._progress = Progress()
        self._total = 0
        self._refreshed: set[Key] = set()
        self._has_former = True
        self._read = 0
        self._present: int | None = None
        self._problem: str | None = None
        self._stepping = asyncio.Lock()
        self._due = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    @property
    def is_loading(self) -> bool:
        """Whether everything is being read, whatever changed."""
        return self._progress.stage is not None

    @property
    def is_current(self) -> bool:
        """Whether the index holds at least what was stored when this server began to mirror."""
        reached = self._present is not None and self._others.settled >= self._present
        return self._progress.complete and reached

    async def resume(self, progress: Progress) -> None:
        """Go on from where the cache is."""
        self._progress = progress
        self._present = None
        if self.is_loading:
            self._total = await self._source.size()
        self._due.set()

    async def load(self, token: Mapping[str, Any], reason: str) -> None:
        """Begin to read everything, because of a reason, from a place in the stream on.

        What is indexed goes on answering; what of it is gone is removed in the end.
        """
        total = await self._source.size()
        async with self._stepping:
            self._tokens.clear()
            indexed, _ = await self._cache.indexed(after=None, limit=1)
            self._has_former = bool(indexed)
            progress = Progress(
                token=bson.encode(token),
                stage=0,
                complete=self._progress.complete,
                reason=reason,
                begun_at=to_micros(self._clock.now()),
            )
            await self._cache.write({}, progress)
            self._progress, self._total = progress, total
            self._refreshed.clear()
        logger.info("search index: loading about %d documents: %s", total, reason)
        self.reach_present()
        self._due.set()

    def mark_own(self, keys: Sequence[Key]) -> None:
        """Mark what this server changed: the next search shows it."""
        self._own.add(keys)
        self._due.set()

    def mark_others(self, keys: Sequence[Key], token: Mapping[str, Any] | None) -> None:
        """Mark what the stream told of, up to a place in it; without keys, that nothing changed."""
        self._others.add(keys)
        if token is None:
            return
        if self._tokens and self._tokens[-1][0] == self._others.last:
            self._tokens.pop()
        self._tokens.append((self._others.last, bson.encode(token)))
        self._due.set()

    def reach_present(self) -> None:
        """Note that the stream has told of all that was stored when this server began."""
        if self._present is None:
            self._present = self._others.last
            self._tell(None)

    async def have_room(self) -> None:
        """Return once more changes can wait."""
        while len(self._others) >= MOST_WAITING:
            with suppress(MemoryServerError):
                await self._next_step()

    async def settle(self) -> None:
        """Return once the index holds what this server wrote before, or raise a `StorageError`."""
        wanted = self._own.last
        if self._holds(wanted):
            return
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not self._holds(wanted):
                    await self._next_step()
        except TimeoutError:
            raise StorageUnavailable(f"search index: {self.state() or 'behind'}") from None

    def state(self) -> str | None:
        """Return what the index is doing before it can answer, for people; None: it can."""
        if not self._progress.complete:
            return f"loading {self.percent} %"
        if not self.is_current:
            return f"catching up, {len(self._others)} changes behind"
        return None

    @property
    def percent(self) -> int:
        """How much of a load is done."""
        return min(99, 100 * self._progress.loaded // max(self._total, 1))

    def describe(self) -> Mapping[str, Any]:
        """Return how far behind the index is, and why everything was read last."""
        oldest = [one for one in (self._own.oldest, self._others.oldest) if one is not None]
        now = self._clock.now()
        seconds = max(((now - one).total_seconds() for one in oldest), default=0.0)
        return {
            "behind": {"documents": len(self._own) + len(self._others), "seconds": seconds},
            "last_load": {
                "reason": self._progress.reason,
                "begun_at": moment_text(maybe_moment(self._progress.begun_at)),
                "percent": self.percent if self.is_loading else 100,
            },
            "documents_read": self._read,
            "problem": self._problem,
        }

    async def run(self) -> None:
        """Take steps until cancelled; what fails is tried again."""
        pause = RETRY_SECONDS
        while True:
            await self._due.wait()
            try:
                await self._step()
            except MemoryServerError as error:
                self._fail(error, str(error))
            except Exception as error:
                logger.exception("search index: a step failed on a fault of the program")
                self._fail(error, f"{type(error).__name__}: see the log")
            else:
                self._problem, pause = None, RETRY_SECONDS
                self._tell(None)
                continue
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)

    def stop(self) -> None:
        """Let nobody wait for steps any more."""
        self._tell(StorageUnavailable("search index: the store is closed"))

    def _holds(self, wanted: int) -> bool:
        return self.is_current and self._own.settled >= wanted

    async def _step(self) -> None:
        async with self._stepping:
            self._due.clear()
            try:
                await self._refresh()
            except BaseException:
                self._own.put_back()
                self._others.put_back()
                self._due.set()
                raise
            if self.is_loading:
                self._due.set()  # also if this page fails
                await self._load_page()
            if self._own or self._others:
                self._due.set()

    async def _refresh(self) -> None:
        keys = [*self._own.take(BATCH)]
        keys += self._others.take(BATCH - len(keys))
        progress = replace(self._progress, token=self._token())
        if not keys and progress == self._progress:
            return
        found = await self._source.fetch(dict.fromkeys(keys))
        self._read += len(found)
        made = {key: self._make(key, found.get(key)) for key in keys}
        await self._cache.write(made, progress)
        self._progress = progress
        if self.is_loading:
            self._refreshed.update(keys)
        self._own.settle()
        self._others.settle()
        while self._tokens and self._tokens[0][0] <= self._others.settled:
            self._tokens.popleft()

    def _token(self) -> bytes | None:
        """Return the place in the stream up to which all will be indexed after this step."""
        settled = self._others.settled_with_taken
        token = self._progress.token
        for number, one in self._tokens:
            if number > settled:
                break
            token = one
        return token

    async def _load_page(self) -> None:
        stage = self._progress.stage or 0
        if stage >= len(self._source.collections):
            await self._remove_gone()
            return
        collection = self._source.collections[stage]
        after = self._progress.after
        last = None if after is None else Key(collection, *bson.decode(bytes.fromhex(after))["k"])
        found = await self._source.page(collection, after=last, limit=BATCH)
        self._read += len(found)
        progress = replace(self._progress, stage=stage + 1, after=None)
        if found:
            *_, key = found
            progress = replace(
                self._progress,
                after=bson.encode({"k": [key.project_id, key.id]}).hex(),
                loaded=self._progress.loaded + len(found),
            )
        made = {
            key: self._make(key, one) for key, one in found.items() if key not in self._refreshed
        }
        await self._proceed(progress, made)

    async def _remove_gone(self) -> None:
        keys, after = await self._cache.indexed(after=self._progress.after, limit=BATCH)
        if not keys or not self._has_former:
            await self._proceed(replace(self._progress, stage=None, after=None, complete=True), {})
            self._refreshed.clear()
            logger.info("search index: loaded %d documents", self._progress.loaded)
            return
        existing = await self._source.existing(keys)
        gone = {key: None for key in keys if key not in existing}
        await self._proceed(replace(self._progress, after=after), gone)

    async def _proceed(self, progress: Progress, made: Mapping[Key, Make | None]) -> None:
        before = self.percent
        await self._cache.write(made, progress)
        self._progress = progress
        if self.percent // 10 > before // 10:
            logger.info("search index: loading %d %%", self.percent)

    def _make(self, key: Key, document: Document | None) -> Make | None:
        return None if document is None else partial(self._source.entry, key, document)

    async def _next_step(self) -> None:
        step: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(step)
        await step

    def _fail(self, error: Exception, problem: str) -> None:
        if self._problem is None:
            logger.warning("search index: not refreshed: %s", problem)
        self._problem = problem
        self._due.set()
        self._tell(error)

    def _tell(self, error: Exception | None) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one.done():
                continue
            if error is None:
                one.set_result(None)
            else:
                one.set_exception(error)
