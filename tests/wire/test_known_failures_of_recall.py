"""Where other memory servers recall too much, too little or too late, asked of this one."""

import re
import string
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.api.families import FLAT
from tests.wire.asking import ADMIN, MODES, contents, save, search
from tests.wire.conftest import MakeHome
from tests.wire.test_process import running

# Time -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def elsewhere(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, a_home: MakeHome
) -> Iterator[httpx.Client]:
    """A server whose machine keeps the time of another place."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", request.param)
        directory: Path = tmp_path_factory.mktemp("elsewhere")
        with a_home() as home, running(directory, **home.environ) as (_, client):
            token = (directory / "data" / "owner-token").read_text().strip()
            client.headers["Authorization"] = f"Bearer {token}"
            yield client


def moments(value: Any) -> Iterator[str]:
    """Yield every text of a document that is a moment."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for part in value:
            yield from moments(part)
    elif isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        yield value


def test_moments_are_told_in_utc_wherever_the_server_stands(elsewhere: httpx.Client) -> None:
    saved = elsewhere.post(f"{FLAT}/semantic", json={"label": "l", "text": "a", "user_id": "ana"})
    now = parsedate_to_datetime(saved.headers["date"])
    body = {"query": "a", "user_id": "ana", "include_memories": True}

    answers = [
        elsewhere.get(f"{FLAT}/semantic/{saved.json()['id']}"),
        elsewhere.get(f"{FLAT}/semantic"),
        elsewhere.post(f"{FLAT}/search", json=body | {"type": "semantic"}),
        elsewhere.post(f"{FLAT}/context", json=body),
        elsewhere.get(f"{ADMIN}/memories"),
    ]

    for answer in answers:
        told = [datetime.fromisoformat(moment) for moment in moments(answer.json())]
        assert told, answer.text
        assert {moment.utcoffset() for moment in told} == {timedelta(0)}
        assert all(abs(moment - now.astimezone(UTC)) < timedelta(hours=1) for moment in told)


def test_a_moment_has_one_spelling_in_lists_and_in_searches(http: httpx.Client, user: str) -> None:
    save(http, "semantic", "a pump", user)

    [entry] = http.get(f"{FLAT}/semantic", params={"user_id": user}).json()["entries"]
    [chunk] = search(http, "semantic", "pump", user)

    assert chunk["timestamp"] in (entry["created_at"], entry["updated_at"])


# Budget ---------------------------------------------------------------------------------------


def test_what_does_not_fit_is_passed_over_and_named(http: httpx.Client, user: str) -> None:
    long = save(http, "semantic", "pump pump pump " + "with a very long story " * 60, user)
    short = save(http, "episodic", "the pump leaks", user)
    body = {"query": "pump pump pump", "user_id": user, "max_tokens": 560}

    context = http.post(f"{FLAT}/context", json=body | {"include_memories": True}).json()

    assert [chunk["id"] for chunk in context["selected_memories"]] == [short]
    assert context["metadata"]["dropped"] == [long]
    assert 0 < context["metadata"]["token_count"] <= 60


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "semantic?limit=0", None),
        ("GET", "episodic?limit=0", None),
        ("GET", "procedural?limit=-1", None),
        ("POST", "search", {"type": "semantic", "query": "x", "top_k": 0}),
        ("POST", "context", {"query": "x", "top_k": 0}),
        ("POST", "context", {"query": "x", "max_tokens": 0}),
        ("POST", "types/ticket/retrieve", {"query": "x", "top_k": 0}),
    ],
)
def test_zero_is_neither_all_nor_nothing_but_refused(
    http: httpx.Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    answer = http.request(method, f"{FLAT}/{path}", json=body)

    assert answer.status_code == 422
    assert "greater than or equal to 1" in answer.json()["error"]


# Writers side by side -------------------------------------------------------------------------


def test_eight_writers_and_as_many_readers_are_never_locked_out(
    owner: httpx.Client, user: str
) -> None:
    def work(number: int) -> set[int]:
        turn = {"session_id": f"{user} {number % 4}", "user_id": user, "role": "user"}
        return {
            answer.status_code // 100
            for step in range(6)
            for answer in (
                owner.post(f"{FLAT}/turns", json=turn | {"content": f"line {step}"}),
                owner.get(f"{FLAT}/semantic", params={"user_id": user}),
                owner.post(f"{ADMIN}/flush", json={"session_id": turn["session_id"]}),
            )
        }

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(work, range(8))) == {2}


# Forgetting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", ["true", "false"])
def test_what_is_forgotten_is_nowhere(owner: httpx.Client, user: str, soft: str) -> None:
    gone = save(owner, "procedural", "drain the pump", user)
    kept = save(owner, "procedural", "paint the pump", user)
    assert contents(search(owner, "procedural", "drain the pump", user))[0] == "drain the pump"

    owner.delete(f"{FLAT}/procedural/{gone}", params={"soft": soft})

    body = {"query": "drain the pump", "user_id": user, "enabled_sources": ["procedural"]}
    mine = {"user_id": user}
    answers = [
        owner.get(f"{FLAT}/procedural", params=mine),
        owner.get(f"{FLAT}/procedural", params=mine | {"procedure": "p"}),
        owner.post(f"{FLAT}/context", json=body | {"include_memories": True}),
        *(
            owner.post(f"{FLAT}/search", json=body | {"type": "procedural", "mode": mode})
            for mode in MODES
        ),
        owner.get(f"{ADMIN}/memories", params=mine),
    ]
    for answer in answers:
        assert (gone in answer.text, kept in answer.text) == (False, True)
        assert "drain" not in answer.text
    assert owner.get(f"{FLAT}/procedural/{gone}").status_code == 404


def test_what_is_removed_for_good_has_no_history(owner: httpx.Client, user: str) -> None:
    gone = save(owner, "procedural", "drain the pump", user)
    owner.patch(f"{FLAT}/procedural/{gone}", json={"content": "drain the old pump"})

    owner.delete(f"{FLAT}/procedural/{gone}", params={"soft": "false"})

    assert owner.get(f"{ADMIN}/memories/{gone}/history").status_code == 404
    shown = owner.get(f"{FLAT}/procedural", params={"user_id": user, "include_deleted": "true"})
    assert shown.json()["entries"] == []


def test_forgetting_what_is_not_there_is_an_error_and_no_success(
    http: httpx.Client, user: str
) -> None:
    fact = save(http, "semantic", "a pump", user)

    for unknown in ("no-such-id", fact):
        answer = http.delete(f"{FLAT}/procedural/{unknown}")
        assert (answer.status_code, answer.json()["code"]) == (404, "MEMORY_NOT_FOUND")
    assert http.get(f"{FLAT}/semantic/{fact}").status_code == 200


def test_a_find_can_be_forgotten_by_the_id_that_was_told(http: httpx.Client, user: str) -> None:
    save(http, "procedural", "drain the pump", user)

    [chunk] = search(http, "procedural", "pump", user)

    deleted = http.delete(f"{FLAT}/procedural/{chunk['id']}", params={"user_id": user})
    assert deleted.json()["deleted_count"] == 1


# Words that a query language would read otherwise -----------------------------------------------

STRANGE = (
    "a-b x/y current.md it's \"quoted\" 'quoted' * ? % _ ^ ~ \\ | & ! ( ) [ ] { } < > = + ; : , . "
    "# @ $ ` NEAR(a,b) AND OR NOT NEAR text:pump -pump pump* ^pump {a b}:c col : pump"
).split()


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_no_word_of_a_query_is_read_as_an_operator(
    http: httpx.Client, user: str, mode: str
) -> None:
    save(http, "semantic", "the pump leaks", user)

    for strange in STRANGE:
        found = search(http, "semantic", f"{strange} pump", user, mode=mode)
        assert contents(found) == ["the pump leaks"], strange
        search(http, "semantic", strange, user, mode=mode)


@pytest.mark.parametrize("text", ["a-b", "x/y", "current.md", "C++", "foo_bar", "it's", "ä.ö"])
def test_what_is_written_with_signs_is_found_by_its_own_words(
    http: httpx.Client, user: str, text: str
) -> None:
    save(http, "semantic", f"see {text} for more", user)

    assert contents(search(http, "semantic", text, user, mode="text")) == [f"see {text} for more"]


@given(noise=st.text(st.sampled_from(string.punctuation + " "), max_size=12))
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_a_word_is_found_in_any_punctuation(http: httpx.Client, user: str, noise: str) -> None:
    if not search(http, "semantic", "pump", user):
        save(http, "semantic", "the pump leaks", user)

    query = f"{noise} pump {noise}"
    assert contents(search(http, "semantic", query, user, mode="text")) == ["the pump leaks"]
