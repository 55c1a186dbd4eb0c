"""Writing the index: what becomes findable, and how. Callers hold the transaction."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from hashlib import blake2b
from typing import Any

from memory_server.domain import words
from memory_server.domain.chunk import Source, source_name
from memory_server.domain.moments import maybe_micros
from memory_server.domain.scope import Visibility
from memory_server.search.local import vectors
from memory_server.search.local.statements import load

SQL = load("memory_server.search.local", "documents.sql")

REACH = 2
"""How many turns before and after count as a turn's neighbours."""
REACH_OF_BLOCKS = 1
"""How many exchanges before and after count as an exchange's."""


class State(IntEnum):
    """Which searches find a document."""

    LIVE = 0
    PAST = 1
    """Only searches as of a past moment."""
    HIDDEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One turn, or one version of a memory, as the index sees it."""

    id: str
    project_id: str
    source: Source
    text: str
    fields: Mapping[str, Any]
    """What filters may name: `metadata`, and the server's own fields where they have a value."""
    user_id: str | None
    agent_id: str | None = None
    session_id: str | None = None
    custom_type: str | None = None
    """Of a record: which declared type it is of."""
    visibility: Visibility = Visibility.PRIVATE
    state: State = State.LIVE
    position: int | None = None
    """The number of a turn in its session, or of an exchange in its conversation."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """How much was taken out."""

    documents: int
    vectors: int


def put(connection: sqlite3.Connection, document: Document) -> None:
    """Index a document, or index it anew; its vectors follow it where it may be found."""
    values = _values(document)
    known = connection.execute(SQL["find"], values).fetchone()
    if known is None:
        values["neighbours"] = _around(connection, values)
        values["rowid"] = connection.execute(SQL["insert"], values).lastrowid
        connection.execute(SQL["insert_words"], values)
        _complete_window(connection, document)
        return
    values["rowid"] = known["rowid"]
    connection.execute(SQL["update"], values)
    if (known["scope"], known["body"]) != (values["scope"], values["body"]):
        connection.execute(SQL["update_words"], values)
        tell_neighbours(connection, document)
    if (known["state"], known["user_id"]) != (document.state, document.user_id):
        vectors.move(connection, place_of(values))


def set_vector(
    connection: sqlite3.Connection,
    project_id: str,
    document_id: str,
    stored: "vectors.SpacedVector",
    *,
    drop_others: bool = False,
) -> None:
    """Give an indexed document its vector; `drop_others`: those of other spaces are outdated."""
    place = _find(connection, project_id, document_id)
    if place is not None:
        if drop_others:
            vectors.remove(connection, place.document)
        vectors.store(connection, place, stored)


def keep_vectors(
    connection: sqlite3.Connection,
    project_id: str,
    document_id: str,
    wanted: "Sequence[vectors.SpacedVector]",
) -> None:
    """Let an indexed document have these vectors and no others; those it has stay where they are.

    Each append and each removal makes a partition longer: what did not change is not written.
    """
    place = _find(connection, project_id, document_id)
    if place is None:
        return
    had = {vector.space: vector for vector in vectors.read(connection, place.document)}
    for vector in wanted:
        if had.pop(vector.space, None) != vector:
            vectors.store(connection, place, vector)
    for space in had:
        vectors.remove(connection, place.document, space=space)


def drop_vectors(connection: sqlite3.Connection, project_id: str, document_id: str) -> None:
    """Forget a document's vectors of every space."""
    place = _find(connection, project_id, document_id)
    if place is not None:
        vectors.remove(connection, place.document)


def copy_vectors(
    connection: sqlite3.Connection, project_id: str, document_id: str, *, to: str
) -> None:
    """Give a second document the vectors of a first."""
    one = _find(connection, project_id, document_id)
    other = _find(connection, project_id, to)
    if one is not None and other is not None:
        vectors.copy(connection, one.document, other)


def remove(connection: sqlite3.Connection, project_id: str, ids: Iterable[str]) -> Removed:
    """Take documents out, with their words and vectors; return how much went.

    The words of all go in one statement, for a change of any other table after it makes FTS5
    write what it holds back: one document after the other takes a hundred times as long.
    """
    found = [_find(connection, project_id, document_id) for document_id in ids]
    gone = [place.document for place in found if place is not None]
    held = sum(vectors.remove(connection, document) for document in gone)
    rowids = {"rowids": json.dumps(gone)}
    connection.execute(SQL["delete_words"], rowids)
    connection.execute(SQL["delete"], rowids)
    return Removed(documents=len(gone), vectors=held)


def drop_deleted_words(connection: sqlite3.Connection) -> None:
    """Merge the index of words, which keeps those of deleted documents until then."""
    connection.execute(SQL["merge_words"])


def link_neighbours(
    connection: sqlite3.Connection,
    project_id: str,
    session_id: str,
    first: int,
    last: int,
    *,
    source: Source = Source.STM,
    settled: int | None = None,
) -> None:
    """Index for each turn from `first` to `last` what was said around it, by the same user.

    Or for each block of an exchange, what was said in the exchanges around it.

    Of what was said after a turn, that counts which is `settled` (by default up to `last`), and
    all of it once the session has gone on for `REACH` turns: so the order in which turns and
    their neighbours come to the index makes no difference in the end.
    """
    where = {
        "project_id": project_id,
        "session_id": session_id,
        "source": source.value,
        "first": first,
        "last": last,
    }
    until = last if settled is None else settled
    for turn in connection.execute(SQL["turns_at"], where).fetchall():
        values = {"rowid": turn["rowid"], "neighbours": _around(connection, dict(turn), until)}
        (indexed,) = connection.execute(SQL["neighbours"], values).fetchone()
        if indexed != values["neighbours"]:
            connection.execute(SQL["update_neighbours"], values)


def reach_of(source: str) -> int:
    """Return how far the neighbours of what has a position reach."""
    return REACH_OF_BLOCKS if source == Source.BLOCK else REACH


def scope_token(project_id: str, source: str, *, past: bool, field: str, value: str | None) -> str:
    """Return the word that stands for an owner in the index: digits, which no stemmer touches.

    `source` is a `source_name`. A `user_id` of None stands for no user.
    """
    named = json.dumps([project_id, source, past, field, value])
    return str(int.from_bytes(blake2b(named.encode(), digest_size=8).digest()))


TOKEN_FIELDS = ("session_id", "user_id", "project_id")
"""Fields of a scope that have a word of their own, the narrowest first. All fields are compared
in the table as well."""

NOWHERE = "0"


def _around(connection: sqlite3.Connection, turn: Mapping[str, Any], settled: int = 0) -> str:
    """Return the words of the turns or exchanges around one; of other memories, nothing."""
    if turn["position"] is None:
        return ""
    reach = reach_of(turn["source"])
    rows = connection.execute(SQL["around"], {**turn, "reach": reach, "settled": settled})
    return "\n".join(row["body"] for row in rows)


def _complete_window(connection: sqlite3.Connection, document: Document) -> None:
    """Index all that surrounds the turn which, with this one, has its last neighbour.

    Those between wait for the next turn or for their snapshot: each turn is indexed twice, not
    once for every neighbour.
    """
    if document.source is Source.BLOCK:
        tell_neighbours(connection, document)
    elif document.position is not None and document.session_id is not None:
        position = document.position - REACH
        link_neighbours(connection, document.project_id, document.session_id, position, position)


def tell_neighbours(connection: sqlite3.Connection, document: Document) -> None:
    """Index anew what surrounds an exchange: its blocks come in any order, change, and go."""
    if document.source is Source.BLOCK and document.position and document.session_id:
        first, last = document.position - REACH_OF_BLOCKS, document.position + REACH_OF_BLOCKS
        link_neighbours(
            connection,
            document.project_id,
            document.session_id,
            first,
            last,
            source=document.source,
        )


def _find(
    connection: sqlite3.Connection, project_id: str, document_id: str
) -> "vectors.Place | None":
    row = connection.execute(
        vectors.SQL["place"], {"project_id": project_id, "id": document_id}
    ).fetchone()
    return None if row is None else place_of(row)


def place_of(row: Any) -> "vectors.Place":
    """Return where the vectors of a row of the table belong."""
    return vectors.Place(
        document=row["rowid"],
        project_id=row["project_id"],
        source=row["source"],
        user_id=row["user_id"],
        past=row["state"] != State.LIVE,
    )


def _values(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "project_id": document.project_id,
        "source": source_name(document.source, document.custom_type),
        "user_id": document.user_id,
        "agent_id": document.agent_id,
        "session_id": document.session_id,
        "visibility": document.visibility.value,
        "state": int(document.state),
        "position": document.position,
        "valid_from": maybe_micros(document.valid_from),
        "valid_to": maybe_micros(document.valid_to),
        "fields": json.dumps(document.fields, ensure_ascii=False, allow_nan=False),
        "viewpoint": document.fields.get("viewpoint"),
        "scope": " ".join(_tokens(document)),
        "body": words.index_text(document.text),
    }


def _tokens(document: Document) -> Iterable[str]:
    """Yield a word for each owner a search may name, for live searches and for those of the past.

    Where a document is not to be found, the word is one that no search names: BM25 prefers short
    documents, and all are equally long here. Turns have no past.
    """
    source = source_name(document.source, document.custom_type)
    for past in (False,) if document.source is Source.STM else (False, True):
        found = document.state in ((State.LIVE, State.PAST) if past else (State.LIVE,))
        for field in TOKEN_FIELDS:
            value = getattr(document, field)
            yield (
                scope_token(document.project_id, source, past=past, field=field, value=value)
                if found and (value is not None or field == "user_id")
                else NOWHERE
            )
