import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.archive import VERSION
from memory_server.domain.scope import Scope
from memory_server.ports.memories import MemoryQuery
from memory_server.services.embedding import LateEmbedding
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import PROJECT
from tests.unit.memory_server.api.callers import a_person, a_project, an_account
from tests.unit.memory_server.api.routes.test_memories import BODIES

FLAT = "/api/v1/memory"
ADMIN = "/api/v1/admin"
BANK = "/api/v1/projects/bank/admin"
EXPORT = f"{ADMIN}/export"
IMPORT = f"{ADMIN}/import"


async def remember(client: httpx.AsyncClient, user_id: str = "ana") -> None:
    """Let a user say and keep something of every kind."""
    for number in range(3):
        turn = {
            "session_id": f"of {user_id}",
            "user_id": user_id,
            "role": "user",
            "content": f"I moved to Oslo, said {number}",
        }
        assert (await client.post(f"{FLAT}/turns", json=turn)).status_code == 201
    for kind, body in BODIES.items():
        saved = await client.post(f"{FLAT}/{kind}", json={"user_id": user_id, **body})
        assert saved.status_code == 201, saved.text


async def exported(
    client: httpx.AsyncClient, owner: dict[str, str], path: str = EXPORT, **query: Any
) -> list[bytes]:
    answer = await client.get(path, params=query, headers=owner)
    assert answer.status_code == 200, answer.text
    return answer.content.splitlines(keepends=True)


async def taken_in(
    client: httpx.AsyncClient,
    owner: dict[str, str],
    lines: list[bytes],
    path: str = IMPORT,
    **query: Any,
) -> httpx.Response:
    portion = b"".join([lines[0], *lines[1:-1]])
    return await client.post(path, params=query, content=portion, headers=owner)


async def test_an_export_says_what_it_is_and_counts_what_it_holds(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)

    head, *items, end = map(json.loads, await exported(client, owner))

    assert (head["format"], head["version"]) == ("agentengine-memory-archive", VERSION)
    assert head["project_id"] == PROJECT
    assert "spaces" in head
    counts = {kind: count for kind, count in end["counts"].items() if count}
    assert counts == {"memory": 4, "session": 1, "turn": 3}
    assert len(items) == sum(counts.values())


async def test_the_same_project_takes_in_nothing_new(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)
    lines = await exported(client, owner, with_vectors=True)

    answer = (await taken_in(client, owner, lines)).json()

    assert answer == {
        "new": {},
        "known": {"memory": 4, "session": 1, "turn": 3},
        "conflict": {},
        "erased": {},
        "conflicts": [],
    }


async def test_another_project_finds_the_same_by_words_and_by_meaning(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)
    await client.post("/api/v1/projects", json={"id": "bank", "name": "Bank"}, headers=owner)
    lines = await exported(client, owner, with_vectors=True)

    answer = await taken_in(client, owner, lines, f"{BANK}/import")

    assert answer.json()["new"] == {"memory": 4, "session": 1, "turn": 3}
    for mode in ("text", "semantic", "hybrid"):
        asked = {"query": "Where did Ana move?", "type": "semantic", "user_id": "ana", "mode": mode}
        here, there = [
            (await client.post(f"{prefix}/search", json=asked, headers=owner)).json()
            for prefix in (FLAT, "/api/v1/projects/bank/memory")
        ]
        assert here["memories"], mode
        assert [one["id"] for one in there["memories"]] == [one["id"] for one in here["memories"]]


async def test_memories_without_vectors_get_them_anew(
    client: httpx.AsyncClient, owner: dict[str, str], application: Application
) -> None:
    await remember(client)
    lines = await exported(client, owner, with_vectors=True)
    await client.delete(f"{ADMIN}/scope", params={"everybody": True}, headers=owner)

    await taken_in(client, owner, lines, with_vectors=False, restore_erased=True)

    scope, wanting = Scope(project_id=PROJECT), MemoryQuery(without_embedding=True)
    assert len(await application.store.memories.find(scope, wanting)) == 4
    late = LateEmbedding(
        store=application.store,
        embedder=application.providers.embedder,
        clock=application.clock,
        ids=application.ids,
    )
    assert await late.sweep(PROJECT) == 4
    await application.runner.run_until_idle()
    assert await application.store.memories.find(scope, wanting) == []


async def test_a_vector_of_another_length_is_refused_and_searches_go_on(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)
    lines = await exported(client, owner, with_vectors=True)
    await client.delete(f"{ADMIN}/scope", params={"everybody": True}, headers=owner)
    whole = json.loads(lines[1])
    whole["vectors"][0]["data"] = "AACAPw=="
    bent = [lines[0], json.dumps(whole).encode() + b"\n", *lines[2:]]

    refused = await taken_in(client, owner, bent, restore_erased=True)

    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_ARCHIVE")
    assert "line 2: vectors" in refused.json()["error"]


async def test_vectors_of_another_space_are_refused_unless_left_out(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)
    lines = [
        line.replace(b'"space":"', b'"space":"other ')
        for line in await exported(client, owner, with_vectors=True)
    ]

    refused = await taken_in(client, owner, lines)
    taken = await taken_in(client, owner, lines, with_vectors=False)

    assert (refused.status_code, refused.json()["code"]) == (409, "VECTORS_OF_ANOTHER_SPACE")
    assert "other " in refused.json()["error"]
    assert taken.status_code == 200


@pytest.mark.parametrize(
    ("lines", "code", "told"),
    [
        ([b"{}\n", b"{}\n"], "INVALID_ARCHIVE", "line 1: it does not begin an archive"),
        ([b"not JSON\n"], "INVALID_ARCHIVE", "line 1: it is not JSON"),
        (
            [b'{"format":"agentengine-memory-archive","version":%d}\n' % (VERSION + 1), b"{}\n"],
            "ARCHIVE_TOO_NEW",
            f"is of version {VERSION + 1} of the format",
        ),
    ],
)
async def test_what_is_no_archive_of_ours_is_refused(
    client: httpx.AsyncClient, owner: dict[str, str], lines: list[bytes], code: str, told: str
) -> None:
    answer = await client.post(IMPORT, content=b"".join(lines), headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert told in answer.json()["error"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ((b'"role":"user"', b'"role":"king"'), "role: 'king' is none of"),
        ((b'"turn_seq":1', b'"turn_seq":"1"'), "turn_seq has to be of the type int"),
        ((b'"kind":"turn"', b'"kind":"tune"'), "'tune' is no kind of item"),
        ((b'"content":', b'"contents":'), "content is missing"),
        ((b'"kind":"turn",', b'"kind":"turn","colour":1,'), "'colour' is no member of it"),
    ],
)
async def test_a_line_that_is_wrong_is_named_and_nothing_is_stored(
    client: httpx.AsyncClient,
    owner: dict[str, str],
    application: Application,
    change: tuple[bytes, bytes],
    told: str,
) -> None:
    await remember(client)
    lines = await exported(client, owner)
    await client.post("/api/v1/projects", json={"id": "bank", "name": "Bank"}, headers=owner)
    place = next(number for number, line in enumerate(lines) if b'"kind":"turn"' in line)
    lines[place] = lines[place].replace(*change)

    answer = await taken_in(client, owner, lines, f"{BANK}/import", first_line=102)

    assert answer.status_code == 400
    assert f"line {place + 101}: " in answer.json()["error"]
    assert told in answer.json()["error"]
    assert await application.store.memories.find(Scope(project_id="bank"), MemoryQuery()) == []


async def test_after_an_erasure_an_export_holds_nothing_of_the_user(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)
    await remember(client, "bob")

    erased = await client.delete(f"{ADMIN}/scope", params={"user_id": "ana"}, headers=owner)

    assert erased.json()["traces"] == "none"
    lines = b"".join(await exported(client, owner, with_vectors=True))
    assert b"bob" in lines
    assert b"ana" not in lines


async def test_an_erased_user_comes_back_only_when_that_is_said(
    client: httpx.AsyncClient, owner: dict[str, str], clock: ManualClock
) -> None:
    await remember(client)
    lines = await exported(client, owner)
    clock.advance(by=timedelta(minutes=1))
    await client.delete(f"{ADMIN}/scope", params={"user_id": "ana"}, headers=owner)

    silently = (await taken_in(client, owner, lines)).json()
    wished = (await taken_in(client, owner, lines, restore_erased=True)).json()

    assert (silently["new"], silently["erased"]) == ({}, {"memory": 4, "session": 1, "turn": 3})
    assert wished["new"] == silently["erased"]


async def test_an_export_of_one_type_holds_no_other(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await remember(client)

    lines = await exported(client, owner, types="semantic,turns")

    items = [json.loads(line) for line in lines[1:-1]]
    assert [one["memory"]["type"] for one in items if one["kind"] == "memory"] == ["semantic"]
    assert [one["kind"] for one in items[1:]] == ["session", "turn", "turn", "turn"]


async def test_an_unknown_type_is_named(client: httpx.AsyncClient, owner: dict[str, str]) -> None:
    answer = await client.get(EXPORT, params={"types": "semantics"}, headers=owner)

    assert answer.status_code == 400
    assert "'semantics' is none of turns, semantic" in answer.json()["error"]


@pytest.mark.parametrize(("method", "path"), [("GET", EXPORT), ("POST", IMPORT)])
async def test_whoever_does_not_own_the_project_is_refused(
    client: httpx.AsyncClient, method: str, path: str
) -> None:
    assert (await client.request(method, path)).status_code == 401
    for caller in (
        await an_account(client),
        await an_account(client, "ORG_GROUP_CREATOR"),
        await a_person(client),
        await a_person(client, "bo", role="PROJECT_OWNER", project=await a_project(client)),
    ):
        assert (await client.request(method, path, headers=caller)).status_code == 403


async def test_only_whoever_runs_the_server_copies_its_store(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{ADMIN}/backup")).status_code == 401
    of_project = await a_person(client, role="PROJECT_OWNER")

    assert (await client.get(f"{ADMIN}/backup", headers=of_project)).status_code == 403
    assert (await client.get(f"{BANK}/backup", headers=of_project)).status_code == 404


async def test_a_store_that_is_no_file_is_not_copied(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    answer = await client.get(f"{ADMIN}/backup", headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (409, "NO_BACKUP")
