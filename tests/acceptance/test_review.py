"""Review on a real server: what is found is exactly what somebody approved."""

import os
import signal

import psutil
import pytest

from tests.acceptance.conftest import Shell

SAID = ("I live in Bergen.", "I am allergic to peanuts.", "I work as a carpenter.")


@pytest.fixture
def manual(project: Shell) -> Shell:
    """A server on which what is extracted waits for a decision."""
    file = project.directory / "project-config.yaml"
    text = file.read_text(encoding="utf-8").replace("#approval: automatic", "approval: manual")
    file.write_text(text, encoding="utf-8")
    project.ok("memory", "configure", "--yes")
    project.ok("memory", "apply", "--wait")
    return project


def kill(shell: Shell) -> None:
    """Kill the server and start it again."""
    pid = shell.status()["pid"]
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [])
    shell.ok("memory", "apply", "--wait")


def waiting(shell: Shell) -> dict[str, str]:
    """Return the words of the facts that wait, with their ids."""
    listed = shell.ok("memory", "review", "--type", "semantic", "--json").document
    return {one["content"]: one["id"] for one in listed["proposals"]}


def found(shell: Shell) -> set[str]:
    """Return what a search finds of all that was said."""
    asked = ("memory", "search", "--user-id", "ana", "--type", "semantic", "--json")
    answer = shell.ok(*asked, "bergen oslo peanuts hazelnuts carpenter").document
    return {one["content"] for one in answer["memories"]}


@pytest.mark.both_stores
def test_only_what_was_approved_is_found_and_a_killed_server_loses_nothing(manual: Shell) -> None:
    turns = "".join(
        f'{{"session_id": "s", "user_id": "ana", "role": "user", "content": "{text}"}}\n'
        for text in SAID
    )
    manual.ok("memory", "import", "-", stdin=turns)
    manual.ok("memory", "flush")
    home, allergy, job = (
        next(text for text in waiting(manual) if word in text)
        for word in ("Bergen", "peanuts", "carpenter")
    )
    ids = waiting(manual)
    assert found(manual) == set()

    kill(manual)
    assert waiting(manual) == ids
    assert manual.status()["review"]["pending"] >= 3
    manual.ok("memory", "review", "approve", ids[home])
    edited = "The user is allergic to hazelnuts."
    manual.ok("memory", "review", "edit", ids[allergy], "--text", edited)
    kill(manual)
    manual.ok("memory", "review", "approve", ids[allergy], "--reason", "she said so later")
    manual.ok("memory", "review", "reject", ids[job], "--reason", "a joke")
    kill(manual)

    assert found(manual) == {home, edited}
    assert waiting(manual) == {}
    decided = manual.ok("memory", "review", "--state", "any", "--type", "semantic", "--json")
    states = {one["id"]: one["state"] for one in decided.document["proposals"]}
    assert states == {ids[home]: "approved", ids[allergy]: "approved", ids[job]: "rejected"}
    shown = manual.ok("memory", "show", "--user-id", "ana", "--type", "semantic", "--json")
    reasons = {
        memory["content"]: memory["evidence"][0]["reason"] for memory in shown.document["memories"]
    }
    assert reasons[home].endswith("; approved by owner")
    assert reasons[edited].endswith("in the words of owner, approved by owner")
    again = manual.run("memory", "review", "approve", ids[job])
    assert again.code == 1
    assert "PROPOSAL_DECIDED" in again.err
