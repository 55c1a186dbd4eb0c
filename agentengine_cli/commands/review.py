"""agentengine memory review: decide what of the conversations is remembered."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli import review_text
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current
from agentengine_cli.errors import PartlyFailed, WrongUsage
from agentengine_cli.options import JsonOption, YesOption, inherits_global_options, not_blank
from agentengine_cli.reviewing import Review

if TYPE_CHECKING:
    from memory_server.client import (
        DecidedProposals,
        FailedDecision,
        MemoryServerClient,
        ProposalDocument,
        ProposalPage,
    )

app = typer.Typer(invoke_without_command=True)

PORTION = 100
"""Proposals that one request decides."""
MOST_LISTED = 200
DECIDE_SECONDS = 300.0
"""For a portion: each proposal is compared with what is known."""
COLUMNS = ("id", "state", "type", "user_id", "said_at", "waits_since", "words")


class State(StrEnum):
    """Which proposals a list has."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANY = "any"


class Learned(StrEnum):
    """The types of memory that conversations are read for."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    TAXONOMIC = "taxonomic"
    PROCEDURAL = "procedural"


OfUserOption = Annotated[
    str | None,
    typer.Option("--user-id", metavar="ID", help="Only of this user.", callback=not_blank),
]
TypeOption = Annotated[
    Learned | None,
    typer.Option(
        "--type", metavar="TYPE", help="Only semantic, episodic, taxonomic or procedural."
    ),
]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Which.", show_default=False)
]
AllOption = Annotated[bool, typer.Option("--all", help="All that wait, or of --user-id, --type.")]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why, if you say; it is kept.")
]


def register(memory_app: typer.Typer) -> None:
    """Add the group to the `memory` group."""
    app.callback(invoke_without_command=True)(inherits_global_options(review))
    memory_app.add_typer(app, name="review")


def review(
    ctx: typer.Context,
    state: Annotated[
        State,
        typer.Option(metavar="STATE", help="pending, approved, rejected, or any, of a list."),
    ] = State.PENDING,
    user_id: OfUserOption = None,
    of_type: TypeOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_LISTED, help="How many a list shows; who waits longest is first."
        ),
    ] = 50,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go through what was extracted and waits: approve, edit or reject it.

    agentengine memory review --user-id ana

    On a terminal each proposal is shown with the words it rests on and what approving it would do.
    With --json, with --state, or where nobody can be asked, proposals are listed. They wait where
    memory.extraction.approval is manual.
    """
    if ctx.invoked_subcommand is not None:
        return
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    if context.is_interactive and state is State.PENDING:
        walk = Review(
            server=server, output=context.output, user_id=user_id, type=of_type and of_type.value
        )
        walk.walk()
        told = ", ".join(f"{number} {what}" for what, number in sorted(walk.tally.items()))
        context.output.note(told or "Nothing was decided")
        return
    asked = None if state is State.ANY else state.value
    page = server.ask(
        lambda client: client.proposals.list(
            state=asked, user_id=user_id, type=of_type and of_type.value, limit=limit
        )
    )
    rows = [review_text.row(one) for one in page["proposals"]]
    context.output.table(rows, columns=COLUMNS, document=page, empty="No proposals")
    if page["next"] is not None:
        context.output.note(f"There are more than {limit}")


@app.command()
def show(
    ctx: typer.Context,
    proposal: Annotated[str, typer.Argument(metavar="ID", callback=not_blank)],
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a proposal, the words it rests on, and what approving it would do.

    agentengine memory review show ID
    """
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    found = server.ask(lambda client: client.proposals.get(proposal))
    if as_json:
        context.output.document(found)
        return
    for line in review_text.shown(found, context.output.wrapped):
        context.output.result(line)


@app.command()
def approve(
    ctx: typer.Context,
    ids: IdsArgument = None,
    all_: AllOption = False,
    user_id: OfUserOption = None,
    of_type: TypeOption = None,
    reason: ReasonOption = None,
    yes: YesOption = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember what is proposed.

    agentengine memory review approve --all --user-id ana --type semantic --yes
    """
    chosen = _Choice(ids, all_, user_id, of_type)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    _decide(current(ctx), server, "approve", chosen, reason=reason, yes=yes)


@app.command()
def reject(
    ctx: typer.Context,
    ids: IdsArgument = None,
    all_: AllOption = False,
    user_id: OfUserOption = None,
    of_type: TypeOption = None,
    reason: ReasonOption = None,
    yes: YesOption = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do not remember what is proposed; it is kept, with the reason if you say one.

    agentengine memory review reject ID --reason "It was a joke"
    """
    chosen = _Choice(ids, all_, user_id, of_type)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    _decide(current(ctx), server, "reject", chosen, reason=reason, yes=yes)


@app.command()
def edit(
    ctx: typer.Context,
    proposal: Annotated[str, typer.Argument(metavar="ID", callback=not_blank)],
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Of a fact.", callback=not_blank)
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Of an episode.", callback=not_blank)
    ] = None,
    content: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Of an episode or a procedure.", callback=not_blank),
    ] = None,
    definition: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Of a term.", callback=not_blank)
    ] = None,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a proposal in other words; it still waits, and the original words are kept.

    agentengine memory review edit ID --text "Ana lives in Lisbon"
    """
    given = {"text": text, "title": title, "content": content, "definition": definition}
    words = {name: one for name, one in given.items() if one is not None}
    if not words:
        raise WrongUsage("Give the new words: --text, --title, --content or --definition")
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))
    changed = server.ask(lambda client: client.proposals.edit(proposal, words))
    if as_json:
        context.output.document(changed)
        return
    context.output.record(review_text.row(changed))
    context.output.hint(f"agentengine memory review approve {proposal}{context.trail.options}")


class _Choice:
    """Which proposals a command means: those named, or all that wait."""

    def __init__(
        self, ids: Sequence[str] | None, everything: bool, user_id: str | None, kind: Learned | None
    ) -> None:
        self.ids = list(ids or ())
        self.user_id, self.kind = user_id, kind
        if bool(self.ids) == everything:
            raise WrongUsage(
                "Name proposals by their ids, or say --all", hint="agentengine memory review"
            )
        if self.ids and (user_id or kind):
            raise WrongUsage("--user-id and --type go with --all; ids name proposals by themselves")

    def found(self, server: Server) -> Sequence[str]:
        """Return the ids, of those that wait in their order."""
        if self.ids:
            return self.ids
        found: list[str] = []
        after: str | None = None
        while True:
            page = self._page(server, after)
            found += [one["id"] for one in page["proposals"]]
            after = page["next"]
            if after is None:
                return found

    def _page(self, server: Server, after: str | None) -> "ProposalPage":
        return server.ask(
            lambda client: client.proposals.list(
                state="pending",
                user_id=self.user_id,
                type=self.kind and self.kind.value,
                after=after,
                limit=MOST_LISTED,
            )
        )


def _decide(
    context: CliContext,
    server: Server,
    verb: str,
    chosen: _Choice,
    *,
    reason: str | None,
    yes: bool,
) -> None:
    ids = chosen.found(server)
    if not chosen.ids:
        many = f"{len(ids)} proposal{'' if len(ids) == 1 else 's'}"
        context.output.confirm(f"{verb.capitalize()} {many}?", yes=yes or not ids)
    decided: list[ProposalDocument] = []
    failed: list[FailedDecision] = []
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        done = _decided(server, verb, portion, reason)
        decided += done["proposals"]
        failed += done["failed"]
    _tell(context, decided, failed)


def _decided(
    server: Server, verb: str, ids: Sequence[str], reason: str | None
) -> "DecidedProposals":
    async def ask(client: "MemoryServerClient") -> "DecidedProposals":
        if verb == "approve":
            return await client.proposals.approve_all(ids, reason=reason)
        return await client.proposals.reject_all(ids, reason=reason)

    return server.ask(ask, timeout=DECIDE_SECONDS)


def _tell(
    context: CliContext,
    decided: Sequence["ProposalDocument"],
    failed: Sequence["FailedDecision"],
) -> None:
    output = context.output
    document = {"proposals": decided, "failed": failed}
    rows = [
        {
            "id": one["id"],
            "state": one["state"],
            "outcome": ", ".join(review_text.actions(one)),
            "words": review_text.row(one)["words"],
        }
        for one in decided
    ]
    output.table(rows, document=document, empty="No proposals were decided")
    for one in decided:
        for warning in one.get("warnings") or ():
            output.warning(f"{one['id']}: {warning}")
    if failed:
        raise PartlyFailed(
            f"{len(failed)} of {len(failed) + len(decided)} could not be decided",
            problems=[f"{one['id']}: {one['error']} ({one['code']})" for one in failed],
            hint=f"agentengine memory review --state any{context.trail.options}",
        )
