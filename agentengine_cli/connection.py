"""The way to the memory server: which one, and as whom."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from agentengine_cli import credentials
from agentengine_cli.base_url import is_exposed, normalized
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.access import LocalServer, local_server
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.credentials import Credential, LoginToken, OwnerToken, login_command
from agentengine_cli.errors import CliError, ServerNotRunning, WrongUsage
from agentengine_cli.filelog import variable
from agentengine_cli.home import home_of, user_directory
from agentengine_cli.logins import LoginFile
from agentengine_cli.stack import NoProjectConfig
from agentengine_cli.target import (
    LOCAL,
    LocalStack,
    NoTarget,
    Target,
    TargetOptions,
    pinned_context,
    resolve,
    saved_contexts,
)

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

DEFAULT_WORKSPACE = "local"

T = TypeVar("T")


class NotLoggedIn(CliError):
    """Nothing that is known here opens that server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that is known to be meant, and one of its projects."""

    url: str
    project_id: str
    org_id: str = LOCAL
    workspace_id: str = DEFAULT_WORKSPACE
    credential: Credential | None = None
    """None: nothing that is known here opens it."""
    elsewhere: Sequence[str] = ()
    """The projects of this server that somebody is logged in for, if not for this one."""
    is_local: bool = False
    """Whether it is the stack the command was called in, and its own project."""
    is_project_named: bool = True
    """Whether something says which project: an option, a context, the local stack or a login."""
    organization: str | None = None
    """Set when service accounts of the organization are meant."""

    @property
    def administrator(self) -> Credential:
        """As whom to speak; raises `NotLoggedIn`, with the command to run."""
        if self.credential is not None:
            return self.credential
        if self.elsewhere:
            raise NotLoggedIn(
                f"Not logged in to {self.url} for project {self.project_id}; you are for "
                f"{', '.join(self.elsewhere)}",
                hint=f"{login_command(self.url)} --project-id {self.project_id}",
            )
        raise NotLoggedIn(
            f"Not logged in to {self.url}",
            hint=f"{login_command(self.url)}; or set AGENTENGINE_CLIENT_ID and "
            "AGENTENGINE_CLIENT_SECRET, or AGENTENGINE_OWNER_TOKEN",
        )

    def client(
        self, token: str | Credential | None, *, timeout: float = 30.0
    ) -> "MemoryServerClient":
        """Return a client that shows the token."""
        from memory_server.client import MemoryServerClient  # noqa: PLC0415 - HTTP is slow to load

        return MemoryServerClient(
            self.url,
            project_id=self.project_id,
            token=token,
            timeout=timeout,
            administers_project=not self.is_local,
            organization=self.organization,
        )

    def ask(
        self,
        question: "Callable[[MemoryServerClient], Coroutine[Any, Any, T]]",
        *,
        timeout: float = 30.0,
    ) -> T:
        """Ask one thing as its administrator, and return the answer."""

        async def asked() -> T:
            async with self.client(self.administrator, timeout=timeout) as client:
                return await question(client)

        return run(asked())

    def __str__(self) -> str:
        where = "the local stack" if self.is_local else f"project {self.project_id}"
        if self.organization is not None:
            where = f"organization {self.organization}"
        return f"{where} at {self.url}"


def local(context: CliContext) -> Server:
    """Return the running server of the stack the command was called in."""
    return _met(context, _server(local_server(context.start)))


def reach(
    context: CliContext, options: TargetOptions, *, command: str, workspace: str | None = None
) -> Server:
    """Return the server the options, the directory pin or the local stack name; says which.

    Raises what `target.resolve` raises; that nobody is logged in is told where it matters.
    """
    context.trail.options = str(options)
    pinned = pinned_context(context.start)
    if not (options.context or options.explicit or pinned):
        server = _local_or_told(context, command)
    else:
        target = resolved(context, options, command=command)
        server = at(context, target)
        context.output.note(f"Target: {target}")
    return replace(server, workspace_id=workspace) if workspace else server


def resolved(
    context: CliContext,
    options: TargetOptions,
    *,
    command: str,
    local: LocalStack | None = None,
) -> Target:
    """Return the target the options, the pin of this directory, or `local` name."""
    return resolve(
        completed(context, options),
        command=command,
        contexts=saved_contexts(home_of(context.environ)),
        pinned=pinned_context(context.start),
        local=local,
    )


def completed(context: CliContext, options: TargetOptions) -> TargetOptions:
    """Return the options with the address in its one spelling.

    AGENTENGINE_API_BASE_URL stands in for --base-url where both other ids are named.
    """
    base_url = options.base_url
    if not base_url and options.org_id and options.project_id:
        base_url = variable(context.environ, "API_BASE_URL")
    return replace(options, base_url=normalized(base_url) if base_url else None)


def at(context: CliContext, target: Target) -> Server:
    """Return the server of a target that is not the unnamed local stack."""
    assert target.base_url is not None, "only a local stack has none"
    found = remote(
        context,
        normalized(target.base_url),
        project_id=target.project_id,
        org_id=target.org_id,
    )
    return replace(found, workspace_id=target.workspace_id or DEFAULT_WORKSPACE)


def remote(
    context: CliContext, base_url: str, *, project_id: str | None, org_id: str | None = None
) -> Server:
    """Return a server by its address; the local stack's own token opens it if it is that."""
    here = running_here(context)
    if here is not None and here.url == base_url:
        is_own = project_id in {None, here.project_id} and org_id in {None, LOCAL}
        server = replace(_server(here), is_local=is_own, project_id=project_id or here.project_id)
        return _met(context, replace(server, org_id=org_id or LOCAL))
    directory = user_directory(context.environ)
    credential = credentials.find(
        context.environ,
        base_url=base_url,
        project_id=project_id,
        directory=directory,
        clock=SystemClock(),
    )
    if credential is not None and is_exposed(base_url):
        context.output.warning(f"{base_url} is not encrypted: others may read what is sent to it")
    logins = [] if credential else LoginFile(directory=directory).of(base_url)
    login = credential.login if isinstance(credential, LoginToken) else None
    server = Server(
        url=base_url,
        project_id=project_id or (login and login.project_id) or LOCAL,
        org_id=org_id or (login and login.org_id) or LOCAL,
        credential=credential,
        elsewhere=[login.project_id for login in logins if login.project_id],
        is_project_named=bool(project_id or (login and login.project_id)),
    )
    return _met(context, server)


def platform(
    context: CliContext,
    *,
    command: str,
    base_url: str | None = None,
    context_name: str | None = None,
    project_id: str | None = None,
) -> Server:
    """Return the server a command about projects means; no project has to be named for that.

    The first of: --base-url; --context; AGENTENGINE_API_BASE_URL; the directory pin; the local
    stack that runs here; the only server somebody is logged in to. Raises `NoTarget` if there is
    none of them.
    """
    if base_url and context_name:
        raise WrongUsage("--context and --base-url exclude each other")
    if base_url is None and context_name is None:
        base_url = variable(context.environ, "API_BASE_URL")
    pinned = pinned_context(context.start)
    if base_url is None and (context_name or pinned):
        target = resolved(context, TargetOptions(context=context_name), command=command)
        server = at(context, target)
        server = replace(server, project_id=project_id or server.project_id)
    else:
        server = remote(
            context,
            normalized(base_url) if base_url else _only_server(context, command),
            project_id=project_id,
        )
    context.trail.options = f" --base-url {server.url}" if not server.is_local else ""
    return _met(context, server)


def running_here(context: CliContext) -> LocalServer | None:
    """Return the server of the stack the command was called in, if there is one and it runs."""
    try:
        return local_server(context.start)
    except (NoProjectConfig, ServerNotRunning):
        return None


def known_servers(context: CliContext) -> Sequence[str]:
    """Return the servers somebody is logged in to."""
    logins = LoginFile(directory=user_directory(context.environ)).all()
    return list(dict.fromkeys(login.base_url for login in logins))


def _only_server(context: CliContext, command: str) -> str:
    here = running_here(context)
    known = [here.url] if here is not None else known_servers(context)
    if len(known) == 1:
        return known[0]
    several = f"You are logged in to {', '.join(known)}" if known else "You are not logged in"
    raise NoTarget(
        f"No server is named, and none runs here. {several}",
        hint=f"agentengine {command} --base-url URL",
    )


def _local_or_told(context: CliContext, command: str) -> Server:
    try:
        return local(context)
    except NoProjectConfig:
        contexts = saved_contexts(home_of(context.environ))
        if not contexts and not known_servers(context):
            raise
        names = ", ".join(saved.name for saved in contexts)
        raise NoTarget(
            "No project is named, no context is pinned here, and there is no local stack",
            hint=f"agentengine {command} --context NAME; saved are: {names}"
            if names
            else "agentengine context create NAME --base-url URL --project-id ID",
        ) from None


def _server(found: LocalServer) -> Server:
    token = OwnerToken(value=found.owner_token, source="of the local stack")
    return Server(url=found.url, project_id=found.project_id, credential=token, is_local=True)


def _met(context: CliContext, server: Server) -> Server:
    """Remember the server, so that an error can be explained by it."""
    context.trail.server = server
    return server
