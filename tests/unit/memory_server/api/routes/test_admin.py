from datetime import timedelta
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.job import JobKind
from tests.unit.memory_server.api.routes.test_memories import BODIES

FLAT = "/api/v1/memory"
ADMIN = "/api/v1/admin"
SAID = ["I live in Bergen.", "I moved to Oslo. I live in Oslo now."]


async def say(client: httpx.AsyncClient, content: str, **changes: Any) -> None:
    turn = {"session_id": "s", "user_id": "ana", "role": "user", "content": content} | changes
    assert (await client.post(f"{FLAT}/turns", json=turn)).status_code == 201


async def learn(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str], content: str
) -> None:
    await say(client, content)
    await client.post(f"{ADMIN}/flush", json={}, headers=owner)
    await application.runner.run_until_idle()


async def test_a_flush_promotes_what_waits(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await say(client, SAID[0])

    first = await client.post(f"{ADMIN}/flush", json={"session_id": "s"}, headers=owner)
    second = await client.post(f"{ADMIN}/flush", json={"session_id": "s"}, headers=owner)

    assert first.json() == {"snapshots": 1, "jobs": 4, "warnings": []}
    assert second.json() == {"snapshots": 0, "jobs": 0, "warnings": []}


async def test_a_flush_of_a_user_says_what_it_could_not_reach(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await say(client, SAID[0], user_id="bob")
    await say(client, SAID[0])

    answer = await client.post(f"{ADMIN}/flush", json={"user_id": "ana"}, headers=owner)

    assert answer.json()["snapshots"] == 0
    assert answer.json()["warnings"][0].startswith("session 's'")


@pytest.mark.parametrize(
    ("body", "snapshots"),
    [
        ({"session_id": "s"}, 1),
        ({"user_id": "ana"}, 1),
        ({"user_id": "nobody"}, 0),
        ({"session_id": ""}, 2),
        (None, 2),
    ],
)
async def test_a_flush_is_of_a_session_of_a_user_or_of_all(
    client: httpx.AsyncClient, owner: dict[str, str], body: object, snapshots: int
) -> None:
    await say(client, SAID[0])
    await say(client, SAID[0], session_id="other", user_id="bob")

    answer = await client.post(f"{ADMIN}/flush", json=body, headers=owner)

    assert answer.json()["snapshots"] == snapshots


async def test_a_learned_memory_is_shown_with_the_turns_it_rests_on(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    await learn(client, application, owner, SAID[0])

    answer = await client.get(f"{ADMIN}/memories?user_id=ana&type=semantic", headers=owner)

    [memory] = answer.json()["memories"]
    assert memory.items() >= {"type": "semantic", "user_id": "ana", "version": 1}.items()
    assert {"id", "label", "content", "visibility", "valid_from", "valid_to"} <= set(memory)
    assert memory["history"] == []
    [evidence] = memory["evidence"]
    assert {"snapshot_id", "session_id", "extractor", "learned_at", "reason"} <= set(evidence)
    assert (evidence["action"], evidence["missing_turns"]) == ("ADD", 0)
    [turn] = evidence["turns"]
    assert (turn["turn_seq"], turn["role"], turn["content"]) == (1, "user", SAID[0])


async def test_memories_of_every_kind_are_shown_by_their_name(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    for kind, body in BODIES.items():
        await client.post(f"{FLAT}/{kind}", json=body | {"user_id": "ana"})

    shown = (await client.get(f"{ADMIN}/memories", headers=owner)).json()["memories"]

    named = {memory["type"]: memory for memory in shown}
    assert named["semantic"]["label"] == "seat"
    assert named["episodic"]["title"] == "Trip"
    assert (named["taxonomic"]["domain"], named["taxonomic"]["term"]) == ("travel", "PNR")
    assert named["procedural"]["procedure"] == "rebook"


async def test_former_versions_are_shown_when_they_are_asked_for(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    for content in SAID:
        await learn(client, application, owner, content)

    query = "user_id=ana&type=semantic&include_history=true"
    shown = (await client.get(f"{ADMIN}/memories?{query}", headers=owner)).json()["memories"]

    [changed] = [memory for memory in shown if memory["version"] > 1]
    former = changed["history"][0]
    assert set(former) == {"version", "content", "valid_from", "valid_to", "evidence"}
    assert "Bergen" in former["content"]
    assert former["valid_to"] is not None


async def test_the_history_of_a_memory_is_every_version_the_oldest_first(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    fact = {"label": "city", "text": "Bergen", "user_id": "ana", "upsert": True}
    await client.post(f"{FLAT}/semantic", json=fact)
    saved = await client.post(f"{FLAT}/semantic", json=fact | {"text": "Oslo"})

    path = f"{ADMIN}/memories/{saved.json()['id']}/history"
    versions = (await client.get(path, headers=owner)).json()["versions"]

    assert [version["text"] for version in versions] == ["Bergen", "Oslo"]
    assert [version["is_latest"] for version in versions] == [False, True]


async def test_the_history_of_a_memory_tells_why_each_version_came_to_be(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    for content in SAID:
        await learn(client, application, owner, content)
    shown = (await client.get(f"{ADMIN}/memories?type=semantic", headers=owner)).json()["memories"]
    [changed] = [memory for memory in shown if memory["version"] > 1]

    path = f"{ADMIN}/memories/{changed['id']}/history"
    versions = (await client.get(path, headers=owner)).json()["versions"]

    decisions = [version["decisions"][-1] for version in versions]
    assert [(one["action"], one["reason"]) for one in decisions] == [
        ("ADD", "nothing like it is known"),
        ("UPDATE", "newer word on the same matter"),
    ]


async def test_jobs_are_listed_with_their_counts(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await say(client, SAID[0])
    await client.post(f"{ADMIN}/flush", headers=owner)

    answer = (await client.get(f"{ADMIN}/jobs?state=queued&limit=2", headers=owner)).json()

    assert len(answer["jobs"]) == 2
    assert answer["counts"].items() >= {"queued": 4, "running": 0, "failed": 0, "done": 0}.items()
    job = answer["jobs"][0]
    assert job.items() >= {"kind": "extract", "state": "queued", "user_id": "ana"}.items()
    assert job["session_id"] == "s"
    assert {"id", "type", "attempts", "due_at", "error_code", "error", "result"} <= set(job)


async def test_an_unknown_state_of_jobs_is_refused(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    assert (await client.get(f"{ADMIN}/jobs?state=lost", headers=owner)).status_code == 422


async def test_a_failed_job_is_queued_again_on_command(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    await say(client, SAID[0])
    await client.post(f"{ADMIN}/flush", headers=owner)
    jobs = application.store.jobs
    now = application.clock.now()
    lease = now + timedelta(minutes=1)
    job = await jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=now, lease_until=lease)
    assert job is not None
    await jobs.fail(job, code="MODEL_REFUSED", reason="it declined", now=now)

    failed = (await client.get(f"{ADMIN}/jobs?state=failed", headers=owner)).json()["jobs"]
    retried = await client.post(f"{ADMIN}/jobs/{job.id}/retry", headers=owner)

    assert [(one["error_code"], one["error"]) for one in failed] == [
        ("MODEL_REFUSED", "it declined")
    ]
    assert retried.json()["state"] == "queued"


async def test_a_job_that_is_not_there_cannot_be_retried(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    answer = await client.post(f"{ADMIN}/jobs/nope/retry", headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (404, "JOB_NOT_FOUND")


async def test_an_erasure_removes_one_user_and_counts_what_went(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    for user in ("ana", "bob"):
        fact = {"label": "l", "text": "t", "user_id": user}
        await client.post(f"{FLAT}/semantic", json=fact)
        await say(client, SAID[0], user_id=user, session_id=user)

    answer = await client.delete(f"{ADMIN}/scope?user_id=ana", headers=owner)

    assert answer.json()["deleted"].items() >= {"memories": 1, "turns": 1}.items()
    left = (await client.get(f"{FLAT}/semantic")).json()["entries"]
    assert [entry["user_id"] for entry in left] == ["bob"]


@pytest.mark.parametrize("query", ["", "?user_id=", "?user_id=%20"])
async def test_an_erasure_of_nobody_is_refused(
    client: httpx.AsyncClient, owner: dict[str, str], query: str
) -> None:
    assert (await client.delete(f"{ADMIN}/scope{query}", headers=owner)).status_code == 400


@pytest.mark.parametrize("path", ["worker/queueStats", "queueStats"])
async def test_the_queue_is_told_in_whole_numbers(
    client: httpx.AsyncClient, owner: dict[str, str], path: str
) -> None:
    await say(client, SAID[0])
    await client.post(f"{ADMIN}/flush", headers=owner)

    assert (await client.get(f"{FLAT}/{path}")).json() == {"queued": 4, "running": 0, "failed": 0}


async def test_all_failed_jobs_are_queued_again_at_once(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    await say(client, SAID[0])
    await client.post(f"{ADMIN}/flush", headers=owner)
    jobs, now = application.store.jobs, application.clock.now()
    lease = now + timedelta(minutes=1)
    for _ in range(3):
        job = await jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=now, lease_until=lease)
        assert job is not None
        await jobs.fail(job, code="MODEL_REFUSED", reason="it declined", now=now)

    retried = await client.post(f"{ADMIN}/jobs/retry", headers=owner)
    again = await client.post(f"{ADMIN}/jobs/retry", headers=owner)

    assert (retried.json(), again.json()) == ({"retried": 3}, {"retried": 0})


async def test_an_erasure_takes_the_work_that_waits_for_the_user(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    for user in ("ana", "bob"):
        await say(client, SAID[0], user_id=user, session_id=user, idempotency_key=user)
    await client.post(f"{ADMIN}/flush", headers=owner)

    deleted = (await client.delete(f"{ADMIN}/scope?user_id=ana", headers=owner)).json()["deleted"]

    gone = {"turns": 1, "sessions": 1, "snapshots": 1, "jobs": 4, "idempotency_keys": 1}
    assert deleted.items() >= gone.items()
    assert {"vectors", "index_entries", "memories", "records"} <= set(deleted)
    left = (await client.get(f"{ADMIN}/jobs", headers=owner)).json()["jobs"]
    assert {job["user_id"] for job in left} == {"bob"}


async def test_a_whole_project_is_erased_only_in_so_many_words(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    for user in ("ana", "bob"):
        await client.post(f"{FLAT}/semantic", json={"label": "l", "text": "t", "user_id": user})

    both = await client.delete(f"{ADMIN}/scope?user_id=ana&everybody=true", headers=owner)
    every = await client.delete(f"{ADMIN}/scope?everybody=true", headers=owner)

    assert both.status_code == 400
    assert every.json()["deleted"]["memories"] == 2
    assert (await client.get(f"{FLAT}/semantic")).json()["entries"] == []


async def test_the_history_of_a_deleted_memory_is_still_shown(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    body = BODIES["procedural"] | {"user_id": "ana"}
    made = (await client.post(f"{FLAT}/procedural", json=body)).json()["id"]
    change = {"description": "another", "user_id": "ana"}
    await client.patch(f"{FLAT}/procedural/{made}", json=change)
    await client.delete(f"{FLAT}/procedural/{made}?user_id=ana")

    answer = await client.get(f"{ADMIN}/memories/{made}/history", headers=owner)

    assert [version["description"] for version in answer.json()["versions"]] == [
        body["description"],
        "another",
    ]


async def test_one_memory_is_shown_with_the_words_of_all_its_versions(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    at = {"timestamp": "2026-03-02T09:15:00+01:00", "speaker": "Ana"}
    for content in SAID:
        await say(client, content, metadata=at)
        await client.post(f"{ADMIN}/flush", json={}, headers=owner)
        await application.runner.run_until_idle()
    found = await client.get(f"{ADMIN}/memories?type=semantic", headers=owner)
    (listed,) = [one for one in found.json()["memories"] if one["version"] == 2]

    path = f"{ADMIN}/memories/{listed['id']}"
    shown = (await client.get(f"{path}?include_history=true", headers=owner)).json()
    without = (await client.get(path, headers=owner)).json()

    (evidence,) = shown["evidence"]
    (turn,) = evidence["turns"]
    assert (evidence["speakers"], evidence["missing_turns"]) == (["Ana"], 0)
    assert evidence["said_at"] == "2026-03-02T09:15:00+01:00"
    assert (turn["speaker"], turn["said_at"]) == ("Ana", "2026-03-02T09:15:00+01:00")
    assert turn["content"] == SAID[1]
    (former,) = shown["history"]
    assert [turn["content"] for turn in former["evidence"][0]["turns"]] == [SAID[0]]
    assert without["history"] == []


async def test_memory_of_turns_that_are_gone_says_so(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    await learn(client, application, owner, SAID[0])
    await application.store.snapshots.delete_promoted_turns(limit=100)

    found = await client.get(f"{ADMIN}/memories?type=semantic", headers=owner)

    (memory,) = found.json()["memories"]
    (evidence,) = memory["evidence"]
    assert (evidence["turns"], evidence["missing_turns"]) == ([], 1)
    assert (evidence["speakers"], bool(evidence["said_at"])) == (["user"], True)
    assert memory["content"]


async def test_each_project_is_administered_by_itself(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await client.post("/api/v1/projects", json={"name": "Other", "id": "other"}, headers=owner)
    other = "/api/v1/projects/other"
    fact = {"label": "l", "text": "t", "user_id": "ana"}
    await client.post(f"{FLAT}/semantic", json=fact)
    await client.post(f"{other}/memory/semantic", json=fact | {"text": "u"}, headers=owner)

    own = (await client.get(f"{ADMIN}/memories", headers=owner)).json()["memories"]
    others = (await client.get(f"{other}/admin/memories", headers=owner)).json()["memories"]
    erased = await client.delete(f"{other}/admin/scope?user_id=ana", headers=owner)

    assert ([one["content"] for one in own], [one["content"] for one in others]) == (["t"], ["u"])
    assert erased.json()["deleted"]["memories"] == 1
    assert len((await client.get(f"{FLAT}/semantic")).json()["entries"]) == 1


@pytest.mark.parametrize("path", ["/api/v1/memory", "/api/v1/projects/shop/memory", "/api/v1"])
async def test_the_queue_of_the_whole_server_is_told_under_every_prefix(
    client: httpx.AsyncClient, owner: dict[str, str], path: str
) -> None:
    await client.post("/api/v1/projects", json={"name": "Other", "id": "other"}, headers=owner)
    turn = {"session_id": "s", "user_id": "ana", "role": "user", "content": SAID[0]}
    for project in ("shop", "other"):
        root = f"/api/v1/projects/{project}"
        await client.post(f"{root}/memory/turns", json=turn, headers=owner)
        await client.post(f"{root}/admin/flush", headers=owner)

    told = await client.get(f"{path}/queueStats", headers=owner)

    assert told.json() == {"queued": 8, "running": 0, "failed": 0}
