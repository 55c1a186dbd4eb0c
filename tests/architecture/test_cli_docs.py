"""docs/reference/cli.md says what the commands say.

`python -m tests.architecture.test_cli_docs` writes it anew.
"""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main

from agentengine_cli import front
from agentengine_cli.errors import ExitCode
from agentengine_cli.filelog import LEVELS
from agentengine_cli.front import app
from agentengine_cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
INTRODUCTION = """# The command line

Every command answers on stdout and says everything else on stderr. With `--json` stdout gets
exactly one JSON document, nothing is ever asked, and a failure is one JSON object on stderr:
`{"error": {"code", "message", "hint", "problems"?, "warnings"?}}`. One command answers on stdout
even when it ends with 1, because the answer is what it was asked for: `memory validate --json`
prints `{"valid", "path", "problems"}` of an invalid file too.

| exit code | meaning |
|---|---|
| 0 | done, or the reader of a pipe has seen enough |
| 1 | failed, or refused |
| 2 | wrong usage; nothing was changed |
| 3 | `memory flush`: what could be done is done, and jobs wait for longer than the command: for a budget that is spent, a model that is left alone, or another try |
| 130 | interrupted |

| variable | meaning |
|---|---|
| `AGENTENGINE_NO_LOG` | `1`, `true`, `yes` or `on`: keep no log |
| `AGENTENGINE_LOG_FILE` | where the log goes; default `~/.local/state/agentengine/agentengine.log`, below `XDG_STATE_HOME` if that is set |
| `AGENTENGINE_LOG_LEVEL` | `error`, `warn`, `info` (default) or `debug` |
| `AGENTENGINE_LOG_MAX_FILES` | how many files of a megabyte are kept, 3 by default |
| `AGENTENGINE_OWNER_TOKEN` | the owner token of a server that runs elsewhere |
| `AGENTENGINE_CLIENT_ID`, `AGENTENGINE_CLIENT_SECRET` | the service account to speak as |
| `AGENTENGINE_API_BASE_URL` | the server that is meant where only `--base-url` is missing; the credentials above go to that server only |
| `AGENTENGINE_PASSWORD`, `AGENTENGINE_REFRESH_TOKEN` | read by `auth login` |
| `AGENTENGINE_AUTH_FILE` | where logins are kept; default `~/.agentengine/auth.json` |
| `SSL_CERT_FILE` | the issuers whose certificates are trusted |
| `NO_COLOR` | no colours |

The same names with the older prefix `AGENTIC_` are read too; the newer one wins.

Which project a command means is the first of: `--context NAME`, or a whole set of `--base-url`,
`--org-id` and `--project-id`; the context the agent's directory is pinned to; the local stack. It
is said on stderr.

As whom a command speaks: to the local stack, as its owner. To any other server, as the first of:

1. `AGENTENGINE_OWNER_TOKEN`
2. `AGENTENGINE_CLIENT_ID` with `AGENTENGINE_CLIENT_SECRET`
3. the login that `auth login` kept for the project, or one that is tied to no project

`invoke` is the exception: it speaks as a service account that is named, to any server, before
everything else. A login is renewed by itself, for all commands at once, until it is ended by `auth
logout` or by the server. `~/.agentengine/` holds `auth.json` and `contexts.json`, readable by their
owner only.

A first server takes port 8080 if that is free, else any, and keeps its port while it can. `--port`
chooses one, and so does a file `dev.yaml` beside agent.yaml, or beside project-config.yaml where
there is no agent:

```yaml
services:
  memory:
    port: 8123
```

This page is written by the commands themselves: `python -m tests.architecture.test_cli_docs`.
"""  # noqa: E501 - rows of a table


def paths() -> Iterator[tuple[str, ...]]:
    """Yield every command and group, as words after `agentengine`."""
    root = typer.main.get_command(app)
    waiting: list[tuple[tuple[str, ...], object]] = [((), root)]
    while waiting:
        words, command = waiting.pop(0)
        yield words
        below = getattr(command, "commands", {})
        waiting[:0] = [((*words, name), sub) for name, sub in below.items() if not sub.hidden]


def commands() -> Iterator[tuple[str, ...]]:
    """Yield every command that is no group."""
    every = list(paths())
    yield from (words for words in every if not any(words == other[:-1] for other in every))


@cache
def help_of(words: tuple[str, ...]) -> str:
    """Return what a command says about itself, as on a terminal of 100 columns."""
    said = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    try:
        with contextlib.redirect_stdout(said):
            assert main([*words, "--help"], {}) == ExitCode.OK
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return said.getvalue().strip()


def page() -> str:
    """Return the whole reference."""
    chapters = [
        f"{'##' if len(words) < 2 else '###'} {' '.join(('agentengine', *words))}\n\n"
        f"```text\n{help_of(words)}\n```\n"
        for words in paths()
    ]
    return "\n".join([INTRODUCTION, *chapters])


def test_the_reference_says_what_the_commands_say() -> None:
    fresh = "write it anew with python -m tests.architecture.test_cli_docs"

    assert PAGE.read_text(encoding="utf-8") == page(), fresh


@pytest.mark.parametrize("words", list(paths()), ids=" ".join)
def test_every_command_says_what_it_is_for_within_its_page(words: tuple[str, ...]) -> None:
    purpose = help_of(words).split("\n\n")[1].strip()

    assert purpose.split("\n")[0][0].isupper()
    assert max(len(line) for line in help_of(words).splitlines()) <= 100


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_the_help_of_every_command_has_an_example(words: tuple[str, ...]) -> None:
    usage, _, rest = help_of(words).partition("\n")

    assert usage.startswith("Usage: ")
    assert f"agentengine {' '.join(words)}" in rest


def test_every_command_that_is_hinted_at_exists() -> None:
    known = set(paths())
    groups = {words[:-1] for words in known}
    sources = Path(front.__file__).parent.rglob("*.py")

    hinted = {
        (first, second) if second and (first,) in groups else (first,)
        for source in sources
        for first, second in re.findall(
            r"agentengine ([a-z][a-z-]+) ?([a-z-]*)", source.read_text(encoding="utf-8")
        )
    }

    assert {words for words in hinted if words not in known} == set()


def test_the_page_names_every_exit_code_and_log_level() -> None:
    for code in ExitCode:
        assert f"| {code.value} |" in INTRODUCTION
    for level in LEVELS:
        assert f"`{level}`" in INTRODUCTION


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
