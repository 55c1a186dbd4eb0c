"""What every stage of an evaluation may be told, and the suite that comes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli.errors import WrongUsage

OUT = Path("evaluation")
"""Where an evaluation lies unless it is said."""
DATA = "What is measured"
HOW = "How it is measured"
SERVER = "On which server"


def option_of(panel: str, *names: str, metavar: str, help: str, **more: Any) -> Any:
    """Return an option under a heading of the help."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


SuiteOption = Annotated[
    Path | None,
    option_of(DATA, "--suite", metavar="FILE", help="A suite.yaml; options go before it."),
]
DatasetOption = Annotated[
    str | None, option_of(DATA, "--dataset", metavar="NAME", help="locomo, longmemeval or own.")
]
DataOption = Annotated[
    Path | None, option_of(DATA, "--data", metavar="PATH", help="The data's file.")
]
OnlyOption = Annotated[
    str | None,
    option_of(
        DATA,
        "--only",
        metavar="NAMES",
        help="Only these, with commas between: conversations, or LongMemEval's questions or types.",
    ),
]
LimitOption = Annotated[
    int | None, option_of(DATA, "--limit", metavar="N", help="Only the first conversations.", min=1)
]
AuditOption = Annotated[
    Path | None,
    option_of(
        DATA, "--audit", metavar="FILE", help="Corrections to LoCoMo's answers and evidence."
    ),
]
KnownErrorsOption = Annotated[
    bool | None,
    typer.Option(
        "--without-known-errors",
        help="Leave out LongMemEval's questions whose gold is known to be wrong.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
PipelineOption = Annotated[
    str | None,
    option_of(HOW, "--pipeline", metavar="NAME", help="turns, blocks, extracted or mixed."),
]
ModeOption = Annotated[
    str | None,
    option_of(
        HOW,
        "--mode",
        metavar="NAMES",
        help="hybrid, text, semantic; several with commas between.",
    ),
]
KOption = Annotated[
    str | None,
    option_of(HOW, "--k", metavar="LIST", help="How many items are looked at; default 5,10,20."),
]
DepthOption = Annotated[
    int | None,
    option_of(HOW, "--depth", metavar="N", help="How many items a search asks for; default 50."),
]
RerankOption = Annotated[
    bool | None,
    typer.Option(
        "--rerank",
        help="Have the server rerank what mixed finds.",
        rich_help_panel=HOW,
        show_default=False,
    ),
]
ReaderOption = Annotated[
    str | None,
    option_of(HOW, "--reader", metavar="NAMES", help="extractive (default), model, or none."),
]
ModelOption = Annotated[
    str | None,
    option_of(HOW, "--model", metavar="PROVIDER/MODEL", help="The model that answers."),
]
PromptOption = Annotated[
    str | None,
    option_of(HOW, "--prompt", metavar="NAMES", help="Prompt variants of the model that answers."),
]
JudgeOption = Annotated[
    str | None,
    option_of(HOW, "--judge", metavar="NAMES", help="Judge variants; default: the data's."),
]
JudgeModelOption = Annotated[
    str | None,
    option_of(
        HOW, "--judge-model", metavar="PROVIDER/MODEL", help="The model that judges answers."
    ),
]
RunsOption = Annotated[
    int | None,
    option_of(HOW, "--runs", metavar="N", help="How often each answer is judged.", min=1, max=20),
]
AdversarialOption = Annotated[
    bool | None,
    typer.Option(
        "--with-adversarial",
        help="Count questions with a false premise in the averages.",
        rich_help_panel=HOW,
        show_default=False,
    ),
]
BaselineOption = Annotated[
    list[Path] | None,
    option_of(
        HOW,
        "--baseline",
        metavar="DIR",
        help="Another evaluation to compare with; may be repeated.",
    ),
]
FailUnderOption = Annotated[
    list[str] | None,
    option_of(
        HOW,
        "--fail-under",
        metavar="FIGURE=VALUE",
        help="End with 1 if this is not reached, as recall@10=0.75; may be repeated.",
    ),
]
OutOption = Annotated[
    Path, typer.Option("-o", "--out", metavar="DIR", help="Where the evaluation lies.")
]
ConfigOption = Annotated[
    Path | None,
    option_of(
        SERVER,
        "--config",
        metavar="FILE",
        help="A project-config.yaml for the evaluation's own server.",
    ),
]
ConcurrencyOption = Annotated[
    int,
    option_of(
        SERVER,
        "--concurrency",
        metavar="N",
        help="Conversations that are stored at a time.",
        min=1,
        max=64,
    ),
]
STAGES = ("ingest", "search", "answer", "judge")


def _stage(name: str | None) -> str | None:
    if name is None or name in STAGES:
        return name
    raise WrongUsage(f"--redo: {name!r} is none of {', '.join(STAGES)}")


RedoOption = Annotated[
    str | None,
    option_of(
        HOW,
        "--redo",
        metavar="STAGE",
        help="Do this stage and what comes after it again: ingest, search, answer or judge.",
        callback=_stage,
    ),
]
NOBODY = "none"


def document_of(**given: Any) -> dict[str, Any]:
    """Return the part of a suite that options say; what was not given is None."""
    readers = names_of(given["reader"], "--reader")
    fail_under = [threshold_of(text) for text in given["fail_under"] or ()]
    return {
        "data": {
            "dataset": given["dataset"],
            "path": _path(given["data"]),
            "only": names_of(given["only"], "--only"),
            "limit": given["limit"],
            "audit": _path(given["audit"]),
            "without_known_errors": given["without_known_errors"],
        },
        "pipeline": given["pipeline"],
        "modes": names_of(given["mode"], "--mode"),
        "k": _numbers(given["k"]),
        "depth": given["depth"],
        "rerank": given["rerank"],
        "readers": [] if readers == [NOBODY] else readers,
        "model": model_of(given["model"], "--model"),
        "prompts": names_of(given["prompt"], "--prompt"),
        "judges": names_of(given["judge"], "--judge"),
        "judge_model": model_of(given["judge_model"], "--judge-model"),
        "runs": given["runs"],
        "with_adversarial": given["with_adversarial"],
        "baselines": [_path(one) for one in given["baseline"] or ()] or None,
        "fail_under": dict(fail_under) or None,
    }


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def names_of(text: str | None, option: str) -> list[str] | None:
    """Return what is named; an empty name, as of a variable that is not set, is no "all"."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise WrongUsage(
            f"{option}: {text!r} names nothing; leave it out, or write as {option} a,b"
        )
    return names


def _numbers(text: str | None) -> list[int] | None:
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise WrongUsage(
            f"--k: {text!r} is no list of whole numbers with commas between, such as 5,10,20"
        ) from None


def model_of(text: str | None, option: str) -> Mapping[str, str] | None:
    """Return the provider and the model that an option names."""
    if text is None:
        return None
    provider, slash, model = text.partition("/")
    if not slash or not provider or not model:
        raise WrongUsage(f"{option}: {text!r} is not PROVIDER/MODEL, such as openai/gpt-4o-mini")
    return {"provider": provider, "model": model}


def threshold_of(text: str) -> tuple[str, float]:
    """Return the figure and the value that an option names."""
    name, equals, value = text.rpartition("=")
    try:
        if not equals or not name.strip():
            raise ValueError(text)  # noqa: TRY301 - one message for both faults
        return name.strip(), float(value)
    except ValueError:
        raise WrongUsage(
            f"--fail-under: {text!r} is not FIGURE=VALUE, such as recall@10=0.75"
        ) from None
