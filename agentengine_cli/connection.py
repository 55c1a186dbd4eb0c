"""The way to the memory server: which one, and with whose token."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentengine_cli.context import CliContext
from agentengine_cli.control.access import LocalServer, local_server
from agentengine_cli.errors import CliError
from agentengine_cli.filelog import variable
from agentengine_cli.target import (
    LocalStack,
    Target,
    TargetOptions,
    pinned_context,
    resolve,
    saved_contexts,
)

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

DEFAULT_WORKSPACE = "local"


class NoOwnerToken(CliError):
    """The command administers a server whose owner token is not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that is known to be meant."""

    url: str
    project_id: str
    workspace_id: str = DEFAULT_WORKSPACE
    owner_token: str | None = field(default=None, repr=False)

    @property
    def administrator(self) -> str:
        """The token that administration needs."""
        if self.owner_token is None:
            raise NoOwnerToken(
                f"The owner token of {self.url} is not known here",
                hint="Set AGENTENGINE_OWNER_TOKEN, or run it in that server's project directory",
            )
        return self.owner_token

    def client(self, token: str | None, *, timeout: float = 30.0) -> "MemoryServerClient":
        """Return a client that shows the token."""
        from memory_server.client import MemoryServerClient  # noqa: PLC0415 - HTTP is slow to load

        return MemoryServerClient(
            self.url, project_id=self.project_id, token=token, timeout=timeout
        )


def local(context: CliContext) -> Server:
    """Return the running server of the stack the command was called in."""
    return _server(local_server(context.start))


def reach(
    context: CliContext, options: TargetOptions, *, command: str, workspace: str | None = None
) -> Server:
    """Return the server the options, the directory pin or the local stack name."""
    server = _reached(context, options, command)
    return replace(server, workspace_id=workspace) if workspace else server


def _reached(context: CliContext, options: TargetOptions, command: str) -> Server:
    pinned = pinned_context(context.start)
    if not (options.context or options.explicit or pinned):
        return local(context)
    target = resolve(
        options,
        command=command,
        contexts=saved_contexts(Path(context.environ.get("HOME") or Path.home())),
        pinned=pinned,
        local=LocalStack(),
    )
    context.output.info(f"Target: {target}")
    return _remote(target, context)


def _server(found: LocalServer) -> Server:
    return Server(url=found.url, project_id=found.project_id, owner_token=found.owner_token)


def _remote(target: Target, context: CliContext) -> Server:
    assert target.base_url is not None, "only a local stack has none"
    return Server(
        url=target.base_url.rstrip("/"),
        project_id=target.project_id,
        workspace_id=target.workspace_id or DEFAULT_WORKSPACE,
        owner_token=_given_token(context.environ) or _same_machine(target, context),
    )


def _given_token(environ: Mapping[str, str]) -> str | None:
    return variable(environ, "OWNER_TOKEN")


def _same_machine(target: Target, context: CliContext) -> str | None:
    """Return the local stack's token if it is the local stack that was named."""
    try:
        found = local_server(context.start)
    except CliError:
        return None
    same = (found.url, found.project_id) == ((target.base_url or "").rstrip("/"), target.project_id)
    return found.owner_token if same else None
