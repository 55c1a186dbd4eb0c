"""agentengine eval: how good the memory is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentengine_cli.commands import eval_options as options
from agentengine_cli.commands.eval_extraction import extraction
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.context import current
from agentengine_cli.errors import CliError
from agentengine_cli.options import JsonOption
from agentengine_cli.output import Output
from agentengine_cli.target import TargetOptions

if TYPE_CHECKING:
    from agentengine_cli.evaluating import Order
    from evaluation.stages.report import Reported

app = typer.Typer(no_args_is_help=True, help="Measure how well the memory remembers.")

REPORT = "report"


class NotReached(CliError):
    """A figure is below what was asked for."""


def _command(stages: Sequence[str], name: str, help: str) -> None:
    """Add a command that carries out some stages; all take the same options."""

    def command(
        ctx: typer.Context,
        suite: options.SuiteOption = None,
        dataset: options.DatasetOption = None,
        data: options.DataOption = None,
        only: options.OnlyOption = None,
        limit: options.LimitOption = None,
        audit: options.AuditOption = None,
        without_known_errors: options.KnownErrorsOption = None,
        pipeline: options.PipelineOption = None,
        mode: options.ModeOption = None,
        k: options.KOption = None,
        depth: options.DepthOption = None,
        rerank: options.RerankOption = None,
        reader: options.ReaderOption = None,
        model: options.ModelOption = None,
        prompt: options.PromptOption = None,
        judge: options.JudgeOption = None,
        judge_model: options.JudgeModelOption = None,
        runs: options.RunsOption = None,
        with_adversarial: options.AdversarialOption = None,
        baseline: options.BaselineOption = None,
        fail_under: options.FailUnderOption = None,
        redo: options.RedoOption = None,
        out: options.OutOption = options.OUT,
        config: options.ConfigOption = None,
        concurrency: options.ConcurrencyOption = 4,
        context_name: ContextOption = None,
        base_url: BaseUrlOption = None,
        org_id: OrgIdOption = None,
        project_id: ProjectIdOption = None,
        as_json: JsonOption = False,
    ) -> None:
        given = options.document_of(
            dataset=dataset,
            data=data,
            only=only,
            limit=limit,
            audit=audit,
            without_known_errors=without_known_errors,
            pipeline=pipeline,
            mode=mode,
            k=k,
            depth=depth,
            rerank=rerank,
            reader=reader,
            model=model,
            prompt=prompt,
            judge=judge,
            judge_model=judge_model,
            runs=runs,
            with_adversarial=with_adversarial,
            baseline=baseline,
            fail_under=fail_under,
        )
        target = target_options(context_name, base_url, org_id, project_id)
        order = _order(
            ctx,
            target,
            directory=out.absolute(),
            suite=suite,
            options=given,
            config=config,
            concurrency=concurrency,
            redo=redo,
        )
        with order.opened() as session:
            session.evaluation.check(stages)
            told = session.carry_out([stage for stage in stages if stage != REPORT])
            if REPORT in stages:
                show(current(ctx).output, session.evaluation.report(), told)
            else:
                current(ctx).output.record(told)

    command.__doc__ = help
    app.command(name)(command)


def _order(ctx: typer.Context, target: TargetOptions, **more: Any) -> "Order":
    """Return what was told, with the server that was named, if one was."""
    from agentengine_cli.evaluating import Order  # noqa: PLC0415 - loads HTTP and the evaluation

    named = bool(target.context or target.explicit)
    server = server_of(ctx, target) if named else None
    return Order(context=current(ctx), target=server, **more)


def show(output: Output, reported: "Reported", told: Mapping[str, Any]) -> None:
    """Show the figures; raises `NotReached` where one is below what was asked for."""
    if output.as_json:
        output.document({"stages": dict(told), **reported.document})
    else:
        _show_tables(output, reported)
    if reported.missed:
        raise NotReached(
            f"{len(reported.missed)} of the figures that were asked for are not reached",
            problems=[str(one) for one in reported.missed],
        )


def _show_tables(output: Output, reported: "Reported") -> None:
    for table in reported.tables:
        output.result(table.title)
        output.cells(table.columns, table.rows)
        for note in table.notes:
            output.result(f"  {note}")
        output.result("")
    for file in reported.files:
        output.note(f"Written: {file}")


@app.command("generate")
def generate(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="Where the data is written.")
    ],
    variant: Annotated[
        str, typer.Option("--variant", metavar="NAME", help="oracle, small, small_es, s or m.")
    ] = "s",
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", min=1, help="How many, each with a history.")
    ] = 20,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same gives the same.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Write synthetic conversations and questions in LongMemEval's schema.

    agentengine eval generate --variant s --questions 20 --seed 1 --out s-20.jsonl

    Every item says that it is synthetic: a score on it is never a score of LongMemEval. Give it
    to eval run as --dataset longmemeval.
    """
    from agentengine_cli.evaluating import write_generated  # noqa: PLC0415 - as above

    size = write_generated(out, variant=variant, questions=questions, seed=seed)
    current(ctx).output.record(
        {"file": str(out), "variant": variant, "questions": questions, "seed": seed, "bytes": size}
    )


_command(
    ("ingest", "search", "answer", "judge", REPORT),
    "run",
    """Store conversations, ask their questions, and measure what comes back.

    agentengine eval run --dataset locomo --data locomo10.json --out first

    Without a target it starts a server of its own in the directory, so that nobody's memory is
    touched, and stops it at the end. What was done before is not done again: a run that was
    killed goes on, other values of --k are cut from the same searches, other prompts answer anew.
    """,
)
_command(
    ("ingest",),
    "ingest",
    """Store the conversations, and wait until all work is done.

    agentengine eval ingest --dataset locomo --data locomo10.json --out first
    """,
)
_command(
    ("search",),
    "search",
    """Ask every question of what eval ingest stored.

    agentengine eval search --out first --mode hybrid,text,semantic

    One question at a time, so that times can be told. Without --suite and --data everything is as
    the directory was made with, and so it is with the stages after this one.
    """,
)
_command(
    ("answer",),
    "answer",
    """Answer from what eval search found.

    agentengine eval answer --out first --reader model --model openai/gpt-4o-mini --prompt short
    """,
)
_command(
    ("judge",),
    "judge",
    """Have the answers marked by a model.

    agentengine eval judge --out first --judge-model openai/gpt-4o-mini

    Without a judge model there is no J.
    """,
)
_command(
    (REPORT,),
    "report",
    """Measure what is written down in a directory.

    agentengine eval report --out first --fail-under recall@10=0.75
    """,
)
app.command("extraction")(extraction)
