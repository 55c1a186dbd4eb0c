"""memory search: what is found about a question."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli import memory_text
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

if TYPE_CHECKING:
    from memory_server.client import FoundMemory, MemoryServerClient

MOST = 200


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
        typer.Option("--type", metavar="TYPE", help="semantic, episodic, taxonomic or procedural."),
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=MOST, help="How many at most.")] = 10,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search what is remembered, the best first; in every type unless one is named.

    agentengine memory search "Where does she fly from?" --user-id ana
    """
    context = current(ctx)
    if memory_type is not None and memory_type not in memory_text.HEADINGS:
        raise WrongUsage(f"--type: expected one of {', '.join(memory_text.HEADINGS)}")
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    types = [memory_type] if memory_type else list(memory_text.HEADINGS)
    found = run(_found(server, query, types, user_id=user_id, top_k=top_k))
    if as_json:
        context.output.document({"memories": found, "total": len(found)})
        return
    for memory in found:
        score = memory.get("similarity_score")
        lead = f"{score:.2f}" if score is not None else "-"
        text = f"{lead}  {memory['source']}: {memory['content']}"
        context.output.result(context.output.wrapped(text, indent="      ", first=""))
    if not found:
        context.output.note("Nothing is found")
        context.output.hint(memory_text.FLUSH_HINT.format(options=context.trail.options))


async def _found(
    server: Server, query: str, types: Sequence[str], *, user_id: str | None, top_k: int
) -> "list[FoundMemory]":
    """Search the types at once, and return the best of all."""

    async def one(client: "MemoryServerClient", kind: str) -> "Sequence[FoundMemory]":
        return await client.search(query, type=kind, user_id=user_id, top_k=top_k)

    async with server.client(server.administrator) as client:
        answers = await asyncio.gather(*(one(client, kind) for kind in types))
    found = [memory for answer in answers for memory in answer]
    return sorted(found, key=lambda memory: -(memory.get("similarity_score") or 0.0))[:top_k]
