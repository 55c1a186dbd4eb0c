"""The search indexes of the deployment: made where they are missing, added to, watched."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.filters import Filter
from memory_server.ports.clock import Clock
from memory_server.search.atlas.definitions import (
    NAMES,
    WORDS,
    Definition,
    Leg,
    Wanted,
    definition,
    extended,
    filter_types,
    indexed_paths,
    vector_path,
)
from memory_server.search.atlas.deployment import Database, run
from memory_server.search.atlas.filters import Fields, keys_of

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0

SOURCES = (
    Source.SEMANTIC,
    Source.STM,
    Source.EPISODIC,
    Source.PROCEDURAL,
    Source.TAXONOMIC,
    Source.CUSTOM,
    Source.BLOCK,
)
"""In the order in which their indexes are made: a small cluster has room for a few only."""

_QUOTA = "maximum number of fts indexes"
_EXISTS = 68
"""IndexAlreadyExists: another server was faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """One index as it is known."""

    status: str
    """As the deployment says, or MISSING, QUOTA or REFUSED where there is none."""
    paths: frozenset[str] = frozenset()
    """What the definition that answers now holds; nothing while none answers."""
    reason: str | None = None


_MISSING = IndexState(status="MISSING")


class AtlasIndexes:
    """Two indexes for each collection: words and vectors.

    Where one cannot be had or does not answer yet, it is said, and the caller searches otherwise.
    """

    def __init__(self, database: Database, collections: Mapping[Source, str], clock: Clock) -> None:
        self._database = database
        self._collections = collections
        self._clock = clock
        self._wanted = Wanted()
        self._states: dict[tuple[Source, Leg], IndexState] = {}
        self._is_behind = True

    @property
    def wanted(self) -> Wanted:
        """What was needed so far."""
        return self._wanted

    @property
    def is_behind(self) -> bool:
        """Whether something is needed that `ensure` has not asked for yet."""
        return self._is_behind

    def need_space(self, space: EmbeddingSpace) -> None:
        """Let the vectors of a space be indexed from the next `ensure` on."""
        if space.name not in {one.name for one in self._wanted.spaces}:
            self._wanted = replace(self._wanted, spaces=(*self._wanted.spaces, space))
            self._is_behind = True

    def need_keys(self, condition: Filter | None) -> None:
        """Let the metadata keys that a filter names be indexed from the next `ensure` on.

        The filters of clients name declared keys only, with values of their declared type.
        """
        named = {key: kind for key, kind in keys_of(condition) if key not in self._wanted.keys}
        if named:
            self._wanted = replace(self._wanted, keys={**named, **self._wanted.keys})
            self._is_behind = True

    async def ensure(self) -> None:
        """Make what is missing and add to what is there; several servers may do so at once.

        Returns before anything is built; what is refused is asked for again by the next call.
        """
        self._is_behind = False
        is_full = False
        for source in SOURCES:
            known = await self._list(source)
            for leg in Leg:
                refused = await self._ensure(source, leg, known.get(NAMES[leg]), is_full=is_full)
                is_full = is_full or (refused is not None and refused.status == "QUOTA")
                self._states[source, leg] = refused or self._state(source, leg, known)
        self._log_missing()
        await self.refresh()

    async def refresh(self) -> None:
        """Ask for the state of every index."""
        for source in SOURCES:
            known = await self._list(source)
            for leg in Leg:
                before = self._states.get((source, leg), _MISSING)
                state = self._state(source, leg, known)
                is_refused = before.status in ("QUOTA", "REFUSED") and state == _MISSING
                self._states[source, leg] = before if is_refused else state

    async def wait(self, seconds: float) -> bool:
        """Return whether all that is being built answers within that time."""
        deadline = self._clock.now().timestamp() + seconds
        while True:
            await self.refresh()
            if not self.building():
                return True
            if self._clock.now().timestamp() >= deadline:
                return False
            await self._clock.sleep(POLL_SECONDS)

    def building(self) -> Sequence[str]:
        """Return the names of the indexes that will answer, or will answer more, later."""
        return [
            f"{self._collections[source]}.{NAMES[leg]}"
            for (source, leg), state in self._states.items()
            if state.status in ("PENDING", "BUILDING", "IN_PROGRESS")
        ]

    def words(self, source: Source) -> Fields | None:
        """Return by what a search for words can be narrowed; None: it does not answer."""
        return self._fields(source, Leg.TEXT, WORDS)

    def vectors(self, source: Source, space: EmbeddingSpace) -> Fields | None:
        """Return by what a search in a space can be narrowed; None: it does not answer."""
        return self._fields(source, Leg.VECTOR, vector_path(space))

    def describe(self) -> Sequence[Mapping[str, Any]]:
        """Return each index with its state, for readiness."""
        return [
            {
                "collection": self._collections[source],
                "name": NAMES[leg],
                "status": state.status,
                "answers": bool(state.paths),
                **({} if state.reason is None else {"reason": state.reason}),
            }
            for (source, leg), state in self._states.items()
        ]

    def _fields(self, source: Source, leg: Leg, needed: str) -> Fields | None:
        paths = self._states.get((source, leg), _MISSING).paths
        if {needed, *filter_types({})} <= paths:
            return Fields(paths, self._wanted.keys)
        return None

    async def _list(self, source: Source) -> Mapping[str, Mapping[str, Any]]:
        collection = self._database[self._collections[source]]
        with self._database.translated():
            return {one["name"]: one for one in await run(collection, [{"$listSearchIndexes": {}}])}

    async def _ensure(
        self, source: Source, leg: Leg, known: Mapping[str, Any] | None, *, is_full: bool
    ) -> IndexState | None:
        """Make or add to one index; return its state if that is refused."""
        if known is None:
            made = definition(leg, self._wanted)
            if made is None:
                return None
            if is_full:
                return IndexState(status="QUOTA", reason="the cluster takes no more search indexes")
            return await self._attempt(source, leg, made, is_new=True)
        added = extended(leg, known.get("latestDefinition", {}), self._wanted)
        return None if added is None else await self._attempt(source, leg, added, is_new=False)

    async def _attempt(
        self, source: Source, leg: Leg, made: Definition, *, is_new: bool
    ) -> IndexState | None:
        collection = self._database[self._collections[source]]
        with self._database.translated():
            try:
                if is_new:
                    model = SearchIndexModel(made, NAMES[leg], leg.value)
                    await collection.create_search_index(model)
                else:
                    await collection.update_search_index(NAMES[leg], made)
            except OperationFailure as error:
                if error.code == _EXISTS:
                    return None
                return _refused(error)
        return None

    def _state(
        self, source: Source, leg: Leg, known: Mapping[str, Mapping[str, Any]]
    ) -> IndexState:
        index = known.get(NAMES[leg])
        if index is None:
            return _MISSING
        before = self._states.get((source, leg), _MISSING)
        return IndexState(
            status=str(index.get("status", "UNKNOWN")),
            paths=answering(leg, index, before.paths),
            reason=_failure(index),
        )

    def _log_missing(self) -> None:
        missing = [
            f"{self._collections[source]}.{NAMES[leg]}"
            for (source, leg), state in self._states.items()
            if state.status in ("QUOTA", "REFUSED")
        ]
        if missing:
            logger.warning(
                "search indexes that Atlas does not make, searched in this process instead: %s",
                ", ".join(missing),
            )


def answering(
    leg: Leg, index: Mapping[str, Any], before: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the paths of the definition that answers queries now; none if none does.

    While an index is built anew, its former definition answers: the deployment tells it for each
    of its hosts, and what all of them have can be asked. Where it does not tell, what answered
    `before` still does.
    """
    if not index.get("queryable") or index.get("status") == "STALE":
        return frozenset()
    if index.get("status") == "READY":
        return indexed_paths(leg, index.get("latestDefinition", {}))
    mains = [host.get("mainIndex") or {} for host in index.get("statusDetail", [])]
    told = [
        indexed_paths(leg, main["definition"])
        for main in mains
        if main.get("queryable", True) and main.get("definition")
    ]
    if told and len(told) == len(mains):
        return frozenset.intersection(*told)
    return before


def _refused(error: OperationFailure) -> IndexState:
    message = str((error.details or {}).get("errmsg", error))
    if _QUOTA in message.lower():
        return IndexState(status="QUOTA", reason=message)
    logger.warning("a search index is refused: %s", message)
    return IndexState(status="REFUSED", reason=message)


def _failure(index: Mapping[str, Any]) -> str | None:
    if index.get("status") != "FAILED":
        return None
    messages = [
        (host.get("mainIndex") or {}).get("message") for host in index.get("statusDetail", [])
    ]
    return next((str(one) for one in messages if one), "it failed to build")
