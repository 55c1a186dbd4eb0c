"""invoke: ask the agent once, or talk with it."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli import agent, chat, connection
from agentengine_cli.agent import Account, Conversation
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    WorkspaceIdOption,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current, run
from agentengine_cli.credentials import Kind, environment_is_for
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, not_blank
from agentengine_cli.target import TargetOptions


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("invoke")(invoke)


def invoke(
    ctx: typer.Context,
    message: Annotated[
        str | None, typer.Argument(metavar="MESSAGE", help="What to say; - is standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Say what the file says.")
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help="An object handed to the agent; without a MESSAGE, it is said."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on in this session.", callback=not_blank)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a suspended execution; needs --session.")
    ] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show the answer as it comes.")] = False,
    timeout: Annotated[str, typer.Option(metavar="SPAN", help="How long to wait.")] = "10m",
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="Who speaks.", callback=not_blank),
    ] = None,
    service_account: Annotated[
        str | None,
        typer.Option(
            metavar="CLIENT_ID",
            help="Speak as this account, its secret being in AGENTENGINE_CLIENT_SECRET.",
            callback=not_blank,
        ),
    ] = None,
    client_secret_stdin: Annotated[
        bool, typer.Option("--client-secret-stdin", help="Read the secret from standard input.")
    ] = False,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace",
            metavar="NAME",
            help="The workspace, by its name.",
            callback=not_blank,
        ),
    ] = None,
    workspace_id: WorkspaceIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the agent; without a message, on a terminal, talk with it.

    agentengine invoke "What do I like?" --user-id ana --session s1
    """
    context = current(ctx)
    _check_resume(resume, session, [message, file])
    given = _payload(payload)
    said = _said(context, message, file, payload=payload, secret_on_stdin=client_secret_stdin)
    options = TargetOptions(
        context=context_name,
        base_url=base_url,
        org_id=org_id,
        project_id=project_id,
        workspace_id=workspace_id,
    )
    secret = _client_secret(from_stdin=client_secret_stdin)
    server = connection.reach(context, options, command="invoke", workspace=workspace)
    account = _account(context, server, service_account, secret)
    _check_speaker(server, account, user_id)
    conversation = Conversation(
        server=server,
        output=context.output,
        account=account,
        user_id=user_id,
        session_id=agent.checked_session(session),
        payload=given,
        timeout=parse_seconds(timeout, option="--timeout"),
    )
    if said is None:
        chat.talk(conversation)
    else:
        _ask_once(context, conversation, said, streamed=stream)


def _ask_once(
    context: CliContext, conversation: Conversation, said: str, *, streamed: bool
) -> None:
    answer = run(conversation.ask(said, streamed=streamed))
    if context.output.as_json:
        context.output.document(answer)
        return
    context.output.result("" if streamed else answer["response"])
    context.output.note(f"Session: {conversation.session_id}")


def _check_resume(resume: bool, session: str | None, said: list[str | Path | None]) -> None:
    if not resume:
        return
    if session is None:
        raise WrongUsage("--resume needs --session")
    if any(said):
        raise WrongUsage("--resume excludes a message, --file and standard input")
    raise CliError(
        f"There is nothing to resume in session {session}: an agent here runs to its end",
        hint=f'agentengine invoke "..." --session {session}',
        code="NOT_SUSPENDED",
    )


def _said(
    context: CliContext,
    message: str | None,
    file: Path | None,
    *,
    payload: str | None,
    secret_on_stdin: bool,
) -> str | None:
    """Return what is to be said; None: somebody sits at a terminal and wants to talk.

    A payload without a message is said itself: an agent that takes an object needs no words.
    """
    if message is not None and file is not None:
        raise WrongUsage("A message and --file exclude each other")
    if message is None and file is None and payload is not None:
        message = payload
    if secret_on_stdin and (message == "-" or (message is None and file is None)):
        raise WrongUsage("--client-secret-stdin leaves standard input to the secret: say a message")
    if file is not None:
        return _checked(_decoded(file.read_bytes(), str(file)), str(file))
    if message not in (None, "-"):
        return _checked(message, "MESSAGE")
    if message is None and _on_terminal():
        if context.output.as_json:
            raise WrongUsage("A conversation cannot be JSON: say a message with --json")
        return None
    return _checked(_decoded(_standard_input(), "standard input"), "standard input")


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _standard_input() -> bytes:
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _decoded(text: bytes, source: str) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"{source}: byte {error.start + 1} is not UTF-8", code="NOT_UTF8") from error


def _checked(said: str | None, source: str) -> str:
    if said is None or not said.strip():
        raise WrongUsage(
            f"There is nothing to say: {source} is empty",
            hint='agentengine invoke "What do I like?" --user-id ID',
        )
    return said.strip()


def _payload(text: str | None) -> Mapping[str, Any] | None:
    try:
        return chat.parse_payload(text) if text is not None else None
    except ValueError as error:
        raise WrongUsage(f"--payload: {error}") from error


def _client_secret(*, from_stdin: bool) -> str | None:
    if not from_stdin:
        return None
    secret = _decoded(_standard_input(), "standard input").strip()
    if not secret:
        raise WrongUsage("--client-secret-stdin: standard input is empty")
    return secret


def _account(
    context: CliContext, server: Server, client_id: str | None, secret: str | None
) -> Account | None:
    """Return the service account to speak as; the environment's only to whom it is meant for."""
    is_meant = environment_is_for(context.environ, server.url)
    environ = context.environ if is_meant else {}
    return agent.account_from(environ, client_id=client_id, secret=secret)


def _check_speaker(server: Server, account: Account | None, user_id: str | None) -> None:
    """Raise `WrongUsage` if nobody says whose memory it is: the owner of a server is no user."""
    is_owner = server.administrator.kind is Kind.OWNER_TOKEN if account is None else False
    if is_owner and user_id is None:
        raise WrongUsage(
            "Nobody is named whose memory this is",
            hint="Add --user-id ID, or --service-account CLIENT_ID with its secret in "
            "AGENTENGINE_CLIENT_SECRET",
        )
