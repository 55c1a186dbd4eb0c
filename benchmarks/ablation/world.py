"""Conversations recorded by the services of a server, and copies of its index that were changed."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.ablation.steps import Meaning, Stored, Unit, Words
from evaluation.conversations import Conversation
from evaluation.exchanges import exchanges_of
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import metadata_of
from memory_server.application import Application
from memory_server.bootstrap.build import build
from memory_server.domain.block import Message
from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Purpose, Vector
from memory_server.domain.memory import Block, embedded_text
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role, Turn
from memory_server.domain.utterance import Utterance
from memory_server.domain.words import embedding_text
from memory_server.providers.system import SystemClock
from memory_server.search.local import documents
from memory_server.search.local.entries import memory_entry, turn_entry
from memory_server.search.local.vectors import spaced
from memory_server.services import block_drafts
from memory_server.services.turns import TurnInput
from memory_server.settings import from_environment
from memory_server.storage.sqlite.store import SqliteStore

PROJECT = "local"
OF_A_NEIGHBOUR = 0.5
"""What the vector of the turn before and after counts beside one's own in an average."""
SOURCES = {Unit.TURNS: Source.STM, Unit.BLOCKS: Source.BLOCK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One conversation as the store has it."""

    user_id: str
    stored: Mapping[str, Stored]
    """What can be found, by id."""
    said: Mapping[str, Utterance]
    """What each of it says, by id."""
    brings: Mapping[str, frozenset[str]]
    """Keys of the turns that each of it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A server's services with what was recorded, and the stores whose index is searched."""

    app: Application
    unit: Unit
    recorded: Mapping[str, Recorded]
    """By conversation."""
    words: Mapping[Words, SqliteStore]
    meaning: Mapping[Meaning, SqliteStore]


@asynccontextmanager
async def world_of(
    directory: Path, unit: Unit, conversations: Sequence[Conversation]
) -> AsyncIterator[World]:
    """Record the conversations, and change copies of the index as the steps need them."""
    async with AsyncExitStack() as stack:
        environment = {"AGENTENGINE_DATA_DIR": str(directory), "AGENTENGINE_LOCAL_MODELS": "1"}
        app = build(from_environment(environment))
        await app.store.open()
        stack.push_async_callback(app.close)
        record = _record_turns if unit is Unit.TURNS else _record_blocks
        recorded = {one.key: await record(app, one) for one in conversations}
        await app.promotion.flush(PROJECT)
        said = [stored for one in recorded.values() for stored in one.stored.values()]
        await _check_vectors(app, said)

        async def changed(name: str, change: Callable[[sqlite3.Connection], None]) -> SqliteStore:
            path = directory / f"{name}.db"
            _copy(directory / "memory.db", path, change)
            store = SqliteStore(path, clock=SystemClock())
            await store.open()
            stack.push_async_callback(store.close)
            return store

        assert isinstance(app.store, SqliteStore)
        alone = await _vectors_alone(app, said)
        averaged = _averaged(said, alone)
        space = app.providers.embedder.space
        yield World(
            app=app,
            unit=unit,
            recorded=recorded,
            words={
                Words.SHIPPED: app.store,
                Words.EVERY_WORD: app.store,
                Words.WITHOUT_NEIGHBOURS: await changed("alone", _forget_neighbours),
                Words.BARE: await changed("bare", lambda db: _index_bare(db, said)),
            },
            meaning={
                Meaning.SHIPPED: app.store,
                Meaning.ALONE: await changed(
                    "vectors", lambda db: _set_vectors(db, alone, space=space)
                ),
                Meaning.AVERAGED: await changed(
                    "averaged", lambda db: _set_vectors(db, averaged, space=space)
                ),
            },
        )


async def _record_turns(app: Application, conversation: Conversation) -> Recorded:
    place = Place.of(conversation, ingestion=Unit.TURNS)
    scope = Scope(project_id=PROJECT, user_id=place.user_id)
    found: dict[str, Stored] = {}
    brings: dict[str, frozenset[str]] = {}
    for session_id, turns in place.sessions.items():
        for turn in turns:
            given = TurnInput(
                session_id=session_id,
                role=Role(turn.role),
                content=turn.text,
                metadata=metadata_of(turn),
            )
            stored = (await app.recording.record(scope, given)).turn
            found[stored.id] = stored
            brings[stored.id] = frozenset({turn.key})
    said = await app.store.turns.utterances(PROJECT, list(found))
    return _recorded(place, found, said, brings)


async def _record_blocks(app: Application, conversation: Conversation) -> Recorded:
    place = Place.of(conversation, ingestion=Unit.BLOCKS)
    scope = Scope(project_id=PROJECT, user_id=place.user_id)
    found: dict[str, Stored] = {}
    brings: dict[str, frozenset[str]] = {}
    for session_id, turns in place.sessions.items():
        names = exchanges_of(turns)
        for _, exchange in groupby(turns, key=lambda turn: names[turn.key]):
            spoken = list(exchange)
            messages = [
                Message(role=Role(one.role), content=one.text, metadata=metadata_of(one))
                for one in spoken
            ]
            given = block_drafts.Conversation(conversation_id=session_id, messages=messages)
            for block in (await app.blocks.record(scope, given)).blocks:
                found[block.id] = block
                brings[block.id] = frozenset(one.key for one in spoken)
    said = await app.store.memories.utterances(scope, list(found))
    return _recorded(place, found, said, brings)


def _recorded(
    place: Place,
    found: Mapping[str, Stored],
    said: Sequence[Utterance],
    brings: Mapping[str, frozenset[str]],
) -> Recorded:
    by_id = {one.id: one for one in said}
    return Recorded(user_id=place.user_id, stored=found, said=by_id, brings=brings)


async def _check_vectors(app: Application, said: Sequence[Stored]) -> None:
    held = (await app.store.search.describe())["vectors"]
    if held != len(said):
        raise SystemExit(
            f"{held} of {len(said)} have vectors: the model did not keep up; try again"
        )


async def _vectors_alone(app: Application, said: Sequence[Stored]) -> Mapping[str, Vector]:
    """Embed each turn without the one before it, or each exchange."""
    texts = {one.id: _text_alone(one) for one in said}
    distinct = list(dict.fromkeys(texts.values()))
    embedded = await app.providers.embedder.embed(distinct, purpose=Purpose.DOCUMENT)
    vectors = dict(zip(distinct, embedded.vectors, strict=True))
    return {name: vector for name, text in texts.items() if (vector := vectors[text]) is not None}


def _text_alone(one: Stored) -> str:
    return embedding_text(one) if isinstance(one, Turn) else embedded_text(one.body)


def _averaged(said: Sequence[Stored], alone: Mapping[str, Vector]) -> Mapping[str, Vector]:
    """Return the vectors with those of the neighbours of the same session and viewpoint."""
    places = {_place(one): one.id for one in said}
    averaged = {}
    for one in said:
        session, position = _place(one)
        around = [places.get((session, position + step)) for step in (-1, 1)]
        near = [OF_A_NEIGHBOUR * alone[name] for name in around if name is not None]
        total = np.sum([alone[one.id], *near], axis=0)
        averaged[one.id] = (total / np.linalg.norm(total)).astype(np.float32)
    return averaged


def _place(one: Stored) -> tuple[tuple[str | None, ...], int]:
    """Return the session, seen by whom, and the number in it."""
    if isinstance(one, Turn):
        return (one.user_id, one.session_id), one.turn_seq
    assert isinstance(one.body, Block)
    return (one.user_id, one.session_id, one.body.viewpoint), one.body.position


def _copy(path: Path, target: Path, change: Callable[[sqlite3.Connection], None]) -> None:
    """Copy a database page by page, and change the copy."""
    source, copy = sqlite3.connect(path), sqlite3.connect(target)
    source.backup(copy)
    source.close()
    copy.row_factory = sqlite3.Row
    change(copy)
    copy.commit()
    copy.close()


def _forget_neighbours(db: sqlite3.Connection) -> None:
    db.execute("UPDATE words SET neighbours = ''")


def _index_bare(db: sqlite3.Connection, said: Sequence[Stored]) -> None:
    """Index what was said alone, without its date and who said it; neighbours too."""
    last: dict[str, int] = {}
    for one in said:
        if isinstance(one, Turn):
            documents.put(db, replace(turn_entry(one, one.turn_seq), text=one.content))
            last[one.session_id] = one.turn_seq
        else:
            assert isinstance(one.body, Block)
            text = "\n".join(message.content for message in one.body.messages)
            documents.put(db, replace(memory_entry(one), text=text))
    for session_id, number in last.items():
        documents.link_neighbours(db, PROJECT, session_id, 1, number)


def _set_vectors(
    db: sqlite3.Connection, given: Mapping[str, Vector], *, space: EmbeddingSpace
) -> None:
    for name, vector in given.items():
        documents.set_vector(db, PROJECT, name, spaced(vector, space))
