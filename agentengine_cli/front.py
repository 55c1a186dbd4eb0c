"""One command from its words to its exit code; nothing that goes wrong passes."""

import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import typer
import typer.main

from agentengine_cli import groups
from agentengine_cli.commands import completion
from agentengine_cli.context import CliContext
from agentengine_cli.errors import CliError, ExitCode, Interrupted, WrongUsage
from agentengine_cli.filelog import FileLog, default_path, logger
from agentengine_cli.output import Output, ReaderGone
from agentengine_cli.remote_errors import explain_at

app = groups.build()
_SURPLUS = re.compile(r"(?s)^(Got unexpected extra arguments?|No such option|Invalid value).*")
"""What the parser says about words it does not expect, and quotes."""


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    environ = os.environ if environ is None else environ
    context = CliContext(
        output=Output(as_json=_wants_json(arguments)),
        log=FileLog.from_environment(environ),
        environ=environ,
    )
    try:
        return _guarded(arguments, context)
    except ReaderGone:  # who has seen enough: no failure, not even under `pipefail`
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the exit
        return ExitCode.OK
    finally:
        context.log.close()


def _guarded(arguments: Sequence[str], context: CliContext) -> int:
    """Run the command; nothing that goes wrong passes this line, but that nobody reads it."""
    try:
        code = _invoke(arguments, context)
        context.output.finish()
    except ReaderGone:
        raise
    except SystemExit as ended:
        broken = ended.__context__
        if not isinstance(broken, BrokenPipeError):
            return _code(ended.code)
        if _is_of_the_parser(broken):
            raise ReaderGone from broken
        return _ended(broken, context)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - no traceback for the user
        return _ended(error, context)
    return code if code != ExitCode.INTERRUPTED else _ended(KeyboardInterrupt(), context)


def _is_of_the_parser(error: BrokenPipeError) -> bool:
    """Tell whether nobody reads what the parser writes itself, which is help and versions.

    It ends with 1 whichever pipe breaks, that of a connection too.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("typer.")


def _ended(error: BaseException, context: CliContext) -> int:
    """Tell the error and return the exit code; a group without a command shows its help."""
    if isinstance(error, typer.TyperException):
        message = error.format_message()
        if message.startswith("Usage: "):
            context.output.result(message)
            context.output.finish()
            return ExitCode.OK
        where = getattr(getattr(error, "ctx", None), "command_path", "agentengine")
        if where.startswith("agentengine secret "):
            message = _SURPLUS.sub(r"\1 (not shown, in case it is a value)", message)
        message = message.replace(": Value error, ", ": ")  # what the parser's library puts before
        told: CliError = WrongUsage(message, hint=f"{where} --help")
    elif isinstance(error, KeyboardInterrupt | typer.Abort):
        told = Interrupted("Interrupted")
    else:
        assert isinstance(error, Exception)
        told = explain_at(error, context.trail.server) or _defect(error, context)
    context.log.start()
    context.output.error(told)
    return told.exit_code


def _invoke(arguments: Sequence[str], context: CliContext) -> int:
    if completion.VARIABLE in context.environ:
        asked = groups.build(completing=True)
        completion.answered(context.environ, lambda: asked([], prog_name="agentengine"))
    returned: Any = _parser()(
        list(arguments), obj=context, prog_name="agentengine", standalone_mode=False
    )
    return _code(returned)


@cache
def _parser() -> Any:
    """Return the parser of every command: made once a process, because it takes its time."""
    return typer.main.get_command(app)


def _code(given: Any) -> int:
    return given if isinstance(given, int) else ExitCode.OK


def _wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether even an error of usage is to be told in JSON."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _defect(error: Exception, context: CliContext) -> CliError:
    context.log.start()
    trace = "".join(traceback.format_exception(error))
    logger.error("%s", trace)
    if context.output.verbosity > 1:
        context.output.note(trace)
    kept = context.log.enabled and not context.log.problem
    log = context.log.path or default_path(context.environ)
    return CliError(
        f"This is a defect in agentengine ({type(error).__name__})",
        hint=f"The details are in {log}" if kept else "Run it again with -vv to see the details",
        code="INTERNAL",
    )
