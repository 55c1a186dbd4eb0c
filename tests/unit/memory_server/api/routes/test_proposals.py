"""Review over HTTP: what waits is listed, shown, approved, put in other words, and rejected."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.api.families import FAMILIES, FLAT
from memory_server.application import Application
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import PROJECT, an_application
from tests.unit.memory_server.api.callers import OWNER, a_person, an_account

ADMIN = "/api/v1/admin"
PROPOSALS = f"{FLAT}/proposals"
SAID = "I live in Bergen. I am allergic to peanuts. I work as a carpenter."


@pytest.fixture
async def application(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    """A server on which what is extracted waits for a decision."""
    joined = an_application(
        tmp_path, clock, extraction={"enabled": ["semantic"], "approval": "manual"}
    )
    await joined.store.open()
    yield joined
    await joined.close()


@pytest.fixture
def anas(client: httpx.AsyncClient, application: Application) -> "Extracted":
    return Extracted(client, application)


class Extracted:
    """What is said and extracted, and then waits."""

    def __init__(self, client: httpx.AsyncClient, application: Application) -> None:
        self.client, self.application = client, application

    async def hear(self, content: str = SAID, user_id: str = "ana") -> list[dict[str, Any]]:
        """Return what waits of a user once this was said, the oldest first."""
        turn = {
            "session_id": user_id,
            "user_id": user_id,
            "role": "user",
            "content": content,
            "metadata": {"speaker": "Ana", "timestamp": "2026-03-01T10:00:00+01:00"},
        }
        assert (await self.client.post(f"{FLAT}/turns", json=turn)).status_code == 201
        await self.client.post(f"{ADMIN}/flush", json={}, headers=OWNER)
        await self.application.runner.run_until_idle()
        return await self.shown(user_id=user_id, state="pending")

    async def shown(self, **asked: Any) -> list[dict[str, Any]]:
        answer = await self.client.get(PROPOSALS, params=asked, headers=OWNER)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["proposals"]
        return found

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.client.post(f"{PROPOSALS}/{path}", json=body, headers=OWNER)

    async def remembered(self) -> set[str]:
        """Return what is remembered of Ana, by every way of reading."""
        shown = (
            await self.client.get(f"{ADMIN}/memories", params={"user_id": "ana"}, headers=OWNER)
        ).json()["memories"]
        asked = {"query": "bergen peanuts carpenter", "type": "semantic", "user_id": "ana"}
        found = (await self.client.post(f"{FLAT}/search", json=asked)).json()["memories"]
        texts = {one["content"] for one in shown}
        assert {one["content"] for one in found} <= texts
        return texts


async def test_what_waits_is_listed_with_the_words_it_rests_on(anas: Extracted) -> None:
    first, *_ = listed = await anas.hear()

    assert len(listed) == 3
    assert (first["state"], first["revision"], first["type"]) == ("pending", 1, "semantic")
    assert (first["user_id"], first["decision"], first["edited"]) == ("ana", None, None)
    assert first["content"] == first["words"]["text"]
    (turn,) = first["turns"]
    assert (turn["content"], turn["speaker"]) == (SAID, "Ana")
    assert turn["said_at"] == "2026-03-01T10:00:00+01:00"
    assert await anas.remembered() == set()


async def test_a_list_is_read_a_page_at_a_time(anas: Extracted) -> None:
    every = [one["id"] for one in await anas.hear()]

    pages, after = [], None
    while True:
        asked = {"limit": 1} | ({"after": after} if after else {})
        page = (await anas.client.get(PROPOSALS, params=asked, headers=OWNER)).json()
        pages += [one["id"] for one in page["proposals"]]
        after = page["next"]
        if after is None:
            break

    assert pages == every


async def test_a_list_keeps_to_state_user_and_type(anas: Extracted) -> None:
    first, *_ = await anas.hear()
    await anas.hear(user_id="bob")
    await anas.post(f"{first['id']}/reject", reason="no")

    assert [one["id"] for one in await anas.shown(state="rejected")] == [first["id"]]
    assert {one["user_id"] for one in await anas.shown(user_id="bob")} == {"bob"}
    assert await anas.shown(type="episodic") == []
    for asked, status in (({"type": "block"}, 400), ({"state": "x"}, 422), ({"after": "x"}, 404)):
        answer = await anas.client.get(PROPOSALS, params=asked, headers=OWNER)
        assert answer.status_code == status, answer.text


async def test_exactly_what_is_approved_is_remembered_in_its_last_words(anas: Extracted) -> None:
    home, allergy, job = await anas.hear()

    shown = await anas.client.get(f"{PROPOSALS}/{home['id']}", headers=OWNER)
    assert [one["action"] for one in shown.json()["foreseen"]] == ["ADD"]
    assert shown.json()["foreseen"][0]["memory_id"] is None
    approved = (await anas.post(f"{home['id']}/approve")).json()
    words = {"text": "The user is allergic to hazelnuts."}
    edited = await anas.client.patch(f"{PROPOSALS}/{allergy['id']}", json=words, headers=OWNER)
    await anas.post(f"{allergy['id']}/approve", reason="she said so later")
    rejected = (await anas.post(f"{job['id']}/reject", reason="a joke")).json()

    assert await anas.remembered() == {home["content"], words["text"]}
    assert approved["decision"]["by"] == "owner"
    (outcome,) = approved["decision"]["outcomes"]
    assert outcome["action"] == "ADD"
    assert edited.json()["edited"]["original"] == allergy["words"]
    assert (rejected["state"], rejected["decision"]["reason"]) == ("rejected", "a joke")
    path = f"{ADMIN}/memories/{outcome['memory_id']}/history"
    (version,) = (await anas.client.get(path, headers=OWNER)).json()["versions"]
    assert version["decisions"][0]["reason"].endswith("approved by owner")


async def test_what_was_decided_stays_decided(anas: Extracted) -> None:
    home, job, *_ = await anas.hear()
    first = await anas.post(f"{home['id']}/approve")
    await anas.post(f"{job['id']}/reject")

    assert (await anas.post(f"{home['id']}/approve")).json() == first.json()
    for path in (f"{home['id']}/reject", f"{job['id']}/approve"):
        answer = await anas.post(path)
        assert (answer.status_code, answer.json()["code"]) == (409, "PROPOSAL_DECIDED")
    late = await anas.client.patch(f"{PROPOSALS}/{job['id']}", json={"text": "x"}, headers=OWNER)
    assert late.status_code == 409
    assert (await anas.post("gone/approve")).json()["code"] == "PROPOSAL_NOT_FOUND"


async def test_a_second_verdict_tells_that_its_reason_is_not_kept(anas: Extracted) -> None:
    home, job, *_ = await anas.hear()
    first = (await anas.post(f"{home['id']}/approve", reason="she said so")).json()
    assert (first["decision"]["reason"], first["warnings"]) == ("she said so", [])

    again = (await anas.post(f"{home['id']}/approve", reason="I know it")).json()
    same = (await anas.post(f"{home['id']}/approve", reason="she said so")).json()
    several = (await anas.post("approve", ids=[home["id"], job["id"]], reason="all")).json()

    [warning] = again["warnings"]
    assert "it was approved before, by owner" in warning
    assert "with the reason 'she said so': that stands" in warning
    assert again["decision"] == first["decision"]
    assert same == first
    assert [len(one["warnings"]) for one in several["proposals"]] == [1, 0]


async def test_a_reason_may_be_left_out(anas: Extracted) -> None:
    home, *_ = await anas.hear()

    rejected = (await anas.post(f"{home['id']}/reject")).json()

    assert (rejected["state"], rejected["decision"]["reason"]) == ("rejected", "")
    [warning] = (await anas.post(f"{home['id']}/reject", reason="late")).json()["warnings"]
    assert "with no reason" in warning


async def test_an_unknown_key_of_an_edit_is_named(anas: Extracted) -> None:
    home, *_ = await anas.hear()
    path = f"{PROPOSALS}/{home['id']}"

    for body in ({"txt": "x"}, {"text": "The user lives in Moss", "txt": 3}):
        answer = await anas.client.patch(path, json=body, headers=OWNER)
        assert answer.status_code == 400
        assert answer.json()["error"] == "txt: of a semantic proposal only text can be changed"
    tenancy = {"text": "The user lives in Moss", "org_id": "", "project_id": "x"}
    assert (await anas.client.patch(path, json=tenancy, headers=OWNER)).status_code == 200


async def test_nothing_is_decided_on_a_revision_that_is_not_the_last(anas: Extracted) -> None:
    home, *_ = await anas.hear()
    edit = {"text": "The user lives in Moss", "revision": 1}
    path = f"{PROPOSALS}/{home['id']}"
    assert (await anas.client.patch(path, json=edit, headers=OWNER)).status_code == 200

    answers = [
        await anas.client.patch(path, json=edit | {"text": "x"}, headers=OWNER),
        await anas.post(f"{home['id']}/approve", revision=1),
        await anas.post(f"{home['id']}/reject", revision=1),
    ]

    assert {one.json()["code"] for one in answers} == {"PROPOSAL_CHANGED"}
    assert (await anas.post(f"{home['id']}/approve", revision=2)).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"text": " "}, 400), ({"title": "x"}, 400), ({"text": "x" * 300_000}, 413)],
)
async def test_an_edit_that_says_nothing_is_refused(
    anas: Extracted, body: dict[str, Any], status: int
) -> None:
    home, *_ = await anas.hear()

    answer = await anas.client.patch(f"{PROPOSALS}/{home['id']}", json=body, headers=OWNER)

    assert answer.status_code == status
    assert (await anas.shown())[0]["words"] == home["words"]


async def test_several_are_decided_at_once_and_each_is_answered_for(anas: Extracted) -> None:
    home, allergy, job = [one["id"] for one in await anas.hear()]

    no = (await anas.post("reject", ids=[job], reason="no")).json()
    yes = (await anas.post("approve", ids=[home, job, "gone", allergy])).json()

    assert [one["id"] for one in no["proposals"]] == [job]
    assert [one["id"] for one in yes["proposals"]] == [home, allergy]
    assert {one["id"]: one["code"] for one in yes["failed"]} == {
        job: "PROPOSAL_DECIDED",
        "gone": "PROPOSAL_NOT_FOUND",
    }
    for ids in ([], ["x"] * 101):
        assert (await anas.post("approve", ids=ids)).status_code == 422


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_routes_stand_in_every_family(anas: Extracted, family: str) -> None:
    await anas.hear()
    path = family.format(project_id=PROJECT) + "/proposals"

    assert len((await anas.client.get(path, headers=OWNER)).json()["proposals"]) == 3
    assert (await anas.client.get(path)).status_code == 401


async def test_a_person_reviews_their_own_and_an_agents_account_nothing(anas: Extracted) -> None:
    home, *_ = await anas.hear()
    (bobs, *_) = await anas.hear(user_id="bob")
    person, account = await a_person(anas.client, "ana"), await an_account(anas.client)
    client = anas.client

    mine = (await client.get(PROPOSALS, headers=person)).json()["proposals"]
    assert {one["user_id"] for one in mine} == {"ana"}
    named = await client.get(PROPOSALS, params={"user_id": "bob"}, headers=person)
    assert named.json()["code"] == "IDENTITY_REFUSED"
    others = await client.post(f"{PROPOSALS}/{bobs['id']}/approve", headers=person)
    assert others.json()["code"] == "PROPOSAL_NOT_FOUND"
    approved = await client.post(f"{PROPOSALS}/{home['id']}/approve", headers=person)
    assert approved.json()["decision"]["by"] == "person ana"
    assert (await client.get(PROPOSALS, headers=account)).status_code == 403


async def test_readiness_and_metrics_tell_how_much_waits(anas: Extracted) -> None:
    home, *_ = await anas.hear()
    await anas.post(f"{home['id']}/approve")

    review = (await anas.client.get("/ready")).json()["review"]
    metrics = (await anas.client.get("/metrics")).text

    assert review == {"approval": "manual", "pending": 2}
    assert 'memory_server_proposals{state="pending"} 2.0' in metrics
    assert 'memory_server_proposals_approved{outcome="ADD"} 1.0' in metrics


async def test_erasing_a_user_takes_what_waits_along(anas: Extracted) -> None:
    await anas.hear()

    answer = await anas.client.delete(f"{ADMIN}/scope", params={"user_id": "ana"}, headers=OWNER)

    assert answer.json()["deleted"]["proposals"] == 3
    assert await anas.shown() == []
