"""memory export, backup, and the import of what export wrote."""

import contextlib
import os
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO
from urllib.parse import quote

import typer

from agentengine_cli.commands import memory_type
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current, run
from agentengine_cli.control.files import refusing_clearly, sync_directory
from agentengine_cli.errors import CliError, Interrupted, PartlyFailed, WrongUsage
from agentengine_cli.options import JsonOption, YesOption, not_blank
from agentengine_cli.progress import Progress

if TYPE_CHECKING:
    from memory_server.client import ArchiveCheck, MemoryServerClient

SECONDS = 600.0
"""How long a server may take for one step: copying a large store comes before its first byte."""
STDOUT = "-"
TOLD_EVERY = 10_000
"""Items between two words of progress."""
OUTCOMES = ("new", "known", "conflict", "erased")
PLURALS = {
    "memory": "memories",
    "proposal": "proposals",
    "session": "sessions",
    "turn": "turns",
    "snapshot": "snapshots",
    "job": "jobs",
}
"""Of the kinds of items."""
AGAIN = "Run the same command again: what the server has is not stored twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How an archive is to be imported."""

    dry_run: bool
    with_vectors: bool
    restore_erased: bool


def export(
    ctx: typer.Context,
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="Only this user's.", callback=not_blank),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help=f"Only this type; may be repeated. turns, {memory_type.HELP}",
        ),
    ] = None,
    with_vectors: Annotated[
        bool, typer.Option("--with-vectors", help="With the vectors, for the same model.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to; - is standard output."),
    ] = None,
    yes: YesOption = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything that is remembered to a file, as of one moment.

    agentengine memory export --with-vectors --output memory.jsonl

    One JSON object a line: turns, sessions, unfinished work, memories in all versions. Service
    accounts, members and passwords are never part of it. `memory import` takes it in again, on
    any server.
    """
    context = current(ctx)
    to_stdout = _is_stdout(output, as_json=as_json)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))

    def lines(client: "MemoryServerClient") -> AsyncIterator[bytes]:
        return client.archive.export(user_id=user_id, types=types or (), with_vectors=with_vectors)

    narrowed = user_id is not None or bool(types)
    if to_stdout:
        _warn_if_empty(context, _exported(context, server, lines, context.output.raw), narrowed)
        return
    assert output is not None, "only standard output has no name"
    with _replacing(context, Path(output), yes=yes) as (file, _):
        told = _exported(context, server, lines, file.write)
    _warn_if_empty(context, told, narrowed)
    context.output.record({"exported": output, **told})


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to.")],
    yes: YesOption = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the server's whole database while it works: all projects, and their credentials.

    agentengine memory backup memory-backup.db

    For a server on SQLite; on MongoDB use mongodump, or `memory export`. The copy is checked when
    it has arrived. To restore it, stop the server and put it in the place of memory.db in its
    data directory.
    """
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))

    with _replacing(context, file, yes=yes) as (copy, name):

        async def work() -> int:
            async with server.client(server.administrator, timeout=SECONDS) as client:
                async for piece in client.archive.backup():
                    copy.write(piece)
            return copy.tell()

        with context.output.status("Copying the database"):
            size = run(work())
            copy.flush()
            _check_copy(name)
    context.output.record({"backup": str(file), "bytes": size, "integrity": "ok"})


def is_archive(first_line: bytes) -> bool:
    """Whether a file begins as what `memory export` writes."""
    from memory_server.client import is_head  # noqa: PLC0415 - HTTP is slow to load

    return is_head(first_line)


def import_archive(
    context: CliContext,
    server: Callable[[], Server],
    stream: BinaryIO,
    name: str,
    wishes: Wishes,
) -> None:
    """Check a whole archive, then send it portion by portion."""
    from memory_server.client import check  # noqa: PLC0415 - HTTP is slow to load
    from memory_server.errors import InvalidArchive  # noqa: PLC0415 - beside it

    try:
        checked = check(stream)
    except InvalidArchive as error:
        raise CliError(f"{name}: {error}; nothing was sent", code=error.code) from error
    described = {
        "project": checked.head.project_id,
        "exported_at": checked.head.exported_at.isoformat(),
        "items": checked.items,
    }
    if not checked.items:
        context.output.warning(f"{name} is whole and holds nothing: there is nothing to import")
    stream.seek(0)
    tally = Tally()
    doing = "Compared" if wishes.dry_run else "Imported"
    try:
        with context.output.progress(checked.items, doing) as progress:
            try:
                run(_send(server(), stream, wishes, tally, progress))
            finally:
                progress.more = str(tally)
    except KeyboardInterrupt as error:
        raise Interrupted(f"Stopped ({tally})", hint=AGAIN) from error
    told = {"dry_run": True} if wishes.dry_run else {}
    context.output.record({**described, **told, **tally.document()})
    tally.complain(dry_run=wishes.dry_run)


class Tally:
    """What became of the items so far."""

    def __init__(self) -> None:
        self._counts = {outcome: Counter[str]() for outcome in OUTCOMES}
        self._conflicts: list[str] = []

    def add(self, answer: Any) -> None:
        """Count the answer to one portion."""
        for outcome, counts in self._counts.items():
            counts.update(answer[outcome])
        self._conflicts += answer["conflicts"]

    def document(self) -> dict[str, Any]:
        """Return the counts, and the new ones by kind."""
        totals = {outcome: counts.total() for outcome, counts in self._counts.items()}
        return {
            **totals,
            **{f"new_{PLURALS[kind]}": n for kind, n in self._counts["new"].items() if n},
        }

    def complain(self, *, dry_run: bool) -> None:
        """Raise `PartlyFailed` if something else was, or is, in the place of an item."""
        conflicts = self._counts["conflict"].total()
        if conflicts:
            shown = self._conflicts[:20]
            more = [f"and {conflicts - len(shown)} more"] if conflicts > len(shown) else []
            raise PartlyFailed(
                f"{conflicts} items {'would be' if dry_run else 'were'} left out: the project has "
                "something else in their place",
                problems=[*shown, *more],
                hint="Import into an empty project to have all of it",
            )

    def __str__(self) -> str:
        """Say how many are new, and how many were there already."""
        new, known = self._counts["new"].total(), self._counts["known"].total()
        return f"{new} new, {known} already there"


async def _send(
    server: Server, stream: BinaryIO, wishes: Wishes, tally: Tally, progress: Progress
) -> None:
    from memory_server.client import portions  # noqa: PLC0415 - HTTP is slow to load

    async with server.client(server.administrator, timeout=SECONDS) as client:
        for portion in portions(stream):
            tally.add(
                await client.archive.take_in(
                    portion.lines,
                    first_line=portion.first_line,
                    with_vectors=wishes.with_vectors,
                    restore_erased=wishes.restore_erased,
                    dry_run=wishes.dry_run,
                )
            )
            progress.advance(portion.items)


def _exported(
    context: CliContext,
    server: Server,
    lines: "Callable[[MemoryServerClient], AsyncIterator[bytes]]",
    write: Callable[[bytes], Any],
) -> dict[str, Any]:
    """Pass an archive on as it comes, and return what it holds; raise if it was cut short."""
    from memory_server.client import ArchiveCheck  # noqa: PLC0415 - HTTP is slow to load

    checking = ArchiveCheck()
    with context.output.status("Exporting") as status:

        async def work() -> None:
            told = 0
            async with server.client(server.administrator, timeout=SECONDS) as client:
                async for piece in lines(client):
                    write(piece)
                    checking.feed(piece)
                    if checking.items - told >= TOLD_EVERY:
                        told = checking.items
                        status.update(f"Exporting: {told} items")

        run(work())
    return _holding(checking)


def _warn_if_empty(context: CliContext, told: Mapping[str, Any], narrowed: bool) -> None:
    if not told["items"]:
        of = "nothing of that user or type" if narrowed else "nothing"
        context.output.warning(f"project {told['project']} holds {of}: the export is empty")


def _holding(checking: "ArchiveCheck") -> dict[str, Any]:
    checked = checking.finish()
    return {
        "project": checked.head.project_id,
        "exported_at": checked.head.exported_at.isoformat(),
        "items": checked.items,
        **{PLURALS[kind]: count for kind, count in checked.end.counts.items()},
    }


def _is_stdout(output: str | None, *, as_json: bool) -> bool:
    if output not in (None, STDOUT):
        return False
    if output is None and sys.stdout.isatty():
        raise WrongUsage("Say where to: --output FILE, or - for this terminal")
    if as_json:
        raise WrongUsage("--json answers on standard output: name a file with --output")
    return True


@contextlib.contextmanager
def _replacing(context: CliContext, path: Path, *, yes: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """Give a new file, of its owner only, that takes the place of `path` if all goes well."""
    if path.exists():
        context.output.confirm(f"Replace {path}?", yes=yes)
    with refusing_clearly(path):
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:  # mkstemp creates it 0600
            yield file, Path(temporary)
            file.flush()
            os.fsync(file.fileno())
        with refusing_clearly(path):
            Path(temporary).replace(path)
        sync_directory(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _check_copy(path: Path) -> None:
    """Return if the copy is a sound database, else raise `CliError`."""
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        answer = str(error)
    if answer != "ok":
        raise CliError(
            f"The copy is damaged ({answer}), and was not kept",
            hint="Run the command again; if it stays so, the server's disk may be failing",
        )
