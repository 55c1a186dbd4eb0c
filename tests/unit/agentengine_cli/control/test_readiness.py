import json

import pytest

from agentengine_cli.control.readiness import Voice, interpret, vectors
from agentengine_cli.control.server import describe


def test_answer_with_our_instance_id_is_ours() -> None:
    answer = interpret(json.dumps({"status": "ready", "instance_id": "i"}), "i")

    assert (answer.voice, answer.is_ready) == (Voice.OURS, True)


def test_blocking_reasons_are_kept_in_order() -> None:
    body = {"status": "blocked", "instance_id": "i", "blocked_on": ["store", "key"]}

    answer = interpret(json.dumps(body), "i")

    assert describe(answer) == "blocked: store, key"
    assert not answer.is_ready


@pytest.mark.parametrize(
    ("body", "expected"),
    [({"search": {"vectors": 3}}, 3), ({"search": {}}, None), ({"search": None}, None), ({}, None)],
)
def test_vectors_are_counted_only_when_the_server_says_so(
    body: dict[str, object], expected: int | None
) -> None:
    assert vectors(body) == expected


@pytest.mark.parametrize(
    "text", ["", "<html>", "[]", "null", '{"status": "ready"}', '{"instance_id": "other"}']
)
def test_any_other_answer_is_foreign(text: str) -> None:
    answer = interpret(text, "i")

    assert (answer.voice, answer.is_ready, answer.body) == (Voice.FOREIGN, False, {})
