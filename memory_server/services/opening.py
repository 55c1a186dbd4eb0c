"""The way to a store that serves: at once, or as soon as its deployment can be reached."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from memory_server.errors import MemoryServerError, StorageUnavailable, StorageUnusable
from memory_server.ports.clock import Clock

logger = logging.getLogger(__name__)

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 30.0


class Opening:
    """Opens the store, and begins what needs it open.

    With `waits`, a store that is away is tried again until it is there, and the server answers
    meanwhile that it is not ready, and why. What a person has to mend is never tried again.
    """

    def __init__(self, begin: Callable[[], Awaitable[None]], *, clock: Clock, waits: bool) -> None:
        self._begin = begin
        self._clock = clock
        self._waits = waits
        self._trying: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Try, and return at once where it has to be tried again; raise why it cannot be."""
        try:
            await self._begin()
        except StorageUnusable:
            raise
        except StorageUnavailable as error:
            if not self._waits:
                raise
            logger.warning("the store cannot be opened yet and is tried again: %s", error)
            self._trying = asyncio.create_task(self._try_again(), name="open the store")

    async def end(self) -> None:
        """Try no more."""
        if self._trying is not None:
            self._trying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._trying

    async def _try_again(self) -> None:
        pause = FIRST_SECONDS
        while True:
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_SECONDS)
            try:
                await self._begin()
            except StorageUnusable as error:
                logger.error("the store cannot be opened until this is mended: %s", error)  # noqa: TRY400 the reason is all there is
                return
            except StorageUnavailable as error:
                logger.warning("the store is tried again in %g s: %s", pause, error)
            except MemoryServerError as error:
                logger.error("the store cannot be opened: %s", error)  # noqa: TRY400 the reason is all there is
                return
            else:
                logger.warning("the store is open")
                return
