"""`agentengine eval extraction` with real processes: what the rules reach, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests import chat_server
from tests.acceptance.conftest import Shell
from tests.acceptance.test_eval import servers_of
from tests.acceptance.test_howtos import blocks, run

LEAST = {
    "precision": 0.95,
    "recall": 0.75,
    "recall_single": 0.8,
    "actions": 0.9,
    "times": 0.9,
    "history": 0.9,
    "as_of": 0.75,
    "made_up": 2,
}
"""What the rules reach on the half that they are developed with; `made_up` at the most."""
MINI = Path(__file__).parents[1] / "evaluation" / "extraction" / "mini.yaml"
COMMAND = ("eval", "extraction")


def test_figure_that_is_not_reached_ends_with_1_and_is_told(empty: Shell) -> None:
    missed = empty.run(*COMMAND, "--cases", str(MINI), "--fail-under", "recall=1", "--json")

    told = json.loads(missed.err)["error"]
    assert (missed.code, told["code"]) == (1, "FIGURE_NOT_REACHED")
    assert told["problems"][0].startswith("recall is 0.7778 (n=9, own)")


def test_what_was_lived_is_shown_again_and_nothing_is_done_twice(empty: Shell) -> None:
    arguments = [*COMMAND, "--cases", str(MINI)]
    first = empty.ok(*arguments, "--json").document

    again = empty.ok(*arguments, "--show", "misses")

    assert "of 10 in" not in again.err, "nothing was lived through"
    assert "says kettle" in again.out
    assert empty.ok(*arguments, "--json").document == first
    assert len((empty.directory / "extraction" / "cases.jsonl").read_text().splitlines()) == 10


def test_model_is_measured_and_its_calls_are_counted(empty: Shell) -> None:
    item = {"subject": "user", "attribute": "job", "value": "nurse", "evidence": [2]}
    fact = {**item, "exclusive": True, "text": "The user is a nurse."}
    with chat_server.running() as model:
        model.default = chat_server.says_items(fact)
        (empty.directory / "model.yaml").write_text(
            "memory:\n  embedding: {provider: local}\n  extraction: {enabled: [semantic]}\n"
            f"  extraction_llm: {{provider: openai, model: tiny, base_url: {model.url}}}\n"
        )
        arguments = ["--cases", str(MINI), "--only", "en-nurse", "--config", "model.yaml"]
        measured = empty.ok(*COMMAND, *arguments, "--json", OPENAI_API_KEY="key").document

    counted = {
        one["measure"]: (one["hits"], one["n"])
        for one in measured["figures"]
        if (one["type"], one["language"]) == ("all", "all")
    }
    assert measured["calls"] == len(model.received) > 0
    assert "tiny" in measured["extractors"][0]
    assert counted == {
        "precision": (1, 1),
        "recall": (1, 2),
        "recall_single": (1, 1),
        "actions": (1, 1),
        "made_up": (0, 1),
    }


def test_server_that_is_named_is_used_and_nothing_is_started(running: Shell) -> None:
    url = running.status()["url"]
    target = ["--base-url", url, "--org-id", "local", "--project-id", "local"]

    measured = running.ok(
        *COMMAND, "--cases", str(MINI), "--only", "en-nurse", *target, "--json"
    ).document

    assert measured["server"]["place"] == f"{url} local"
    assert not (running.directory / "extraction" / "server").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--half", "held-out"], 2, "is none of worked, held, both"),
        (["--only", "en-nobody"], 2, "there is no case en-nobody"),
        (["--show", "hits"], 2, "there are misses, false, made_up"),
        (["--fail-under", "precison=0.5"], 2, "did you mean precision"),
        (["--fail-under", "precision"], 2, "is not FIGURE=VALUE"),
        (["--provider", "gpt"], 2, "is not PROVIDER/MODEL"),
        (["--provider", "openai/tiny"], 1, "looked for secret OPENAI_API_KEY"),
        (["--cases", "missing.yaml"], 1, "missing.yaml: cannot be read"),
        (["--config", "missing.yaml"], 1, "missing.yaml"),
        (["--provider", "openai/tiny", "--context", "x"], 2, "of the evaluation's own server"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_a_server_is_started(
    empty: Shell, arguments: list[str], code: int, told: str
) -> None:
    answer = empty.run(*COMMAND, *arguments, "--json")

    error = json.loads(answer.err)["error"]
    assert answer.code == code, answer.err
    assert told in " ".join([error["message"], *error.get("problems", ())])
    assert not servers_of(empty.directory)


def test_page_on_extraction_runs_as_it_is_written_and_rules_remember_what_they_did(
    empty: Shell,
) -> None:
    [case] = blocks("evaluate-your-extraction.md", "yaml")
    (empty.directory / "cases.yaml").write_text(case, encoding="utf-8")
    script = "".join(blocks("evaluate-your-extraction.md", "sh"))

    told = run(empty, ["bash", "-eu", "-c", script])

    assert "worked: " in told
    assert "own: 1 cases" in told
    assert not servers_of(empty.directory)
    lived = ["--half", "worked", "--out", "rules"]
    wanted = ",".join(f"{name}={value}" for name, value in LEAST.items())
    measured = empty.ok(*COMMAND, *lived, "--fail-under", wanted, "--json").document
    assert (list(measured["cases"]), measured["failed"]) == (["worked"], [])
    written = (empty.directory / "rules" / "extraction.json").read_text(encoding="utf-8")
    assert json.loads(written) == measured
