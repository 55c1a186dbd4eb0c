"""Whether a deployment lets a server in, asked before the server that runs is stopped."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Protocol

from agentengine_cli.errors import CliError

COMMAND = (sys.executable, "-m", "memory_server.storage.mongo")
REFUSED = 1
"""Its exit code for what a person has to mend; what may pass is left to the server to wait for."""
SECONDS = 30.0


class DatabaseRefused(CliError):
    """The deployment that MONGODB_URI names cannot be used as it is."""


class DatabaseCheck(Protocol):
    """Asks with the environment that a server would be given."""

    def __call__(self, environ: Mapping[str, str]) -> None:
        """Return, or raise `DatabaseRefused` with what is to be mended."""
        ...


def check(environ: Mapping[str, str]) -> None:
    """Ask in a process of its own: the command line carries no driver."""
    if "MONGODB_URI" not in environ:
        return
    try:
        done = subprocess.run(  # noqa: S603 our own words
            COMMAND, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return
    told = done.stderr.strip().splitlines()
    if done.returncode == REFUSED and told:
        raise DatabaseRefused(
            f"Nothing was stopped or started: {told[-1]}",
            hint="agentengine secret set MONGODB_URI, or mend the deployment; then the same again",
        )
