"""Run the product as a user would: `python -m demo`."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo
from agent_engine_sdk_memory import Memory, MemoryRequestContext
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from demo.conversation import ANA, LUCIA, Session, Talk
from memory_server.client import MemoryServerClient
from memory_server.client.shapes import JobDocument

CONSOLE = Console(highlight=False, soft_wrap=True)
COLOURS = {"ADD": "green", "UPDATE": "yellow", "REINFORCE": "cyan", "RETRACT": "red"}
CLI = [sys.executable, "-m", "agentengine_cli"]


def main() -> int:
    """Set up a project, talk, watch the memory form, ask, and stop what was started."""
    with tempfile.TemporaryDirectory(prefix="agentengine-demo-") as directory:
        project = Path(directory) / "travel-agent"
        _heading("A project and its memory server")
        _run("create", "--memory-only", "--name", "Travel Agent", cwd=Path(directory))
        _run("memory", "configure", "--yes", cwd=project)
        with _store(project), _server(project) as status:
            with Memory(base_url=status["url"]) as memory:
                for talk in (ANA, LUCIA):
                    _converse(memory, talk, status, project)
            _invoke(project)
        return 0


def _converse(memory: Memory, talk: Talk, status: Mapping[str, Any], project: Path) -> None:
    """Hold the sessions; ask the same question after the first and after the last."""
    for number, session in enumerate(talk.sessions, start=1):
        _heading(f"{talk.user_id}, in {talk.language}: session {number}, {session.date[:10]}")
        _record(memory, talk, session)
        asyncio.run(_watch(status, project, session.id))
        if number in (1, len(talk.sessions)):
            _ask(memory, talk)
    _heading("What is remembered, with its history")
    _run("memory", "show", "--user-id", talk.user_id, "--no-evidence", cwd=project)


def _record(memory: Memory, talk: Talk, session: Session) -> None:
    handle = memory.bind(MemoryRequestContext(user_id=talk.user_id, session_id=session.id))
    for role, content in session.turns:
        turn = handle.record_turn(role=role, content=content, metadata={"timestamp": session.date})
        CONSOLE.print(f"  [dim]recorded {turn.turn_seq:>2}[/] {role:>9}: {escape(content)}")


async def _watch(status: Mapping[str, Any], project: Path, session_id: str) -> None:
    """Promote the session now instead of after its idle time, and show each decision as made."""
    token = (project / ".agentengine" / "owner-token").read_text(encoding="utf-8").strip()
    async with MemoryServerClient(
        status["url"], project_id=status["project_id"], token=token
    ) as client:
        before = {job["id"] for job in (await client.jobs())["jobs"]}
        flushed = await client.flush(session_id=session_id)
        CONSOLE.print(
            f"  [dim]promoted[/] {flushed['snapshots']} snapshot, {flushed['jobs']} extraction jobs"
        )
        shown = set(before)
        while True:
            jobs = [job for job in (await client.jobs())["jobs"] if job["id"] not in before]
            for job in jobs:
                if job["state"] in ("done", "failed") and job["id"] not in shown:
                    shown.add(job["id"])
                    _show_job(job)
            if all(job["state"] in ("done", "failed") for job in jobs):
                return
            await asyncio.sleep(0.1)


def _show_job(job: JobDocument) -> None:
    if job["state"] == "failed":
        CONSOLE.print(f"  [red]failed[/] {job['type']}: {escape(str(job['error']))}")
    for decision in (job["result"] or {}).get("decisions", ()):
        line = Text("  ")
        line.append(f"{decision['action']:<9}", style=COLOURS.get(decision["action"], "dim"))
        line.append(f" {job['type']}: {_first_line(decision['text'])}")
        if decision.get("previous"):
            line.append(f"  (was: {_first_line(decision['previous'])})", style="dim")
        CONSOLE.print(line)


def _ask(memory: Memory, talk: Talk) -> None:
    handle = memory.bind(MemoryRequestContext(user_id=talk.user_id))
    context = handle.build_context(
        talk.question, enabled_sources={"semantic"}, max_tokens=1000, include_memories=True
    )
    CONSOLE.print(f"\n  [bold]{talk.question}[/]")
    best = next((memory.content for memory in context.selected_memories or []), "nothing")
    CONSOLE.print(f"  build_context -> {escape(best)}")


def _invoke(project: Path) -> None:
    _heading("Invoking the agent: for a person, then as a service account")
    _run("invoke", "--user-id", ANA.user_id, ANA.question, cwd=project)
    made = _run(
        "service-account",
        "create",
        "nightly-report",
        "--role",
        "AGENT_DEVELOPER",
        "--json",
        cwd=project,
        show=False,
    )
    account = json.loads(made)
    credentials = {
        "AGENTENGINE_CLIENT_ID": account["service_account"]["client_id"],
        "AGENTENGINE_CLIENT_SECRET": account["client_secret"],
    }
    CONSOLE.print("  [dim]The account is itself the memory identity: it knows nothing of Ana.[/]")
    _run("invoke", "--user-id", ANA.user_id, ANA.question, cwd=project, extra=credentials)


@contextmanager
def _store(project: Path) -> Iterator[None]:
    """Keep memory where `MONGODB_URI` says, in a database that goes with the demonstration.

    Without it memory is a file of the project.
    """
    uri = os.environ.get("MONGODB_URI")
    if not uri:
        yield
        return
    name = f"agentengine_demo_{uuid.uuid4().hex[:8]}_local"
    values = f"MONGODB_URI={uri}\nMONGOMEM_DB_NAME={name}\n"
    with (project / ".env").open("a", encoding="utf-8") as dotenv:
        dotenv.write(values)
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        try:
            yield
        finally:
            client.drop_database(name)


@contextmanager
def _server(project: Path) -> Iterator[Mapping[str, Any]]:
    """Start the project's memory server, and stop it whatever happens."""
    try:
        _run("memory", "apply", "--wait", cwd=project)
        yield json.loads(_run("memory", "status", "--json", cwd=project, show=False))
    finally:
        _heading("Stopping what was started")
        _run("dev", "stop", cwd=project)


def _run(
    *arguments: str, cwd: Path, show: bool = True, extra: Mapping[str, str] | None = None
) -> str:
    """Run one command of the real command line, show it as typed, and return what it answered."""
    shown = _as_typed(arguments, extra or {})
    if show:
        CONSOLE.print(f"\n[bold]$ {escape(shown)}[/]")
    done = subprocess.run(  # noqa: S603 - our own command line
        [*CLI, *arguments],
        cwd=cwd,
        env={**os.environ, **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if show else subprocess.PIPE,
        text=True,
        check=False,
    )
    if show or done.returncode:
        for line in (done.stdout + (done.stderr or "")).splitlines():
            CONSOLE.print(f"  {escape(line)}")
    if done.returncode:
        raise SystemExit(f"{shown} ended with {done.returncode}")
    return done.stdout


def _as_typed(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return a command as one would type it; of its variables the names alone."""
    variables = [f"{name}=..." for name in environment]
    words = [f'"{word}"' if " " in word else word for word in arguments]
    return " ".join([*variables, "agentengine", *words])


def _first_line(text: str) -> str:
    line = text.splitlines()[0] if text else ""
    return line if len(line) <= 90 else line[:87] + "..."


def _heading(text: str) -> None:
    CONSOLE.print(f"\n[bold blue]== {text}[/]")


if __name__ == "__main__":
    sys.exit(main())
