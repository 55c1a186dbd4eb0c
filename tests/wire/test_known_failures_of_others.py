"""What went wrong in other memory servers, asked of this one over the wire."""

import json
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
from tests.unit.memory_server.api.application import OWNER_TOKEN
from tests.wire.conftest import Served
from tests.wire.test_process import running

ADMIN = "/api/v1/admin"
KINDS = ("semantic", "episodic", "taxonomic", "procedural")
MODES = ("text", "semantic", "hybrid")


@pytest.fixture
def owner(served: Served) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False) as client:
        yield client


def save(http: httpx.Client, kind: str, text: str, user: str | None, **more: Any) -> str:
    """Save something of a kind that says a text, and return its id."""
    bodies = {
        "semantic": {"label": "l", "text": text},
        "episodic": {"title": "t", "content": text, "session_id": "s"},
        "taxonomic": {"domain": f"of {user}", "term": text, "definition": "a word"},
        "procedural": {"procedure": "p", "description": "d", "content": text},
    }
    answer = http.post(f"{FLAT}/{kind}", json=bodies[kind] | {"user_id": user} | more)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def search(http: httpx.Client, kind: str, query: str, user: str | None, **more: Any) -> list[Any]:
    body = {"type": kind, "query": query, "user_id": user} | more
    answer = http.post(f"{FLAT}/search", json=body)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["memories"])


def contents(chunks: list[Any]) -> list[str]:
    return [chunk["content"] for chunk in chunks]


# Scope and isolation --------------------------------------------------------------------------


def test_erasing_one_user_leaves_the_others_alone(owner: httpx.Client, user: str) -> None:
    ids = {who: save(owner, "semantic", "a pump", f"{who} {user}") for who in ("ana", "bob")}

    owner.request("DELETE", f"{ADMIN}/scope", params={"user_id": f"ana {user}"})

    found = {who: owner.get(f"{FLAT}/semantic/{ids[who]}").status_code for who in ids}
    assert found == {"ana": 404, "bob": 200}


@pytest.mark.parametrize("query", [{}, {"user_id": ""}, {"user_id": "  "}, {"user": "ana"}])
def test_erasing_nobody_is_refused_and_never_means_everybody(
    owner: httpx.Client, user: str, query: dict[str, str]
) -> None:
    kept = save(owner, "semantic", "a pump", user)

    answer = owner.request("DELETE", f"{ADMIN}/scope", params=query)

    assert answer.status_code == 400
    assert "user_id" in answer.json()["error"]
    assert owner.get(f"{FLAT}/semantic/{kept}").status_code == 200


@pytest.mark.parametrize("kind", ["semantic", "procedural"])
def test_an_id_opens_nothing_to_a_user_who_is_not_its_owner(
    http: httpx.Client, user: str, kind: str
) -> None:
    path = f"{FLAT}/{kind}/{save(http, kind, 'a pump', user, visibility='org')}"
    stranger = {"user_id": f"stranger to {user}"}

    read = http.get(path, params=stranger)
    changed = http.patch(path, json=stranger | {"text": "mine", "content": "mine"})

    assert [read.status_code, changed.status_code] == [404, 404]
    assert "pump" in http.get(path, params={"user_id": user}).text


def test_a_path_that_is_sent_is_text_and_is_never_opened(http: httpx.Client, user: str) -> None:
    for path in ("/etc/passwd", "file:///etc/passwd", "../../../../etc/passwd"):
        more = {"source_path": path, "resources": [path], "metadata": {"file": path}}
        saved = save(http, "procedural", f"read {path}", user, **more)

        entry = http.get(f"{FLAT}/procedural/{saved}")

        assert entry.json()["source_path"] == path
        assert "root:" not in entry.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_leg_keeps_to_the_user(http: httpx.Client, user: str, kind: str, mode: str) -> None:
    whose = [f"ana {user}", f"bob {user}"]
    for who in whose:
        save(http, kind, f"the pump of {who}", who, visibility="private")

    found = search(http, kind, "pump", whose[0], mode=mode)
    body = {"query": "pump", "user_id": whose[0], "include_memories": True}
    sources = {"sources": [{"source": kind, "mode": mode}]}
    built = http.post(f"{FLAT}/retrieval/context-from-sources", json=body | sources).json()

    for chunks in (found, built["selected_memories"]):
        assert [chunk["metadata"]["user_id"] for chunk in chunks] == [whose[0]]
    assert whose[1] not in built["formatted_context"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_user_one_user_and_two_users_are_three_scopes(
    http: httpx.Client, user: str, kind: str
) -> None:
    word = re.sub(r"\W", "", user)
    for who in ("ana", "bob"):
        save(http, kind, f"{word} {who}", f"{who} {user}")

    def found(name: str | None) -> int:
        return sum(word in text for text in contents(search(http, kind, word, name)))

    assert [found(None), found(f"ana {user}"), found(f"cyd {user}")] == [2, 1, 0]


def test_a_filter_on_what_is_not_declared_is_refused_and_not_ignored(
    http: httpx.Client, user: str
) -> None:
    save(http, "semantic", "a pump", user)
    body = {"type": "semantic", "query": "pump", "user_id": user}

    answer = http.post(f"{FLAT}/search", json=body | {"metadata_filter": {"dataset": "mine"}})

    assert (answer.status_code, answer.json()["code"]) == (400, "UNDECLARED_PATH")


def test_a_word_of_another_user_expands_nobodys_search(http: httpx.Client, user: str) -> None:
    ana, bob = f"ana {user}", f"bob {user}"
    save(http, "semantic", "the pump leaks", ana)
    term = {"related_terms": ["pump"], "visibility": "private", "query_expansion": True}
    save(http, "taxonomic", "zorbator", bob, **term)

    assert search(http, "semantic", "zorbator", ana, mode="text") == []
    save(http, "taxonomic", "zorbator", ana, **term)
    assert contents(search(http, "semantic", "zorbator", ana, mode="text")) == ["the pump leaks"]


@pytest.mark.parametrize("unset", [{}, {"user_id": None}, {"user_id": ""}, {"user_id": "   "}])
def test_a_search_for_nobody_says_that_it_was_for_all(
    http: httpx.Client, unset: dict[str, Any]
) -> None:
    answer = http.post(f"{FLAT}/search", json={"type": "semantic", "query": "x"} | unset).json()

    assert answer["predicate"]["scope"] == {"project_id": "shop"}
    assert any("neither user_id nor visibility" in warning for warning in answer["warnings"])


def test_the_answer_says_which_conditions_ran(http: httpx.Client, user: str) -> None:
    body = {"type": "semantic", "query": "x", "user_id": user, "visibility": "org"}
    gold = {"metadata_filter": {"metadata.tier": "gold"}}

    predicate = http.post(f"{FLAT}/search", json=body | gold).json()["predicate"]

    assert predicate["scope"] == {"project_id": "shop", "user_id": user, "visibility": "org"}
    assert "gold" in json.dumps(predicate["filter"])


def test_all_of_the_tags_are_asked_for_and_not_any(owner: httpx.Client, user: str) -> None:
    path = f"{FLAT}/types/ticket"
    for tags in ({"plant": user}, {"size": 7}, {"plant": user, "size": 7}):
        assert owner.post(path, json={"content": "pump", "tags": tags}).status_code == 201

    wanted = {"query": "pump", "tags": {"plant": user, "size": 7}, "top_k": 100}
    found = owner.post(f"{path}/retrieve", json=wanted).json()["results"]

    assert [record["tags"] for record in found] == [{"plant": user, "size": 7}]


def test_what_is_written_to_an_unknown_project_is_refused_and_lands_nowhere(
    owner: httpx.Client,
) -> None:
    body = {"session_id": "s", "role": "user", "content": "x", "user_id": "ana"}
    path = "/api/v1/projects/not-yet/memory/turns"

    refused = owner.post(path, json=body)
    made = owner.post("/api/v1/projects", json={"name": "n", "id": "not-yet"})

    assert (refused.status_code, refused.json()["code"]) == (403, "PROJECT_NOT_FOUND")
    assert made.status_code == 201
    assert owner.post(path, json=body).json()["turn_seq"] == 1


# Time -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def elsewhere(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[httpx.Client]:
    """A server whose machine keeps the time of another place."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", request.param)
        directory: Path = tmp_path_factory.mktemp("elsewhere")
        with running(directory) as (_, client):
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
