"""Walking through proposals on a terminal, as a scripted user who types keys."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentengine_cli.connection import Server
from agentengine_cli.output import Output
from agentengine_cli.reviewing import Review
from memory_server.errors import InvalidRequest, ProposalChanged, ProposalNotFound


def a_proposal(proposal_id: str, text: str) -> dict[str, Any]:
    return {
        "id": proposal_id,
        "state": "pending",
        "revision": 1,
        "type": "semantic",
        "content": text,
        "words": {"text": text},
        "name": "home",
        "retracts": False,
        "user_id": "ana",
        "session_id": "monday",
        "extractor": "rules/1",
        "said_at": "2026-03-01T10:00:00+00:00",
        "created_at": "2026-03-01T10:05:00+00:00",
        "edited": None,
        "decision": None,
        "turns": [
            {"speaker": "Ana", "said_at": "2026-03-01T10:00:00+00:00", "content": "I said so"}
        ],
        "foreseen": [
            {
                "action": "UPDATE",
                "type": "semantic",
                "text": text,
                "reason": "newer word",
                "memory_id": "m1",
                "previous": "Ana lives in Oslo",
            }
        ],
    }


@dataclass
class Proposals:
    """What waits on the server, one a page."""

    waiting: dict[str, dict[str, Any]]
    reasons: dict[str, str | None] = field(default_factory=dict)
    changed_meanwhile: set[str] = field(default_factory=set)

    async def list(self, *, after: str | None, **_: Any) -> Mapping[str, Any]:
        left = [one for one in self.waiting.values() if after is None or one["id"] > after]
        return {"proposals": left[:1], "next": left[0]["id"] if len(left) > 1 else None}

    async def get(self, proposal_id: str) -> Mapping[str, Any]:
        if proposal_id not in self.waiting:
            raise ProposalNotFound
        return dict(self.waiting[proposal_id])

    async def edit(
        self, proposal_id: str, words: Mapping[str, str], *, revision: int
    ) -> Mapping[str, Any]:
        if words["text"] == "refused":
            raise InvalidRequest("text: it is refused")
        return self._set(proposal_id, revision, words=words, revision=revision + 1)

    async def approve(self, proposal_id: str, *, revision: int) -> Mapping[str, Any]:
        return self._set(proposal_id, revision, state="approved", decision=_by("owner"))

    async def reject(
        self, proposal_id: str, *, reason: str | None, revision: int
    ) -> Mapping[str, Any]:
        self.reasons[proposal_id] = reason
        return self._set(proposal_id, revision, state="rejected", decision=_by("owner"))

    def _set(self, proposal_id: str, seen: int, /, **changes: Any) -> Mapping[str, Any]:
        if proposal_id in self.changed_meanwhile:
            self.changed_meanwhile.remove(proposal_id)
            raise ProposalChanged("it was changed meanwhile")
        proposal = self.waiting[proposal_id]
        assert proposal["revision"] == seen
        proposal.update(changes)
        return proposal


def _by(name: str) -> dict[str, Any]:
    return {"by": name, "at": "2026-03-02T10:00:00+00:00", "reason": "", "outcomes": []}


class FakeServer:
    """Asks as a server over HTTP does."""

    def __init__(self, proposals: Proposals) -> None:
        self._client = SimpleNamespace(proposals=proposals)

    def ask(self, question: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        return asyncio.run(question(self._client))


class Typed(Output):
    """A terminal on which somebody has typed ahead."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self._lines: Iterator[str] = iter(lines)

    def ask(self, prompt: str) -> str:
        try:
            return next(self._lines)
        except StopIteration:
            raise EOFError from None


@pytest.fixture
def proposals() -> Proposals:
    texts = {"1": "Ana lives in Faro", "2": "Ana is a carpenter", "3": "Ana sings"}
    return Proposals({one: a_proposal(one, text) for one, text in texts.items()})


def walk(proposals: Proposals, *typed: str) -> dict[str, int]:
    """Walk with these lines typed; return what was decided."""
    review = Review(server=cast(Server, FakeServer(proposals)), output=Typed(*typed))
    review.walk()
    return dict(review.tally)


def states(proposals: Proposals) -> list[str]:
    return [one["state"] for one in proposals.waiting.values()]


def test_each_is_shown_with_its_words_and_what_approving_would_do(
    proposals: Proposals, capsys: pytest.CaptureFixture[str]
) -> None:
    walk(proposals, "q")

    said = capsys.readouterr().out
    assert "semantic: Ana lives in Faro" in said
    assert "[2026-03-01 10:00] Ana: I said so" in said
    assert "UPDATE: would take the place of: 'Ana lives in Oslo' (m1)" in said
    assert "carpenter" not in said


def test_keys_approve_reject_with_a_reason_and_skip(proposals: Proposals) -> None:
    decided = walk(proposals, "a", "R", "a joke", "s")

    assert states(proposals) == ["approved", "rejected", "pending"]
    assert proposals.reasons == {"2": "a joke"}
    assert decided == {"approved": 1, "rejected": 1}


def test_an_edit_is_shown_again_and_then_decided(
    proposals: Proposals, capsys: pytest.CaptureFixture[str]
) -> None:
    walk(proposals, "e", "Ana lives in Porto", "a", "e", "", "s", "q")

    assert proposals.waiting["1"]["words"] == {"text": "Ana lives in Porto"}
    assert states(proposals) == ["approved", "pending", "pending"]
    assert proposals.waiting["2"]["revision"] == 1
    assert "semantic: Ana lives in Porto" in capsys.readouterr().out


def test_other_keys_ask_again(proposals: Proposals) -> None:
    assert walk(proposals, "x", "", "a", "q") == {"approved": 1}


def test_what_is_refused_or_was_changed_meanwhile_is_told_and_asked_again(
    proposals: Proposals, capsys: pytest.CaptureFixture[str]
) -> None:
    proposals.changed_meanwhile.add("1")

    walk(proposals, "a", "e", "refused", "a", "q")

    said = capsys.readouterr().err
    assert "Not done: it was changed meanwhile" in said
    assert "Not done: text: it is refused" in said
    assert states(proposals)[0] == "approved"


def test_the_end_of_input_ends_the_walk(proposals: Proposals) -> None:
    assert walk(proposals, "a") == {"approved": 1}
    assert walk(proposals, "r") == {}


def test_what_was_erased_meanwhile_is_passed_by(proposals: Proposals) -> None:
    listed = proposals.list

    async def and_erase(**asked: Any) -> Mapping[str, Any]:
        page = await listed(**asked)
        proposals.waiting.pop("1", None)
        return page

    proposals.list = and_erase  # type: ignore[method-assign]
    assert walk(proposals, "a", "a") == {"approved": 2}
