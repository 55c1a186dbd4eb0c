"""Secrets of a project on a server that runs elsewhere, over HTTP."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.secrets import SecretScope
from agentengine_cli.errors import CliError, PartlyFailed
from agentengine_cli.remote_errors import explain_at
from memory_server.errors import MemoryServerError

if TYPE_CHECKING:
    from memory_server.client import Applied, RuntimeDocument, SecretDocument

ROLL_SECONDS = 300.0


class NoWorkspaceSecrets(CliError):
    """The server keeps the secrets of projects only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSecrets:
    """The secrets of one project; values go there and never come back."""

    context: CliContext
    server: Server

    def set(
        self, values: Mapping[str, str], *, description: str | None
    ) -> Sequence["SecretDocument"]:
        """Set each; if one is refused, `PartlyFailed` says which were set before it."""
        done: list[SecretDocument] = []

        async def work() -> None:
            async with self.server.client(self.server.administrator) as client:
                for name, value in values.items():
                    put = client.deployment.put_secret
                    done.append(await put(name, value, description=description))

        try:
            run(work())
        except (MemoryServerError, OSError) as error:
            told = explain_at(error, self.server)
            if not done or told is None:
                raise
            raise PartlyFailed(
                f"Only {', '.join(secret['name'] for secret in done)} of {len(values)} secrets "
                f"were set: {told}",
                hint="Run the same command again: a secret that is set twice is the same",
            ) from error
        for secret in done:
            for warning in secret.get("warnings") or ():
                self.context.output.warning(f"{secret['name']}: {warning}")
        return done

    def list(self) -> Sequence[Mapping[str, Any]]:
        """Return names, versions and dates."""

        async def work() -> Sequence["SecretDocument"]:
            async with self.server.client(self.server.administrator) as client:
                return await client.deployment.secrets()

        return [dict(secret) for secret in run(work())]

    def delete(self, name: str) -> None:
        """Remove one."""

        async def work() -> None:
            async with self.server.client(self.server.administrator) as client:
                await client.deployment.delete_secret(name)

        run(work())

    def sync(self) -> None:
        """Have the server use the secrets as they are now; returns once it does."""
        output = self.context.output
        with output.status("Memory: taking the secrets") as status:
            if run(self._runtime())["config"].get("pending"):
                output.warning("the stored configuration was pending; it is put into effect too")
            status.update("Memory: replacing the services")
            applied = run(self._applied())
        for warning in applied.get("warnings") or ():
            output.warning(warning)
        output.result("the memory server has the secrets")

    async def _runtime(self) -> "RuntimeDocument":
        async with self.server.client(self.server.administrator) as client:
            return await client.deployment.runtime()

    async def _applied(self) -> "Applied":
        async with self.server.client(self.server.administrator) as client:
            return await client.deployment.apply(seconds=ROLL_SECONDS)


def check_scope(scope: SecretScope, server: Server) -> None:
    """Raise `NoWorkspaceSecrets` for another scope than the project's."""
    if scope is not SecretScope.PROJECT:
        raise NoWorkspaceSecrets(
            f"{server.url} keeps the secrets of projects only, which are the ones memory reads",
            hint="Leave --workspace-scope out",
        )
