"""service-account: the identities of programs."""

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli import connection
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current, run
from agentengine_cli.control.clock import Clock, SystemClock
from agentengine_cli.credentials import LoginToken
from agentengine_cli.durations import parse_hours
from agentengine_cli.errors import WrongUsage
from agentengine_cli.options import JsonOption, not_blank

if TYPE_CHECKING:
    from memory_server.client import AccountDocument, IssuedAccount, MemoryServerClient

PROJECT_ROLES = ("PROJECT_OWNER", "PROJECT_READ_ONLY", "AGENT_DEVELOPER")
FORMER_ROLES = {"PROJECT_MEMBER": "PROJECT_READ_ONLY", "ORG_ADMIN": "ORG_GROUP_CREATOR"}
ORGANIZATION_ROLES = ("ORG_GROUP_CREATOR", "ORG_READ_ONLY")
ROLES = (*PROJECT_ROLES, *ORGANIZATION_ROLES)

ROTATION_GRACE = timedelta(days=7)
"""How long the server lets a rotated secret live."""

app = typer.Typer(name="service-account", help="The identities of programs.", no_args_is_help=True)

ClientId = Annotated[
    str, typer.Argument(metavar="CLIENT_ID", help="The account.", callback=not_blank)
]
ExpiresOption = Annotated[
    str, typer.Option("--secret-expires-in", metavar="HOURS", help="Whole hours, such as 2160h.")
]


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is for.", callback=not_blank)
    ],
    role: Annotated[str, typer.Option(metavar="ROLE", help=f"One of {', '.join(ROLES)}.")],
    description: Annotated[str, typer.Option(metavar="TEXT", help="A note.")] = "",
    ip_access_list: Annotated[
        str, typer.Option(metavar="A,B", help="Addresses or networks it may call from.")
    ] = "",
    expires_in: ExpiresOption = "2160h",
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a service account; its secret is shown this once.

    agentengine service-account create ci --role AGENT_DEVELOPER
    """
    context = current(ctx)
    wanted = _role(role, context)
    addresses = _addresses(ip_access_list)
    hours = parse_hours(expires_in, option="--secret-expires-in")
    server = _server(ctx, base_url, context_name, org_id, project_id)
    _check_role(wanted, server)

    async def work() -> "IssuedAccount":
        async with server.client(server.administrator) as client:
            issued = await client.create_account(
                name=name, role=wanted, description=description, secret_expires_after_hours=hours
            )
            return await _restricted(client, issued, addresses) if addresses else issued

    _issue(context, server, run(work()))


@app.command(name="list")
def list_accounts(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=0, help="How many; 0 means all.")] = 0,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the service accounts; never their secrets.

    agentengine service-account list --json
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name, org_id, project_id)

    accounts = server.ask(lambda client: client.accounts())
    shown = accounts[:limit] if limit else accounts
    context.output.table(
        [account | {"role": account.get("roles")} for account in map(dict, shown)],
        columns=("client_id", "name", "role", "is_active", "created_at"),
        document={"service_accounts": shown, "total": len(accounts)},
        empty="No service accounts",
    )


@app.command()
def get(
    ctx: typer.Context,
    client_id: ClientId,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one service account; never its secret.

    agentengine service-account get CLIENT_ID
    """
    server = _server(ctx, base_url, context_name, org_id, project_id)

    current(ctx).output.record(server.ask(lambda client: client.account(client_id)))


@app.command()
def rotate(
    ctx: typer.Context,
    client_id: ClientId,
    expires_in: ExpiresOption = "2160h",
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give it a new secret; the former one stays valid for up to seven days.

    agentengine service-account rotate CLIENT_ID

    Rotating again ends the former secret at once.
    """
    context = current(ctx)
    hours = parse_hours(expires_in, option="--secret-expires-in")
    server = _server(ctx, base_url, context_name, org_id, project_id)

    async def work() -> "tuple[AccountDocument, IssuedAccount]":
        async with server.client(server.administrator) as client:
            former = await client.account(client_id)
            issued = await client.rotate_account(client_id, secret_expires_after_hours=hours)
            return former, issued

    former, issued = run(work())
    until = former_until(former, SystemClock())
    _issue(context, server, issued)
    context.output.note(f"\nThe former secret stays valid until {until}")


@app.command()
def delete(
    ctx: typer.Context,
    client_id: ClientId,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove it for good, at once; its tokens are refused from the next request on.

    agentengine service-account delete CLIENT_ID
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name, org_id, project_id)

    server.ask(lambda client: client.delete_account(client_id))
    context.output.record({"client_id": client_id, "deleted": True})
    context.output.note("Its tokens are refused from now on; this cannot be undone")


def _server(
    ctx: typer.Context,
    base_url: str | None,
    context_name: str | None,
    org_id: str | None,
    project_id: str | None,
) -> Server:
    """Return the server, and whose accounts are meant: the project's, or the organization's.

    One of the two ids says which; with neither it is the project of the context, of the local
    stack or of the login, else the organization of the login.
    """
    context = current(ctx)
    if org_id and project_id:
        raise WrongUsage(
            "--org-id and --project-id exclude each other: an account is the project's or the "
            "organization's",
            hint=f"agentengine {ctx.command_path.partition(' ')[2]} --project-id {project_id}",
        )
    if context_name and (org_id or project_id):
        raise WrongUsage("--context and --org-id or --project-id exclude each other")
    server = connection.platform(
        context,
        command=ctx.command_path.partition(" ")[2],
        base_url=base_url,
        context_name=context_name,
        project_id=project_id,
    )
    if org_id or not server.is_project_named:
        server = replace(server, organization=org_id or _own_organization(server))
    context.output.note(f"Target: {server}")
    return server


def _own_organization(server: Server) -> str:
    """Return the organization of the login; raises `WrongUsage` if it names none."""
    login = server.credential.login if isinstance(server.credential, LoginToken) else None
    if login is None or login.org_id is None:
        raise WrongUsage("Name the project, --project-id ID, or the organization, --org-id ID")
    return login.org_id


def former_until(former: "AccountDocument", clock: Clock) -> str:
    """Return the end of the grace, or of the former secret if it expires before."""
    grace = clock.now() + ROTATION_GRACE
    expires = former.get("secret_expires_at")
    end = min(grace, datetime.fromisoformat(expires)) if expires else grace
    return end.astimezone(UTC).isoformat(sep=" ", timespec="minutes")


def _role(given: str, context: CliContext) -> str:
    role = FORMER_ROLES.get(given, given)
    if role != given:
        context.output.warning(f"--role {given} is an older spelling of {role}")
    if role not in ROLES:
        raise WrongUsage(f"--role: expected one of {', '.join(ROLES)}, found {given!r}")
    return role


def _check_role(role: str, server: Server) -> None:
    """Raise `WrongUsage` for a project's role in an organization, and the other way round."""
    fitting = PROJECT_ROLES if server.organization is None else ORGANIZATION_ROLES
    if role in fitting:
        return
    if server.organization is None:
        raise WrongUsage(
            f"--role: {role} is an organization's; a project has {', '.join(fitting)}",
            hint="Name the organization: --org-id ID",
        )
    raise WrongUsage(
        f"--role: {role} is a project's; an organization has {', '.join(fitting)}",
        hint="Name the project: --project-id ID",
    )


def _addresses(text: str) -> Sequence[str]:
    found = [part.strip() for part in text.split(",") if part.strip()]
    for address in found:
        try:
            ipaddress.ip_network(address)
        except ValueError as error:
            raise WrongUsage(f"--ip-access-list: {error}") from error
    return found


async def _restricted(
    client: "MemoryServerClient", issued: "IssuedAccount", addresses: Sequence[str]
) -> "IssuedAccount":
    """Set the list; an account that could call from anywhere must not be left behind."""
    account = issued["service_account"]["client_id"]
    try:
        restricted = await client.set_ip_access_list(account, addresses)
    except BaseException:
        await client.delete_account(account)
        raise
    return {"client_secret": issued["client_secret"], "service_account": restricted}


def _issue(context: CliContext, server: Server, issued: "IssuedAccount") -> None:
    """Show the secret, the one time it can be shown, and how it becomes a token."""
    output = context.output
    if output.as_json:
        output.document(issued)
        return
    account = issued.get("service_account") or {}
    fields = {"client_id": account.get("client_id"), "client_secret": issued["client_secret"]}
    output.record(fields | {"name": account.get("name"), "roles": account.get("roles")})
    output.warning("The secret is shown only now; keep it where secrets are kept")
    output.note(_example(server.url))


def _example(url: str) -> str:
    return (
        "\nA token, valid for an hour:\n"
        f"  curl -s {url}/api/v1/oauth/token -d grant_type=client_credentials \\\n"
        '    -d client_id="$AGENTENGINE_CLIENT_ID" -d client_secret="$AGENTENGINE_CLIENT_SECRET"\n'
        "\nOr let the command line do it:\n"
        '  agentengine invoke "Hello"   # with both variables set'
    )
