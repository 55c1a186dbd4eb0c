"""The stream of changes of the database: what other servers wrote."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import bson
from bson.timestamp import Timestamp
from pymongo import ReadPreference
from pymongo.asynchronous.change_stream import AsyncChangeStream
from pymongo.errors import OperationFailure

from memory_server.errors import MemoryServerError, StorageUnavailable
from memory_server.ports.clock import Clock
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.mirror.refresher import (
    LONGEST_RETRY_SECONDS,
    RETRY_SECONDS,
    Refresher,
)
from memory_server.storage.mongo.mirror.source import StoredDocuments, key_of

logger = logging.getLogger(__name__)

AWAIT_MS = 250
"""How long the database holds a question to which it has no answer yet."""

_WHOLE = ("drop", "rename", "dropDatabase", "invalidate")
"""Changes that are of no single document."""

_PIPELINE: Sequence[Mapping[str, Any]] = [
    {
        "$match": {
            "$or": [
                {"ns.coll": {"$in": list(StoredDocuments.collections)}},
                {"operationType": {"$in": ["rename", "dropDatabase", "invalidate"]}},
            ]
        }
    },
    {"$project": {"operationType": 1, "ns": 1, "documentKey": 1, "clusterTime": 1}},
]

_LOST = (9, 136, 260, 280, 286)
"""FailedToParse, CappedPositionLost, InvalidResumeToken, ChangeStreamFatalError and
ChangeStreamHistoryLost: what the database answers to a token that leads nowhere any more."""
_LOST_LABEL = "NonResumableChangeStreamError"


class _Lost(Exception):
    """The stream cannot be followed from where it was; the message says why."""


class Feed:
    """Reads the stream and marks what it tells of."""

    def __init__(self, database: MongoDatabase, refresher: Refresher, *, clock: Clock) -> None:
        self._database = database
        self._refresher = refresher
        self._clock = clock
        self._problem: str | None = None
        self._reason = "there was no index of this database here"
        self._is_lost = False

    @property
    def problem(self) -> str | None:
        """Why what others write is not heard of; None: it is."""
        return self._problem

    async def run(self) -> None:
        """Follow the stream until cancelled; where it breaks off, it is taken up again."""
        pause = RETRY_SECONDS
        while True:
            problem = await self._ended()
            if self._problem is None:
                logger.warning("search index: the stream of changes broke off: %s", problem)
                pause = RETRY_SECONDS
            self._problem = problem
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)

    async def _ended(self) -> str:
        """Follow the stream as long as it goes, and return why it ended."""
        try:
            with self._database.translated():
                await self._follow()
        except _Lost as lost:
            self._reason, self._is_lost = str(lost), True
            return self._reason
        except MemoryServerError as error:
            return str(error)
        except Exception as error:
            logger.exception("search index: the stream failed on a fault of the program")
            return f"{type(error).__name__}: see the log"

    async def _follow(self) -> NoReturn:
        stored = None if self._is_lost else self._refresher.progress.token
        token = None if stored is None else bson.decode(stored)
        present = (await self._database.client.admin.command("hello")).get("operationTime")
        _heed_cancellation()
        try:
            async with await self._open(token) as stream:
                _heed_cancellation()
                await self._begin(stream, token)
                while True:
                    await self._hear(stream, present)
        except OperationFailure as error:
            if error.code in _LOST or error.has_error_label(_LOST_LABEL):
                raise _Lost(
                    "the stream of changes went on too far while it was not read"
                ) from error
            raise

    async def _open(self, token: Mapping[str, Any] | None) -> AsyncChangeStream[Document]:
        database = self._database.database.with_options(read_preference=ReadPreference.PRIMARY)
        return await database.watch(_PIPELINE, resume_after=token, max_await_time_ms=AWAIT_MS)

    async def _begin(
        self, stream: AsyncChangeStream[Document], token: Mapping[str, Any] | None
    ) -> None:
        if token is None:
            if stream.resume_token is None:
                raise StorageUnavailable(
                    f"{self._database.location}: the stream of changes names no place in it"
                )
            await self._refresher.load(stream.resume_token, self._reason)
            self._is_lost = False
        if self._problem is not None:
            logger.info("search index: the stream of changes is followed again")
        self._problem = None

    async def _hear(self, stream: AsyncChangeStream[Document], present: Timestamp | None) -> None:
        event = await stream.try_next()
        _heed_cancellation()
        if event is None:
            if not stream.alive:
                raise _Lost("the stream of changes was ended by the database")
            self._refresher.mark_others([], stream.resume_token)
            self._refresher.reach_present()
            return
        if event["operationType"] in _WHOLE:
            raise _Lost(f"the database or a collection of it was changed: {event['operationType']}")
        key = key_of(event["ns"]["coll"], event["documentKey"]["_id"])
        self._refresher.mark_others([] if key is None else [key], stream.resume_token)
        if present is not None and event.get("clusterTime", present) > present:
            self._refresher.reach_present()
        await self._refresher.have_room()


def _heed_cancellation() -> None:
    """End a task that was cancelled while the driver was sending, which then goes on as if not."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
