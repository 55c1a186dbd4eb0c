import json

import pytest

from agentengine_cli.control.readiness import LASTING_SIGNS, Voice, interpret, vectors
from agentengine_cli.control.server import describe
from memory_server.providers.embedding import model_files


def test_answer_with_our_instance_id_is_ours() -> None:
    answer = interpret(json.dumps({"status": "ready", "instance_id": "i"}), "i")

    assert (answer.voice, answer.is_ready) == (Voice.OURS, True)


def test_blocking_reasons_are_kept_in_order() -> None:
    body = {"status": "blocked", "instance_id": "i", "blocked_on": ["store", "key"]}

    answer = interpret(json.dumps(body), "i")

    assert describe(answer) == "blocked: store, key"
    assert not answer.is_ready


@pytest.mark.parametrize(
    ("body", "hopeless"),
    [
        ({"blocked_on": ["extraction: no key for extraction; looked for A"]}, True),
        ({"blocked_on": ["embedding: The local embedding model cannot be loaded: x"]}, True),
        ({"blocked_on": ["extraction: The library for provider 'x' is not installed: x."]}, True),
        ({"blocked_on": ["embedding: m has 3 dimensions, but memory.embedding.dimension"]}, True),
        ({"blocked_on": ["embedding: ?"], "embedding": {"code": "WRONG_DIMENSION"}}, True),
        ({"blocked_on": ["extraction: ?"], "extraction": {"code": "KEY_MISSING"}}, True),
        ({"blocked_on": ["embedding: did not answer within 30 seconds"]}, False),
        ({"blocked_on": ["embedding: ?"], "embedding": {"code": "PROVIDER_UNAVAILABLE"}}, False),
        ({"status": "starting", "blocked_on": ["embedding: no key for it"]}, False),
    ],
)
def test_only_what_a_person_must_mend_is_hopeless(body: dict[str, object], hopeless: bool) -> None:
    answer = interpret(json.dumps({"status": "blocked", "instance_id": "i"} | body), "i")

    assert answer.is_hopeless is hopeless


def test_what_the_server_says_of_a_missing_package_is_known_to_be_lasting() -> None:
    said = str(model_files.missing("the package is gone", "static"))

    assert any(sign in said for sign in LASTING_SIGNS)


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
