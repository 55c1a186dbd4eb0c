"""A stand-in for Atlas Search over a deployment that has none.

It answers the stages `$search`, `$vectorSearch` and `$listSearchIndexes` as far as the program
sends them, from the documents that are stored: cosines exactly, words by FTS5, which cuts them as
the analyzer of the index does. It refuses what Atlas would: paths that are not indexed, lists that
are empty or of several kinds, numbers out of their bounds. All other stages are done by the
deployment.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from typing import Any

import numpy as np
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel

from memory_server.search.atlas.definitions import Leg, indexed_paths
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import unpacked

Row = dict[str, Any]
QUOTA = "The maximum number of FTS indexes has been reached for this instance size."


def index_error(message: str, code: int = 8) -> OperationFailure:
    """Return what Atlas answers to a question that it does not take."""
    details = {"ok": 0.0, "errmsg": message, "code": code}
    return OperationFailure(message, code, details)


class AtlasStandIn:
    """The collections of a database, with search indexes."""

    def __init__(self, database: MongoDatabase, *, most_indexes: int = 100) -> None:
        self._database = database
        self.most_indexes = most_indexes
        self.indexes: dict[str, dict[str, Row]] = {}
        self.asked: list[tuple[str, list[Row]]] = []
        self.builds_at_once = True
        self._frozen: dict[str, list[Row]] | None = None

    def __getitem__(self, collection: str) -> "AsyncCollection[Row]":
        held: Any = StandInCollection(self, collection, self._database[collection])
        found: AsyncCollection[Row] = held
        return found

    def translated(self) -> AbstractContextManager[None]:
        """Return the seam of the database."""
        return self._database.translated()

    async def freeze(self, *collections: str) -> None:
        """Let the indexes know nothing from now on of what is written."""
        self._frozen = {name: await self._database[name].find().to_list() for name in collections}

    def thaw(self) -> None:
        """Let the indexes know everything again."""
        self._frozen = None

    async def documents(self, collection: str) -> list[Row]:
        """Return the documents as the indexes know them."""
        if self._frozen is not None:
            return deepcopy(self._frozen.get(collection, []))
        return await self._database[collection].find().to_list()

    def finish(self) -> None:
        """Let every index be built."""
        for indexes in self.indexes.values():
            for index in indexes.values():
                index |= {"status": "READY", "queryable": True, "statusDetail": []}


class StandInCollection:
    """A collection whose aggregations may search."""

    def __init__(self, atlas: AtlasStandIn, name: str, collection: "AsyncCollection[Row]") -> None:
        self._atlas = atlas
        self._name = name
        self._collection = collection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    def with_options(self, **_options: Any) -> "StandInCollection":
        """Return the collection: what is indexed knows no read concern."""
        return self

    async def create_search_index(self, model: SearchIndexModel) -> str:
        """Make an index, if there is room."""
        made = dict(model.document)
        known = self._atlas.indexes.setdefault(self._name, {})
        if made["name"] in known:
            raise index_error("Duplicate Index", 68)
        if sum(map(len, self._atlas.indexes.values())) >= self._atlas.most_indexes:
            raise index_error(QUOTA, 20)
        is_built = self._atlas.builds_at_once
        known[made["name"]] = {
            "name": made["name"],
            "type": made["type"],
            "status": "READY" if is_built else "PENDING",
            "queryable": is_built,
            "latestDefinition": made["definition"],
        }
        return str(made["name"])

    async def update_search_index(self, name: str, definition: Mapping[str, Any]) -> None:
        """Build an index anew; meanwhile the former definition answers."""
        index = self._atlas.indexes[self._name][name]
        if not self._atlas.builds_at_once:
            main = {"queryable": index["queryable"], "definition": index["latestDefinition"]}
            index |= {"status": "BUILDING", "statusDetail": [{"mainIndex": main}]}
        index["latestDefinition"] = definition

    async def aggregate(self, pipeline: list[Row], **options: Any) -> Any:
        """Answer a pipeline that begins with a stage of search; hand on every other."""
        (stage, asked), *_ = pipeline[0].items()
        if stage not in ("$listSearchIndexes", "$search", "$vectorSearch"):
            return await self._collection.aggregate(pipeline, **options)
        self._atlas.asked.append((self._name, pipeline))
        if stage == "$listSearchIndexes":
            return _Answer(deepcopy(list(self._atlas.indexes.get(self._name, {}).values())))
        documents = await self._atlas.documents(self._name)
        search = {"$search": self._words, "$vectorSearch": self._nearest}[stage]
        rows: Any = await self._current(search(asked, documents))
        for one in pipeline[1:]:
            rows = await self._stage(rows, one)
        return _Answer(rows)

    async def _current(self, rows: Sequence[tuple[Row, float]]) -> list[tuple[Row, float]]:
        """Return the documents as they are now: an index hands on `_id`s."""
        found = await self._collection.find({}, {"vectors": 0, "fields": 0}).to_list()
        stored = {_key(one): one for one in found}
        return [(stored[_key(one)], score) for one, score in rows if _key(one) in stored]

    async def _stage(self, rows: Any, stage: Row) -> Any:
        ((name, asked),) = stage.items()
        match name:
            case "$limit":
                assert asked > 0
                return rows[:asked]
            case "$match":
                found = self._collection.find(asked, {"project_id": 1, "id": 1})
                passed = {_key(one) async for one in found}
                return [(one, score) for one, score in rows if _key(one) in passed]
            case "$project":
                return [_projected(one, score, asked) for one, score in rows]
        raise index_error(f"the stand-in knows no stage {name}")

    def _definition(self, asked: Row, leg: Leg) -> Row:
        index = self._atlas.indexes.get(self._name, {}).get(asked["index"])
        if index is None or not index["queryable"]:
            raise index_error("the index does not answer: Atlas would find nothing")
        assert index["type"] == leg.value
        mains = [one["mainIndex"]["definition"] for one in index.get("statusDetail", [])]
        found: Row = mains[0] if mains else index["latestDefinition"]
        return found

    def _words(self, asked: Row, documents: Sequence[Row]) -> list[tuple[Row, float]]:
        definition = self._definition(asked, Leg.TEXT)
        types = _types(definition["mappings"]["fields"], "")
        passes = [_operator(one, types) for one in asked["compound"]["filter"]]
        allowed = [one for one in documents if all(test(one) for test in passes)]
        must = asked["compound"].get("must", [])
        if not must:
            return [(one, 0.0) for one in allowed]
        (phrase,) = (one["phrase"] for one in must)
        assert types[phrase["path"]] == {"string"}
        assert list(asked["sort"]) == ["score", "id"]
        assert types["id"] == {"token"}
        scores = _fts([one.get(phrase["path"], "") for one in documents], phrase["query"])
        by_key = {_key(one): score for one, score in zip(documents, scores, strict=True)}
        found = [(one, by_key[_key(one)]) for one in allowed if by_key[_key(one)] > 0]
        return sorted(found, key=lambda row: (-row[1], row[0]["id"]))

    def _nearest(self, asked: Row, documents: Sequence[Row]) -> list[tuple[Row, float]]:
        definition = self._definition(asked, Leg.VECTOR)
        limit, candidates = asked["limit"], asked.get("numCandidates", 0)
        if not (limit > 0 and (asked.get("exact") or limit <= candidates <= 10_000)):
            raise index_error("limit should be less than or equal to numCandidates")
        query = unpacked(asked["queryVector"])
        (field,) = (one for one in definition["fields"] if one["path"] == asked["path"])
        assert (field["type"], field["similarity"]) == ("vector", "cosine")
        assert field["numDimensions"] == len(query)
        passes = _mql(asked["filter"], indexed_paths(Leg.VECTOR, definition))
        found = [
            (one, (1 + float(vector @ query / np.linalg.norm(vector))) / 2)
            for one in documents
            if passes(one)
            for vector in _vectors(one, asked["path"])
        ]
        return sorted(found, key=lambda row: -row[1])[:limit]


class _Answer:
    """A cursor over rows."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    async def __aenter__(self) -> "_Answer":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def to_list(self) -> list[Row]:
        """Return all rows."""
        return self._rows


def _key(document: Row) -> tuple[str, str]:
    return document["project_id"], document["id"]


def _projected(document: Row, score: float, asked: Row) -> Row:
    found = {
        name: score if isinstance(one, dict) else document.get(name)
        for name, one in asked.items()
        if one and (isinstance(one, dict) or name in document)
    }
    return found if asked.get("_id") == 0 else {"_id": document["_id"], **found}


def _vectors(document: Row, path: str) -> list[Any]:
    stored = document.get("vectors", {}).get(path.removeprefix("vectors."))
    return [] if stored is None else [unpacked(stored)]


Test = Callable[[Row], bool]


def _types(fields: Mapping[str, Any], prefix: str) -> dict[str, set[str]]:
    """Return the types under which each path of a definition is indexed."""
    found: dict[str, set[str]] = {}
    for name, mappings in fields.items():
        for one in mappings if isinstance(mappings, list) else [mappings]:
            if one["type"] == "document":
                found |= _types(one["fields"], f"{prefix}{name}.")
            else:
                found.setdefault(f"{prefix}{name}", set()).add(one["type"])
    return found


def _operator(asked: Row, types: Mapping[str, set[str]]) -> Test:
    ((name, told),) = asked.items()
    if name == "compound":
        every = [_operator(one, types) for one in told.get("filter", [])]
        some = [_operator(one, types) for one in told.get("should", [])]
        assert not some or told["minimumShouldMatch"] == 1
        return lambda row: (
            all(test(row) for test in every) and (not some or any(test(row) for test in some))
        )
    values = told["value"] if name == "in" else [told["value"]] if name == "equals" else []
    _check_kinds(told["path"], values, types)
    if name == "range":
        assert "number" in types[told["path"]]
        bounds = {f"${sign}": bound for sign, bound in told.items() if sign != "path"}
        return lambda row: all(_compare(row, told["path"], *one) for one in bounds.items())
    return lambda row: _compare(row, told["path"], "$in", values)


def _check_kinds(path: str, values: Sequence[Any], types: Mapping[str, set[str]]) -> None:
    needed = {str: "token", bool: "boolean", int: "number", float: "number"}
    for value in values:
        if value is not None and needed[type(value)] not in types.get(path, set()):
            raise index_error(f"Path '{path}' needs to be indexed as {needed[type(value)]}")


def _mql(asked: Row, paths: frozenset[str]) -> Test:
    tests = [_clause(name, told, paths) for name, told in asked.items()]
    return lambda row: all(test(row) for test in tests)


def _clause(name: str, told: Any, paths: frozenset[str]) -> Test:
    if name in ("$and", "$or"):
        parts = [_mql(one, paths) for one in told]
        joined = all if name == "$and" else any
        return lambda row: joined(test(row) for test in parts)
    if name not in paths:
        raise index_error(f"Path '{name}' needs to be indexed as filter")
    ((sign, value),) = told.items()
    if sign == "$in":
        kinds = {float if type(one) is int else type(one) for one in value}
        if len(kinds) != 1:
            raise index_error("must have elements of the same type, and one at least")
        return lambda row: _compare(row, name, "$in", value)
    return lambda row: _compare(row, name, "$in" if sign == "$eq" else sign, [value])


def _compare(document: Row, path: str, sign: str, operands: Any) -> bool:
    found: Any = document
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    values = found if isinstance(found, list) else [found]
    wanted = operands if isinstance(operands, list) else [operands]
    return any(_holds(one, sign, operand) for one in values for operand in wanted)


def _holds(value: Any, sign: str, operand: Any) -> bool:
    numbers = isinstance(value, int | float) and not isinstance(value, bool)
    if sign == "$in":
        return (type(value) is type(operand) and value == operand) or (
            numbers and not isinstance(operand, bool) and value == operand
        )
    if not numbers:
        return False
    return bool(value >= operand if sign == "$gte" else value <= operand)


def _fts(texts: Sequence[str], terms: Sequence[str]) -> list[float]:
    """Return how well each text holds any of the terms, 0 for those that do not."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE t USING fts5(b, tokenize='porter unicode61 remove_diacritics 2')"
        )
        rows = [(number, text) for number, text in enumerate(texts)]
        connection.executemany("INSERT INTO t (rowid, b) VALUES (?, ?)", rows)
        quoted = ('"' + term.replace('"', '""').replace("\0", " ") + '"' for term in terms)
        scores = [0.0] * len(texts)
        for rowid, score in connection.execute(
            "SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (" OR ".join(quoted),)
        ):
            scores[rowid] = score
    connection.close()
    return scores
