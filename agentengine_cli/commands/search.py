"""memory search: what is found about a question."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentengine_cli import memory_text
from agentengine_cli.commands import memory_type as types
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import current, run
from agentengine_cli.errors import WrongUsage
from agentengine_cli.options import JsonOption, not_blank
from agentengine_cli.waiting_text import tell_where_else

if TYPE_CHECKING:
    from memory_server.client import FoundMemory, MemoryServerClient

MOST = 200
MOST_RECORDS = 100
"""Of a type of one's own; a server refuses more."""


def search(
    ctx: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What is asked.", callback=not_blank)
    ],
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="Whose memory.", callback=not_blank),
    ] = None,
    memory_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help=types.HELP, callback=not_blank),
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=MOST, help="How many at most.")] = 10,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            help="What held then: 2026-04-01, or with an hour; local without an offset.",
            callback=lambda given: None if given is None else moment(given),
        ),
    ] = None,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search what is remembered, the best first; in every built-in type unless one is named.

    agentengine memory search "Where does she fly from?" --user-id ana

    agentengine memory search "Where do I live?" --user-id ana --as-of 2026-04-01

    The records of a type of your own, one that memory.custom_memory_types declares, are searched
    for whoever asks, without --user-id; the owner of the server finds those that are nobody's.
    """
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    found: Sequence[Mapping[str, Any]]
    if memory_type is not None and types.is_own(memory_type):
        if as_of is not None:
            raise WrongUsage(f"--as-of: the records of {memory_type} have no history")
        found = _records(server, query, memory_type, user_id=user_id, top_k=top_k)
    else:
        kinds = [memory_type] if memory_type else list(memory_text.HEADINGS)
        found = run(_found(server, query, kinds, user_id=user_id, top_k=top_k, as_of=as_of))
    if as_json:
        context.output.document({"user_id": user_id, "memories": found, "total": len(found)})
        return
    for memory in found:
        score = memory.get("similarity_score")
        lead = f"{score:.2f}" if score is not None else "-"
        text = f"{lead}  {memory['source']}: {memory['content']}"
        context.output.result(context.output.wrapped(text, indent="      ", first=""))
    if user_id is None and not types.is_own(memory_type):
        context.output.note("Without --user-id, what you may see of every user was searched")
    if not found:
        context.output.note("Nothing is found")
        tell_where_else(context, server, user_id)


def moment(given: str) -> str:
    """Return a day, at its beginning, or a moment as a server takes it: with an offset."""
    try:
        return datetime.fromisoformat(given.strip()).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise WrongUsage(
            f"--as-of: {given!r} is no date or time",
            hint="Write it as 2026-04-01 or 2026-04-01T18:30",
        ) from None


def _records(
    server: Server, query: str, name: str, *, user_id: str | None, top_k: int
) -> Sequence[Mapping[str, Any]]:
    """Search a type that the project declares, and return its records as other finds look."""
    with types.naming(name):
        records = server.ask(
            lambda client: client.records(query, type=name, top_k=min(top_k, MOST_RECORDS))
        )
    if user_id is not None:
        raise WrongUsage(
            f"--user-id: the records of {name} are searched for whoever asks",
            hint=f"Leave it out, or list them: agentengine memory show --user-id {user_id} "
            f"--type {name}",
        )
    return [
        {**record, "source": record["type"], "similarity_score": record["score"]}
        for record in records
    ]


async def _found(
    server: Server,
    query: str,
    kinds: Sequence[str],
    *,
    user_id: str | None,
    top_k: int,
    as_of: str | None,
) -> "list[FoundMemory]":
    """Search the types at once, and return the best of all."""

    async def one(client: "MemoryServerClient", kind: str) -> "Sequence[FoundMemory]":
        return await client.search(query, type=kind, user_id=user_id, top_k=top_k, as_of=as_of)

    async with server.client(server.administrator) as client:
        answers = await asyncio.gather(*(one(client, kind) for kind in kinds))
    found = [memory for answer in answers for memory in answer]
    return sorted(found, key=lambda memory: -(memory.get("similarity_score") or 0.0))[:top_k]
