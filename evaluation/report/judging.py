"""What a judge said over its runs, and what the judge itself is worth."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from evaluation.records import JudgementRecord, SelfTestRecord
from evaluation.report.measured import Judged, Rate, SelfTest, System


def judged(
    system: System,
    judgements: Mapping[str, Sequence[JudgementRecord]],
    counted: Sequence[str],
    tests: Sequence[SelfTestRecord],
) -> Judged:
    """Sum up the runs of one judge, with its self-test where it took one."""
    records = [record for key in counted for record in judgements.get(key, ())]
    runs: dict[int, list[float]] = {}
    for record in records:
        runs.setdefault(record.run, []).append(float(record.is_right is True))
    own = [test for test in tests if _is_of(test, system)]
    return Judged(
        system=system.key,
        runs=[fmean(runs[run]) for run in sorted(runs)],
        unreadable=sum(record.is_right is None for record in records),
        verdicts=len(records),
        self_test=_self_test(own) if own else None,
    )


def _is_of(test: SelfTestRecord, system: System) -> bool:
    return (test.judge, test.model, test.prompt_digest, test.temperature) == (
        system.judge,
        system.judge_model,
        system.judge_prompt_digest,
        system.temperature,
    )


def _self_test(tests: Sequence[SelfTestRecord]) -> SelfTest:
    return SelfTest(
        right=_rate(tests, "right"),
        specific=_rate(tests, "specific"),
        vague=_rate(tests, "vague"),
        unreadable=sum(test.is_right is None for test in tests),
    )


def _rate(tests: Sequence[SelfTestRecord], kind: str) -> Rate:
    values = [float(test.is_right is True) for test in tests if test.kind == kind]
    return Rate(passed=int(sum(values)), n=len(values))


def self_test_cells(test: SelfTest | None) -> tuple[str, str, str]:
    """Write the rates of a self-test, or that there was none."""
    if test is None:
        return ("not tested",) * 3
    right, specific, vague = (
        f"{rate.share:.2f} ({rate.passed}/{rate.n})"
        for rate in (test.right, test.specific, test.vague)
    )
    return right, specific, vague
