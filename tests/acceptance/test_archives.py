"""A project leaves one server and comes into another: whole, once, also after a break."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Shell

SECONDS = 180.0
QUESTIONS = ("Where does Ana live?", "window seat", "what did we say about trains")


def until(holds: Callable[[], bool]) -> None:
    """Return once something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def conversations(sessions: int, turns: int = 4) -> str:
    """Return turns of several sessions of several users, one a line."""
    said = (
        "I live in Bergen, near the harbour.",
        "Then I will look for trains from Bergen.",
        "I prefer a window seat on trains.",
        "Noted: a window seat.",
    )
    return "".join(
        json.dumps(
            {
                "session_id": f"s{session}",
                "user_id": "ana" if session % 2 else "bob",
                "role": "assistant" if turn % 2 else "user",
                "content": f"{said[turn % 4]} ({session}/{turn})",
            }
        )
        + "\n"
        for session in range(sessions)
        for turn in range(turns)
    )


@pytest.fixture
def filled(running: Shell) -> Shell:
    """A server that has learned something of two users, and has turns that wait."""
    running.ok("memory", "import", "-", stdin=conversations(6))
    running.ok("memory", "flush", "--wait")
    running.ok("memory", "import", "-", stdin=conversations(8))
    return running


@pytest.fixture
def other(empty: Shell) -> Iterator[Shell]:
    """Another server, of another project, that holds nothing."""
    empty.ok("create", "--memory-only", "--name", "Other Project")
    shell = Shell(empty.directory / "other-project", empty.home)
    shell.ok("memory", "configure", "--yes")
    shell.ok("memory", "apply", "--wait")
    yield shell
    shell.run("dev", "stop")


def held(shell: Shell, user_id: str) -> Any:
    """Return what is shown of a user."""
    return shell.ok("memory", "show", "--user-id", user_id, "--json").document["memories"]


def found(shell: Shell, user_id: str) -> Any:
    """Return what searches find, with their scores."""
    return [
        [
            (one["id"], one.get("score"))
            for one in shell.ok(
                "memory", "search", question, "--user-id", user_id, "--json"
            ).document["memories"]
        ]
        for question in QUESTIONS
    ]


def test_a_project_comes_into_another_server_whole_and_once(filled: Shell, other: Shell) -> None:
    archive = str(filled.directory / "memory.jsonl")
    made = filled.ok("memory", "export", "--with-vectors", "--output", archive, "--json").document
    assert stat.S_IMODE(Path(archive).stat().st_mode) == 0o600

    would = other.ok("memory", "import", archive, "--dry-run", "--json").document
    untouched = other.ok("memory", "export")
    first = other.ok("memory", "import", archive, "--json").document
    second = other.ok("memory", "import", archive, "--json").document
    told = other.ok("memory", "import", archive, "--dry-run", "--json").document

    assert (would["new"], would["dry_run"], first["new"]) == (made["items"], True, made["items"])
    assert "holds nothing: the export is empty" in untouched.err
    assert (told["new"], told["known"]) == (0, made["items"])
    assert (second["new"], second["known"]) == (0, made["items"])
    for user in ("ana", "bob"):
        assert held(filled, user)
        assert held(other, user) == held(filled, user)
        assert found(other, user) == found(filled, user)


def test_an_import_of_nothing_says_so(other: Shell) -> None:
    archive = str(other.directory / "memory.jsonl")
    made = other.ok("memory", "export", "--user-id", "eve", "--output", archive, "--json")
    taken = other.ok("memory", "import", archive, "--json")

    assert (made.document["items"], taken.document["items"]) == (0, 0)
    assert "holds nothing of that user or type: the export is empty" in made.err
    assert "there is nothing to import" in taken.err


def test_an_import_whose_server_is_killed_is_gone_on_from(filled: Shell, other: Shell) -> None:
    filled.ok("memory", "import", "-", stdin=conversations(400))
    archive = filled.directory / "memory.jsonl"
    made = filled.ok("memory", "export", "--output", str(archive), "--json").document
    importing = subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "-m", "agentengine_cli", "memory", "import", str(archive)],
        cwd=other.directory,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(other.home)},
    )
    with importing:
        until(lambda: other.ok("memory", "export").out.count('"kind":"turn"') > 0)
        pid = other.status()["pid"]
        os.kill(pid, signal.SIGKILL)
        importing.wait(SECONDS)
    other.ok("memory", "apply", "--wait")

    again = other.ok("memory", "import", str(archive), "--json").document

    assert again["new"] + again["known"] == made["items"]
    assert again["conflict"] == 0
    turns = other.ok("memory", "export", "--type", "turns").out
    assert turns.count('"kind":"turn"') == made["turns"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines[:-1], "cut short"),
        (lambda lines: [lines[0], *lines[2:]], "lines were lost or added"),
        (lambda lines: [*lines[:1], lines[1].replace("Bergen", "Tromso"), *lines[2:]], "digest"),
        (
            lambda lines: [re.sub(r'"version":\d+', '"version":9', lines[0])],
            "version 9 of the format",
        ),
    ],
    ids=["cut", "lost", "changed", "newer"],
)
def test_a_damaged_archive_is_refused_before_anything_is_sent(
    filled: Shell, change: Callable[[list[str]], list[str]], told: str
) -> None:
    lines = filled.ok("memory", "export").out.splitlines(keepends=True)
    damaged = filled.directory / "damaged.jsonl"
    damaged.write_text("".join(change(lines)), encoding="utf-8")
    filled.ok("memory", "erase", "--user-id", "bob", "--yes")

    refused = filled.run("memory", "import", str(damaged), "--restore-erased")

    assert refused.code == 1
    assert told in refused.err
    assert '"user_id":"bob"' not in filled.ok("memory", "export").out


def test_an_erased_user_is_in_no_export_and_comes_back_with_no_import(filled: Shell) -> None:
    archive = str(filled.directory / "memory.jsonl")
    filled.ok("memory", "export", "--output", archive)

    erased = filled.ok("memory", "erase", "--user-id", "ana", "--yes", "--json").document
    taken = filled.ok("memory", "import", archive, "--json").document

    assert erased["deleted"]["turns"] > 0
    assert erased["traces"] == "none"
    assert taken["erased"] > 0
    assert '"ana"' not in filled.ok("memory", "export", "--with-vectors").out
    back = filled.ok("memory", "import", archive, "--restore-erased", "--json").document
    assert back["new"] == taken["erased"]


def test_an_export_does_not_replace_a_file_unasked(filled: Shell) -> None:
    there = filled.directory / "there.jsonl"
    there.write_text("precious", encoding="utf-8")

    refused = filled.run("memory", "export", "--output", str(there))

    assert refused.code == 1
    assert "--yes" in refused.err
    assert there.read_text(encoding="utf-8") == "precious"
    filled.ok("memory", "export", "--output", str(there), "--yes")
    assert there.read_text(encoding="utf-8").startswith('{"format"')


def test_a_backup_made_while_turns_are_recorded_can_be_started_from(
    filled: Shell, other: Shell
) -> None:
    copy = filled.directory / "backup.db"
    writing = subprocess.Popen(
        [sys.executable, "-m", "agentengine_cli", "memory", "import", "-"],
        cwd=filled.directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(filled.home)},
    )
    with writing:
        assert writing.stdin is not None
        writing.stdin.write(conversations(200))
        writing.stdin.close()
        told = filled.ok("memory", "backup", str(copy), "--json").document
        writing.wait(SECONDS)

    assert told["integrity"] == "ok"
    assert told["bytes"] == copy.stat().st_size
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with contextlib.closing(sqlite3.connect(f"file:{copy}?mode=ro&immutable=1", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (users,) = db.execute("SELECT count(DISTINCT user_id) FROM memories").fetchone()
        assert users == 2
    restore(copy, other)
    assert other.status()["state"] == "ready"


def restore(copy: Path, shell: Shell) -> None:
    """Put a backup in the place of a server's database."""
    data = Path(shell.status()["store"]["location"])
    shell.ok("dev", "stop")
    for file in data.parent.glob(f"{data.name}*"):
        file.unlink()
    copy.rename(data)
    shell.ok("memory", "apply", "--wait")
