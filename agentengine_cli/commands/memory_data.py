"""memory import, show, jobs, retry, erase: what the memory server holds and works on.

What comes from `memory export` is imported by `commands/archive.py`.
"""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentengine_cli import memory_text
from agentengine_cli.commands import memory_type
from agentengine_cli.commands.archive import Wishes, backup, export, import_archive, is_archive
from agentengine_cli.commands.flush import flush
from agentengine_cli.commands.jobs import jobs, retry
from agentengine_cli.commands.search import search
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
from agentengine_cli.errors import CliError, Interrupted, PartlyFailed, WrongUsage, explain
from agentengine_cli.options import JsonOption, YesOption, not_blank
from agentengine_cli.progress import Progress
from agentengine_cli.turn_file import MAX_PROBLEMS, NumberedTurn, Plan, TurnFile, open_turns
from agentengine_cli.turn_import import Tally, send
from agentengine_cli.waiting_text import tell_where_else

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

ERASE_SECONDS = 600.0
"""A user may have a lot to erase, and half of it is worth nothing."""
BEING_REMOVED = "being removed"
AGAIN = "Run the same command again: what the server has is not written twice"

UserOption = Annotated[
    str, typer.Option("--user-id", metavar="ID", help="Whose memory.", callback=not_blank)
]


def register(memory_app: typer.Typer) -> None:
    """Add the commands to the `memory` group."""
    memory_app.command("import")(import_file)
    memory_app.command("export")(export)
    memory_app.command("backup")(backup)
    memory_app.command("show")(show)
    memory_app.command("search")(search)
    memory_app.command("flush")(flush)
    memory_app.command("jobs")(jobs)
    memory_app.command("retry")(retry)
    memory_app.command("erase")(erase)


def import_file(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines; - is standard input.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file, store nothing.")
    ] = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="Sessions of conversations sent at the same time.")
    ] = 8,
    without_vectors: Annotated[
        bool,
        typer.Option("--without-vectors", help="Of an export: make its vectors anew, here."),
    ] = False,
    restore_erased: Annotated[
        bool,
        typer.Option(
            "--restore-erased", help="Of an export: bring back users who were erased since."
        ),
    ] = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record conversations from a file, or take in what `memory export` wrote.

    agentengine memory import conversations.jsonl

    The first line tells which of the two it is. Of conversations, each line is a JSON object:
    session_id, user_id, role (user, assistant, tool, system) and content; timestamp, metadata and
    idempotency_key if you have them. The whole file is checked before anything is sent. A second
    run writes nothing twice. An export goes into the project that is meant here, whichever it was
    of; erased users do not come back with it. A dry run of one asks the server what would be new,
    known, or in conflict with what it has.
    """
    context = current(ctx)
    options = target_options(context_name, base_url, org_id, project_id)
    with open_turns(file, sys.stdin.buffer) as turns:
        if is_archive(turns.first_line()):
            wishes = Wishes(
                dry_run=dry_run,
                with_vectors=not without_vectors,
                restore_erased=restore_erased,
            )
            import_archive(
                context, lambda: server_of(ctx, options), turns.stream, turns.name, wishes
            )
            return
        if without_vectors or restore_erased:
            raise WrongUsage(
                f"{turns.name} holds conversations: --without-vectors and --restore-erased are "
                "for what agentengine memory export wrote"
            )
        plan = turns.check()
        if not plan.turns:
            raise CliError(f"{turns.name} holds no turns")
        if dry_run:
            context.output.record(_summary(plan, Tally(), 0.0) | {"dry_run": True})
            return
        _import(context, server_of(ctx, options), turns, plan, concurrency)


def _import(
    context: CliContext, server: Server, turns: TurnFile, plan: Plan, concurrency: int
) -> None:
    tally, began = Tally(), time.monotonic()

    async def work(progress: Progress) -> None:
        async with server.client(server.administrator) as client:
            await send(
                turns,
                plan,
                lambda turn: _record(client, turn),
                concurrency=concurrency,
                tally=tally,
                advance=progress.advance,
            )

    try:
        with context.output.progress(plan.turns, "Sent") as progress:
            try:
                run(work(progress))
            finally:
                progress.more = str(tally)
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"Stopped after {tally.sent} of {plan.turns} turns{_in_brackets(tally)}", hint=AGAIN
        ) from error
    _report(context, _summary(plan, tally, time.monotonic() - began))
    _complain(turns, plan, tally)


def _in_brackets(tally: Tally) -> str:
    return f" ({tally})" if str(tally) else ""


def _report(context: CliContext, summary: dict[str, Any]) -> None:
    if context.output.as_json:
        context.output.document(summary)
        return
    new, known = summary.pop("new"), summary.pop("skipped")
    told = {} if known is None else {"new": f"{new}, already there: {known}"}
    context.output.record(told | summary)


async def _record(client: "MemoryServerClient", numbered: NumberedTurn) -> bool | None:
    turn = numbered.turn
    receipt = await client.record_turn(
        session_id=turn.session_id,
        user_id=turn.user_id,
        role=turn.role,
        content=turn.content,
        idempotency_key=numbered.key,
        metadata=turn.metadata or None,
        **turn.more,
    )
    return receipt.get("duplicate")


def _summary(plan: Plan, tally: Tally, seconds: float) -> dict[str, Any]:
    return {
        "turns": plan.turns,
        "sessions": len(plan.conversations),
        "users": len(plan.users),
        "acknowledged": tally.sent,
        "new": None if tally.skipped is None else tally.sent - tally.skipped,
        "skipped": tally.skipped,
        "seconds": round(seconds, 2),
        "turns_per_second": round(tally.sent / seconds, 1) if seconds else 0.0,
    }


def _complain(turns: TurnFile, plan: Plan, tally: Tally) -> None:
    """Raise if not every turn was recorded, naming the lines."""
    left = plan.turns - tally.sent
    if not left:
        return
    refused = sorted(tally.refused, key=lambda entry: entry[0])
    problems = [f"{turns.name}:{line}: {_reason(error)}" for line, error in refused[:MAX_PROBLEMS]]
    if tally.stopped_by is not None:
        problems.append(_reason(tally.stopped_by))
    raise PartlyFailed(
        f"{left} of {plan.turns} turns were not recorded; a refused line ends its session",
        problems=problems,
        hint=AGAIN,
    )


def _reason(error: Exception) -> str:
    told = explain(error)
    assert told is not None, "only expected failures are counted"
    return f"{told} ({told.code})"


def show(
    ctx: typer.Context,
    memory_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="One memory, by its id.", callback=not_blank),
    ] = None,
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="All of this user.", callback=not_blank),
    ] = None,
    of_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help=memory_type.HELP,
            callback=not_blank,
        ),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence/--no-evidence", help="The turns it was learned from.")
    ] = True,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="What it said before.")
    ] = True,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one memory, or what is remembered of a user, with the words it rests on.

    agentengine memory show --user-id ana --type semantic --no-evidence

    agentengine memory show 019c0de7a1b2 --evidence --history

    Evidence is told turn by turn, with who said it and when; of former versions too. Of a turn
    whose words are gone (`ttl_days`, `delete_promoted`), only when it was said is left.
    """
    context = current(ctx)
    if (memory_id is None) == (user_id is None):
        raise WrongUsage(
            "Name one memory by its id, or a user by --user-id",
            hint="agentengine memory show --help",
        )
    if memory_id is not None and of_type is not None:
        raise WrongUsage("--type goes with --user-id; an id names one memory of any type")
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    if memory_id is not None:
        _show_one(context, server, memory_id, evidence=evidence, history=history)
        return
    assert user_id is not None, "one of both is given"

    with memory_type.naming(of_type):
        found = server.ask(
            lambda client: client.memories(user_id=user_id, type=of_type, include_history=history)
        )
    memories = [memory_text.reduced(memory, evidence=evidence, history=history) for memory in found]
    if as_json:
        context.output.document({"user_id": user_id, "memories": memories})
    elif not memories:
        context.output.note(f"Nothing is remembered of {user_id}")
        tell_where_else(context, server, user_id)
    for text in [] if as_json else memory_text.paragraphs(memories, context.output.wrapped):
        context.output.result(text)


def _show_one(
    context: CliContext, server: Server, memory_id: str, *, evidence: bool, history: bool
) -> None:
    found = server.ask(lambda client: client.memory(memory_id, include_history=history))
    memory = memory_text.reduced(found, evidence=evidence, history=history)
    if context.output.as_json:
        context.output.document(memory)
        return
    context.output.result(memory_text.whole(memory, context.output.wrapped))


def erase(
    ctx: typer.Context,
    user_id: UserOption,
    yes: YesOption = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove everything of a user for good: turns, memories, their history and waiting work.

    agentengine memory erase --user-id ana
    """
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    where = "" if server.is_local else f" from {server}"
    context.output.confirm(f"Erase everything of {user_id}{where} for good?", yes=yes)

    erased = server.ask(lambda client: client.erase(user_id), timeout=ERASE_SECONDS)
    if as_json:
        context.output.document({"user_id": user_id, **erased})
    else:
        traces = {"traces": erased["traces"]} if "traces" in erased else {}
        context.output.record({"erased": user_id, **erased["deleted"], **traces})
        if traces.get("traces") == BEING_REMOVED:
            context.output.hint("agentengine memory status tells of traces until none are left")
