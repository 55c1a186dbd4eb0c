"""Nothing comes out of a file that a store, a search or a worker stumbles over."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from memory_server.domain.archive import (
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Item,
    StoredVector,
)
from memory_server.domain.archive_checks import DEEPEST, LARGEST
from memory_server.domain.archive_lines import item_line, item_of
from memory_server.domain.job import JobKind
from memory_server.domain.proposal import edited
from memory_server.domain.snapshot import SessionState
from memory_server.domain.turn import Role, Turn
from memory_server.errors import InvalidArchive
from tests.clock import START
from tests.factories import PROJECT, a_block, a_job, a_memory, a_proposal, a_record, a_snapshot

VECTOR = StoredVector(space="model@3", data=np.array([1, 2, 3], "<f4").tobytes())
SNAPSHOT = a_snapshot(1, 2, id="s-1")
EXTRACT = {"snapshot_id": "s-1", "session_id": "s", "type": "semantic"}
TURN = Turn(
    id="t",
    project_id=PROJECT,
    session_id="s",
    turn_seq=1,
    role=Role.USER,
    content="said",
    created_at=START,
    metadata={"n": [1.5, {"$gt": "", "a.b": 2**80}]},
)
ITEMS: Mapping[str, Item] = {
    "memory": ArchivedMemory(memory=a_memory(id="m"), root_id="m", vectors=[VECTOR]),
    "record": ArchivedMemory(memory=a_memory(id="r", body=a_record(tags={"n": -1})), root_id="r"),
    "block": ArchivedMemory(memory=a_memory(id="b", body=a_block()), root_id="b"),
    "proposal": ArchivedProposal(
        proposal=edited(a_proposal(), {"text": "Ana lives in Faro"}, by="owner", now=START)
    ),
    "turn": ArchivedTurn(turn=TURN, vectors=[VECTOR]),
    "session": ArchivedSession(
        session=SessionState(
            project_id=PROJECT, session_id="s", last_seq=2, promoted_seq=1, last_activity=START
        )
    ),
    "snapshot": ArchivedSnapshot(snapshot=SNAPSHOT, jobs=[a_job(payload=EXTRACT)]),
    "job": ArchivedJob(job=a_job(kind=JobKind.EMBED, payload={"memory_id": "m", "type": "x"})),
    "reading": ArchivedJob(
        job=a_job(kind=JobKind.CONTEXT, payload={"memory_ids": ["b"], "type": "block"})
    ),
}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def data(*numbers: float) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


def read(document: Any) -> Item:
    return item_of(json.dumps(document).encode(), project_id=PROJECT, where="line 7")


@pytest.mark.parametrize("name", ITEMS)
def test_what_this_program_writes_is_read(name: str) -> None:
    assert read(json.loads(item_line(ITEMS[name]))) is not None


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("memory", ["memory", "version"], 0),
        ("memory", ["memory", "revision"], LARGEST + 1),
        ("memory", ["memory", "reinforcement_count"], -1),
        ("memory", ["root_id"], "another"),
        ("memory", ["memory", "user_id"], "\ud800"),
        ("memory", ["memory", "metadata", "\ud800"], 1),
        ("memory", ["memory", "metadata"], {"deep": nested(DEEPEST + 1)}),
        ("memory", ["memory", "metadata"], {"in": {"it": float("nan")}}),
        ("memory", ["vectors", 0, "data"], ""),
        ("memory", ["vectors", 0, "data"], data(1, float("nan"), 3)),
        ("memory", ["vectors", 0, "data"], data(1, float("inf"), 3)),
        ("memory", ["vectors"], [{"space": "a", "data": data(1)}] * 2),
        ("record", ["memory", "body", "tags", "n"], float("inf")),
        ("block", ["memory", "body", "viewpoint"], "nobody"),
        ("block", ["memory", "body", "position"], 0),
        ("block", ["memory", "body", "messages"], []),
        ("block", ["memory", "body", "messages", 0, "role"], "nobody"),
        ("block", ["memory", "body", "messages", 0], {"content": "x"}),
        ("block", ["memory", "body", "annotations", "time"], "\ud800"),
        ("proposal", ["proposal", "candidate", "type"], "block"),
        ("proposal", ["proposal", "original", "type"], "nothing"),
        ("proposal", ["proposal", "candidate", "confidence"], 1.5),
        ("proposal", ["proposal", "candidate", "confidence"], float("nan")),
        ("proposal", ["proposal", "state"], "approved"),
        ("proposal", ["proposal", "decided_at"], START.isoformat()),
        ("proposal", ["proposal", "revision"], 0),
        ("proposal", ["proposal", "reason"], "\ud800"),
        ("turn", ["turn", "turn_seq"], 0),
        ("turn", ["turn", "turn_seq"], 2**63),
        ("turn", ["turn", "content"], "\udc00"),
        ("session", ["session", "last_seq"], -1),
        ("session", ["session", "promoted_seq"], 3),
        ("snapshot", ["snapshot", "first_seq"], 0),
        ("snapshot", ["snapshot", "first_seq"], 3),
        ("snapshot", ["jobs", 0, "kind"], "reembed"),
        ("snapshot", ["jobs", 0, "state"], "done"),
        ("snapshot", ["jobs", 0, "user_id"], "bob"),
        ("snapshot", ["jobs", 0, "payload", "snapshot_id"], "another"),
        ("snapshot", ["jobs", 0, "payload", "type"], "custom"),
        ("snapshot", ["jobs", 0, "payload", "type"], {"$gt": ""}),
        ("snapshot", ["jobs", 0, "attempts"], 2**70),
        ("job", ["job", "kind"], "reembed"),
        ("job", ["job", "payload", "memory_id"], ["m"]),
        ("reading", ["job", "payload", "memory_ids"], "b"),
        ("reading", ["job", "payload", "memory_ids"], [1]),
        ("reading", ["job", "payload"], {}),
    ],
)
def test_what_could_do_harm_is_refused_with_its_place(
    name: str, place: Sequence[str | int], value: Any
) -> None:
    document = json.loads(item_line(ITEMS[name]))
    around = document
    for step in place[:-1]:
        around = around[step]
    around[place[-1]] = value

    with pytest.raises(InvalidArchive, match=r"^line 7: "):
        read(document)


def test_a_refusal_repeats_little_of_the_file() -> None:
    document = json.loads(item_line(ITEMS["turn"])) | {"x" * 100_000: 1}

    with pytest.raises(InvalidArchive) as refused:
        read(document)

    assert len(str(refused.value)) < 1000
