"""Saving and searching in one line."""

from typing import Any

import httpx

from memory_server.api.families import FLAT

ADMIN = "/api/v1/admin"
KINDS = ("semantic", "episodic", "taxonomic", "procedural")
MODES = ("text", "semantic", "hybrid")


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
    """Search one kind of memory, and return the chunks that are found."""
    body = {"type": kind, "query": query, "user_id": user} | more
    answer = http.post(f"{FLAT}/search", json=body)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["memories"])


def contents(chunks: list[Any]) -> list[str]:
    """Return what chunks say."""
    return [chunk["content"] for chunk in chunks]
