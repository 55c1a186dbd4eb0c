"""`agentengine eval` with real processes: what it measures, resumes, leaves behind and refuses."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import chat_server
from tests.acceptance.conftest import Shell
from tests.acceptance.test_howtos import blocks, run
from tests.processes import SECONDS, until

QUESTIONS = 6
DATA = "small.jsonl"
MODES = "hybrid,text,semantic"
LEAST = 0.6
"""Recall within 10 items: what these few questions reach with room to spare."""


@pytest.fixture
def shell(empty: Shell) -> Shell:
    """A directory with synthetic data in it."""
    arguments = ["--variant", "small", "--questions", str(QUESTIONS), "--seed", "3"]
    empty.ok("eval", "generate", *arguments, "--out", DATA)
    return empty


def data() -> list[str]:
    return ["--dataset", "longmemeval", "--data", DATA]


def figures(document: Mapping[str, Any]) -> dict[tuple[str, str, str], float]:
    """Return every figure by system, measure and category."""
    labels = {system["key"]: system["label"] for system in document["systems"]}
    return {
        (labels[one["system"]], one["measure"], one["category"]): one["value"]
        for one in document["figures"]
    }


def records(directory: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / name).read_text().splitlines()]


def servers_of(directory: Path) -> list[psutil.Process]:
    """Return the servers whose memory lies below a directory."""
    found = []
    for process in psutil.process_iter(["environ", "status"]):
        place = (process.info["environ"] or {}).get("AGENTENGINE_DATA_DIR", "")
        is_dead = process.info["status"] == psutil.STATUS_ZOMBIE
        if place.startswith(str(directory)) and not is_dead:
            found.append(process)
    return found


def begun(shell: Shell, *arguments: str) -> subprocess.Popen[bytes]:
    """Start an evaluation that is to be broken off."""
    return subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "-m", "agentengine_cli", "eval", "run", *arguments],
        cwd=shell.directory,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(shell.home), "PYTHONPATH": shell.search_path},
    )


@pytest.mark.parametrize("pipeline", ["turns", "blocks", "extracted", "mixed"])
def test_memory_that_forgets_fails_and_hybrid_is_not_below_its_best_leg(
    shell: Shell, pipeline: str
) -> None:
    threshold = ["--fail-under", f"recall@10={LEAST}"]
    answer = shell.ok(
        "eval", "run", *data(), "--pipeline", pipeline, "--mode", MODES, *threshold, "--json"
    )

    found = figures(answer.document)
    recall = {mode: found[f"{pipeline}/{mode}", "recall@10", "micro"] for mode in MODES.split(",")}
    assert recall["hybrid"] >= max(recall.values()), recall
    assert answer.document["remarks"] == ["no J: no judge model configured"]
    assert answer.document["manifest"]["is_synthetic"] is True

    out = shell.directory / "evaluation"
    assert not servers_of(out)
    missed = shell.run("eval", "report", "--fail-under", "recall@10=1.01", "--json")
    told = json.loads(missed.err)["error"]
    assert (missed.code, told["code"]) == (1, "NOT_REACHED")
    assert "recall@10 is " in told["problems"][0]
    assert "(n=" in told["problems"][0]
    assert "no J: no judge model configured" in (out / "report.json").read_text()
    assert (out / "report.html").read_text().startswith("<!doctype html>")


def test_the_same_suite_gives_the_same_figures(shell: Shell) -> None:
    (shell.directory / "suite.yaml").write_text(
        f"data: {{dataset: longmemeval, path: {DATA}, limit: 2}}\npipeline: mixed\nk: [5, 10]\n"
    )
    first, second = (
        shell.ok("eval", "run", "--suite", "suite.yaml", "--out", out, "--json").document
        for out in ("first", "second")
    )
    again = shell.ok("eval", "run", "--suite", "suite.yaml", "--out", "first", "--json").document

    assert figures(first) == figures(second) == figures(again)
    assert first["stages"]["ingested"] == second["stages"]["ingested"] == 2
    assert again["stages"] == {
        "conversations": 2,
        "ingested": 0,
        "questions": 2,
        "searched": 0,
        "answered": 0,
        "judged": 0,
    }


def test_other_k_are_cut_from_the_same_searches(shell: Shell) -> None:
    shell.ok("eval", "run", *data(), "--limit", "2", "--k", "5,10", "--json")

    wider = shell.ok("eval", "run", "--k", "3,40", "--json").document

    assert (wider["stages"]["ingested"], wider["stages"]["searched"]) == (0, 0)
    assert wider["stages"]["answered"] == 2 * 2
    assert ("turns/hybrid", "recall@40", "micro") in figures(wider)


def test_run_that_is_killed_goes_on_where_it_was_and_doubles_nothing(shell: Shell) -> None:
    out = shell.directory / "evaluation"
    whole = shell.ok("eval", "run", *data(), "--out", "whole", "--json").document
    running = begun(shell, *data(), "--concurrency", "1")
    until(lambda: (out / "ingest.jsonl").exists() or running.poll() is not None)
    running.kill()
    running.wait(SECONDS)
    before = len(records(out, "ingest.jsonl"))
    with (out / "ingest.jsonl").open("a") as file:
        file.write('{"dataset": "of a line that was not')

    resumed = shell.ok("eval", "run", *data(), "--json")

    assert 0 < before < QUESTIONS
    assert resumed.document["stages"]["ingested"] == QUESTIONS - before
    assert figures(resumed.document) == figures(whole)
    stored = {one["conversation"]: one["stored"] for one in records(out, "ingest.jsonl")}
    assert stored == {
        one["conversation"]: one["stored"]
        for one in records(shell.directory / "whole", "ingest.jsonl")
    }
    for one in records(out, "search.jsonl"):
        turns = [found["turns"] for found in one["found"]]
        assert len(turns) == len({tuple(each) for each in turns}), "a turn is stored once"
    assert not servers_of(out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_that_is_interrupted_stops_its_server(shell: Shell, number: signal.Signals) -> None:
    out = shell.directory / "evaluation"
    running = begun(shell, *data())
    until(lambda: servers_of(out) or running.poll() is not None)

    running.send_signal(number)

    assert running.wait(SECONDS) == 130
    assert not servers_of(out)


def test_two_runs_do_not_work_in_one_directory(shell: Shell) -> None:
    running = begun(shell, *data())
    try:
        until(lambda: (shell.directory / "evaluation" / "manifest.json").exists())
        second = shell.run("eval", "run", *data(), "--json")
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(SECONDS)

    told = json.loads(second.err)["error"]
    assert (second.code, told["code"]) == (1, "LOCK_HELD")
    assert str(running.pid) in told["message"]


def test_server_that_is_named_is_used_and_nothing_is_started(running: Shell) -> None:
    running.ok("eval", "generate", "--variant", "small", "--questions", "2", "--out", DATA)
    url = running.status()["url"]
    target = ["--base-url", url, "--org-id", "local", "--project-id", "local"]

    done = running.ok("eval", "run", *data(), "--pipeline", "extracted", *target, "--json")

    assert done.document["manifest"]["server"]["place"] == f"{url} local"
    assert done.document["stages"]["ingested"] == 2
    assert not (running.directory / "evaluation" / "server").exists()
    [first, *_] = records(running.directory / "evaluation", "ingest.jsonl")
    assert sum(first["stored"].values()) > first["turns"], "memories beside the turns"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--pipeline", "turn"], 2, "did you mean turns?"),
        (["--k", "5,x"], 2, "no list of whole numbers"),
        (["--fail-under", "recall"], 2, "is not FIGURE=VALUE"),
        (["--judge-model", "gpt"], 2, "is not PROVIDER/MODEL"),
        (["--redo", "everything"], 2, "is none of ingest, search, answer, judge"),
        (["--data", "missing.json"], 1, "missing.json does not exist"),
        (["--config", "missing.yaml"], 1, "missing.yaml"),
        (["--fail-under", "recal@10=0.5"], 2, "did you mean recall@10?"),
        (["--reader", "model", "--model", "openai/tiny"], 1, "set OPENAI_API_KEY"),
        (["--judge-model", "gemini/tiny"], 1, "set GEMINI_API_KEY"),
        (["--baseline", "missing"], 1, "missing holds no evaluation"),
        (["--out", f"{DATA}/out"], 2, "is a file, or below one: name a directory"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_a_server_is_started(
    shell: Shell, arguments: list[str], code: int, told: str
) -> None:
    answer = shell.run("eval", "run", *data(), *arguments, "--json")

    error = json.loads(answer.err)["error"]
    assert answer.code == code, answer.err
    assert told in " ".join([error["message"], *error.get("problems", ())])
    assert not (shell.directory / "evaluation" / "server").exists()


def test_baseline_of_other_data_is_refused_before_a_server_is_started(shell: Shell) -> None:
    shell.ok("eval", "ingest", *data(), "--limit", "1", "--out", "before")

    refused = shell.run("eval", "run", *data(), "--baseline", "before", "--json")

    assert refused.code == 1
    assert "before is of other data" in refused.err
    assert not (shell.directory / "evaluation" / "server").exists()


def test_directory_without_an_evaluation_is_named_where_one_is_to_be_gone_on_with(
    shell: Shell,
) -> None:
    refused = shell.run("eval", "search", "--out", "typo", "--json")

    assert refused.code == 2
    assert "typo holds no evaluation to go on with" in json.loads(refused.err)["error"]["hint"]
    assert not (shell.directory / "typo").exists()


def test_stage_without_the_one_before_it_says_which_is_missing(shell: Shell) -> None:
    searched = shell.run("eval", "search", *data(), "--json")
    answered = shell.run("eval", "answer", *data(), "--json", "--out", "elsewhere")

    assert (searched.code, answered.code) == (1, 1)
    assert "run the stage ingest before search" in searched.err
    assert "run the stages ingest and search" in answered.err


def test_model_answers_and_a_judge_marks_and_another_prompt_only_answers_anew(
    shell: Shell,
) -> None:
    with chat_server.running() as model:
        model.default = chat_server.says('{"label": "CORRECT"}')
        choice = f"{{provider: openai, model: tiny, base_url: {model.url}}}"
        (shell.directory / "suite.yaml").write_text(
            f"data: {{dataset: longmemeval, path: {DATA}, limit: 2}}\nk: [5]\n"
            f"readers: [model]\nmodel: {choice}\nprompts: [short]\n"
            f"judges: [locomo_generous]\njudge_model: {choice}\n"
        )
        first = shell.ok("eval", "run", "--suite", "suite.yaml", "--json").document
        asked = len(model.received)
        again = shell.ok("eval", "run", "--suite", "suite.yaml", "--json").document
        asked_again = len(model.received) - asked
        other = shell.ok("eval", "run", "--suite", "suite.yaml", "--prompt", "direct", "--json")

    assert first["stages"] | {"answered": 2, "judged": 2} == first["stages"]
    assert (again["stages"]["answered"], again["stages"]["judged"], asked_again) == (0, 0, 0)
    stages = other.document["stages"]
    assert (stages["ingested"], stages["searched"], stages["answered"]) == (0, 0, 2)
    assert first["remarks"] == []
    marked = {name[1:]: value for name, value in figures(first).items()}
    assert marked["j@5", "micro"] == 1
    [judged, *_] = first["judged"]
    assert judged["self_test"]["vague"]["passed"] == judged["self_test"]["vague"]["n"] > 0


def test_page_on_evaluation_runs_as_it_is_written(empty: Shell) -> None:
    script = "".join(blocks("evaluate-your-memory.md", "sh"))

    told = run(empty, ["bash", "-eu", "-c", script])

    assert "Retrieval by turn (synthetic data)" in told
    assert (empty.directory / "first" / "report.html").exists()
