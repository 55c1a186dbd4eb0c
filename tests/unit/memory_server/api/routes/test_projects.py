from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.job import JobState
from memory_server.ports.memories import Add
from memory_server.services.embedding import LateEmbedding
from memory_server.worker.duties import duties_of_workers
from memory_server.worker.schedule import Duty
from tests.clock import ManualClock
from tests.factories import a_memory
from tests.unit.memory_server.api.callers import OWNER, a_person, a_project, an_account

PROJECTS = "/api/v1/projects"
FACT = {"label": "home", "text": "Ana lives in Lisbon", "user_id": "ana"}
CORE = ["search", "turns", "context", "retrieval/context-from-sources", "semantic", "episodic"]


async def make(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post(PROJECTS, json=body, headers=OWNER)


async def test_a_new_project_is_told_whole(client: httpx.AsyncClient, clock: ManualClock) -> None:
    answer = await make(client, name="The Bank", description="keeps money", id="bank")

    assert answer.status_code == 201
    assert answer.json() == {
        "id": "bank",
        "name": "The Bank",
        "org_id": "acme",
        "description": "keeps money",
        "enforce_identity": False,
        "allow_delegation": False,
        "created_at": clock.now().isoformat(),
        "updated_at": clock.now().isoformat(),
    }


async def test_the_deployments_own_project_is_there_from_the_start(
    client: httpx.AsyncClient,
) -> None:
    await make(client, name="bank", id="bank")

    listed = (await client.get(PROJECTS, headers=OWNER)).json()

    assert ([one["id"] for one in listed["projects"]], listed["total"]) == (["shop", "bank"], 2)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"name": " "}, 422),
        ({"name": "x", "id": "a/b"}, 400),
        ({"name": "x", "id": "shop"}, 409),
        ({"name": "shop"}, 409),
    ],
)
async def test_a_project_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, body: dict[str, str], status: int
) -> None:
    assert (await make(client, **body)).status_code == status


async def test_each_project_has_memory_of_its_own(client: httpx.AsyncClient) -> None:
    bank = await a_project(client)
    path = f"{PROJECTS}/{bank}/memory/semantic"
    await client.post(path, json=FACT, headers=OWNER)

    here = (await client.get(path, headers=OWNER)).json()["entries"]
    flat = (await client.get("/api/v1/memory/semantic")).json()["entries"]

    assert ([entry["project_id"] for entry in here], flat) == ([bank], [])


async def test_flat_routes_mean_the_deployments_own_project(client: httpx.AsyncClient) -> None:
    await client.post("/api/v1/memory/semantic", json=FACT)

    entries = (await client.get(f"{PROJECTS}/shop/memory/semantic", headers=OWNER)).json()

    assert [entry["label"] for entry in entries["entries"]] == ["home"]


async def test_a_token_of_another_projects_account_does_not_open_the_flat_routes(
    client: httpx.AsyncClient,
) -> None:
    headers = await an_account(client, "PROJECT_OWNER", await a_project(client))

    answer = await client.get("/api/v1/memory/semantic", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    assert "'bank'" in answer.json()["error"]


@pytest.mark.parametrize("path", CORE)
async def test_a_project_that_does_not_exist_takes_nothing_and_is_never_called_missing(
    client: httpx.AsyncClient, path: str
) -> None:
    answer = await client.post(f"{PROJECTS}/other/memory/{path}", json=FACT, headers=OWNER)

    assert (answer.status_code, answer.json()["code"]) == (403, "PROJECT_NOT_FOUND")
    assert "'other'" in answer.json()["error"]


async def test_a_change_holds_on_the_next_request(client: httpx.AsyncClient) -> None:
    changes = {"enforce_identity": True, "name": "Our shop", "description": "sells"}

    changed = await client.patch(f"{PROJECTS}/shop", json=changes, headers=OWNER)
    read = await client.get(f"{PROJECTS}/shop", headers=OWNER)

    assert changed.json() == read.json()
    assert read.json().items() >= changes.items()
    assert (await client.get("/api/v1/memory/semantic")).status_code == 401


async def test_a_change_leaves_alone_what_it_does_not_name(client: httpx.AsyncClient) -> None:
    await client.patch(f"{PROJECTS}/shop", json={"allow_delegation": True}, headers=OWNER)
    body = {"description": "new", "name": None, "allow_delegation": None}

    changed = (await client.patch(f"{PROJECTS}/shop", json=body, headers=OWNER)).json()

    assert (changed["name"], changed["allow_delegation"]) == ("shop", True)


async def test_a_project_goes_when_it_is_empty(client: httpx.AsyncClient) -> None:
    path = f"{PROJECTS}/{await a_project(client)}"
    await client.post(f"{path}/memory/semantic", json=FACT, headers=OWNER)

    held = await client.delete(path, headers=OWNER)
    await client.delete(f"{path}/admin/scope?user_id=ana", headers=OWNER)
    gone = await client.delete(path, headers=OWNER)

    assert (held.status_code, held.json()["code"]) == (409, "PROJECT_NOT_EMPTY")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(path, headers=OWNER)).json()["code"] == "PROJECT_NOT_FOUND"


async def test_the_deployments_own_project_stays(client: httpx.AsyncClient) -> None:
    answer = await client.delete(f"{PROJECTS}/shop", headers=OWNER)

    assert (answer.status_code, answer.json()["code"]) == (409, "PROJECT_HAS_ACTIVE_WORKSPACES")


async def test_those_of_a_removed_project_are_not_let_into_the_next_of_its_id(
    client: httpx.AsyncClient,
) -> None:
    await a_project(client)
    callers = [await an_account(client, project="bank"), await a_person(client, project="bank")]
    await client.delete(f"{PROJECTS}/bank", headers=OWNER)
    await a_project(client)

    for headers in callers:
        answer = await client.get(f"{PROJECTS}/bank/memory/semantic", headers=headers)
        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        ("ORG_READ_ONLY", ["shop", "bank"]),
        ("ORG_GROUP_CREATOR", ["shop", "bank"]),
        ("PROJECT_OWNER", ["shop"]),
        ("PROJECT_READ_ONLY", ["shop"]),
    ],
)
async def test_callers_see_their_own_project_and_the_organizations_all(
    client: httpx.AsyncClient, role: str, seen: list[str]
) -> None:
    await a_project(client)
    headers = await an_account(client, role)

    listed = (await client.get(PROJECTS, headers=headers)).json()["projects"]
    bank = await client.get(f"{PROJECTS}/bank", headers=headers)

    assert [one["id"] for one in listed] == seen
    assert (bank.status_code == 200) is ("bank" in seen)


async def test_who_may_make_projects_may_not_open_them(client: httpx.AsyncClient) -> None:
    headers = await an_account(client, "ORG_GROUP_CREATOR")

    made = await client.post(PROJECTS, json={"name": "x", "id": "x"}, headers=headers)
    opened = await client.get(f"{PROJECTS}/x/memory/semantic", headers=headers)
    changed = await client.patch(f"{PROJECTS}/x", json={"name": "y"}, headers=headers)
    removed = await client.delete(f"{PROJECTS}/x", headers=headers)

    assert made.status_code == 201
    assert {one.status_code for one in (opened, changed, removed)} == {403}


async def test_queue_counters_are_of_all_projects(
    client: httpx.AsyncClient, application: Application
) -> None:
    bank = await a_project(client)
    turn = {"session_id": "s", "role": "user", "content": "I live in Oslo.", "user_id": "ana"}
    await client.post(f"{PROJECTS}/{bank}/memory/turns", json=turn, headers=OWNER)
    await client.post(f"{PROJECTS}/{bank}/admin/flush", json={}, headers=OWNER)

    flat = (await client.get("/api/v1/memory/queueStats")).json()
    metrics = (await client.get("/metrics")).text

    jobs = len(application.settings.memory.enabled)
    assert flat["queued"] == jobs
    assert f'memory_server_jobs{{state="queued"}} {jobs}.0' in metrics


def late_embedding(application: Application, clock: ManualClock) -> Duty:
    late = LateEmbedding(
        store=application.store,
        embedder=application.providers.embedder,
        clock=clock,
        ids=application.ids,
    )
    every = duties_of_workers(
        store=application.store,
        projects=application.projects,
        promotion=application.promotion,
        late=late,
        reembedding=application.reembedding,
        runner=application.runner,
        spending=application.spending,
        clock=clock,
        snapshot=application.settings.memory.snapshot,
    )
    return next(duty for duty in every if duty.name == "late embedding")


async def test_what_has_no_vector_gets_one_in_every_project(
    client: httpx.AsyncClient, application: Application, clock: ManualClock
) -> None:
    bank = await a_project(client)
    for project in ("shop", bank):
        memory = a_memory(project_id=project, has_embedding=False)
        await application.store.memories.apply(project, [Add(memory=memory)])

    await late_embedding(application, clock).act()
    await application.runner.run_until_idle()

    for project in ("shop", bank):
        jobs = await application.store.jobs.list(project, state=JobState.DONE)
        assert [job.result["outcome"] for job in jobs] == ["embedded"]
