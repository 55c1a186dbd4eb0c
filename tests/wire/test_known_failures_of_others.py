"""Where other memory servers let one owner's memory reach another, asked of this one."""

import json
import re
from typing import Any

import httpx
import pytest

from memory_server.api.families import FLAT
from tests.wire.asking import ADMIN, KINDS, MODES, contents, save, search


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
