"""The report as plain tables, for a terminal and for a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evaluation.report.comparison import Comparison
from evaluation.report.judging import self_test_cells
from evaluation.report.labels import category_label, milliseconds, share, with_interval
from evaluation.report.measured import MACRO, MICRO, Cost, Figure, Measured, System
from evaluation.report.published import Published
from evaluation.report.scores import EXCHANGE, SESSION, SESSION_OF_ITEMS, TURN
from evaluation.report.side_by_side import compared_tables
from evaluation.report.table import Table

SYNTHETIC = "synthetic data"
NO_JUDGE = (
    "No J: no judge model was asked. F1, BLEU and containment are no substitute for it, and are "
    "comparable among answers of about the same length alone."
)
SELF_TEST = (
    "The last three columns are the judge's own test: how many answers it called right that are "
    "right, that are wrong and definite, and that are wrong and vague. The last two are its false "
    "positives."
)
_LEVELS: Mapping[str, str] = {
    TURN: "Retrieval by turn",
    EXCHANGE: "Retrieval by exchange",
    SESSION: "Retrieval by session: k distinct sessions, as LongMemEval counts them",
    SESSION_OF_ITEMS: "Retrieval by session: those of the first k items",
}
_ANSWERS = ("f1_locomo", "f1_squad", "f1_mem0", "bleu1", "bleu4", "bigram_precision")


@dataclass(frozen=True)
class Tables:
    """All tables of one measured run."""

    measured: Measured
    published: Sequence[Published] = ()
    comparisons: Sequence[Comparison] = ()
    refused: Sequence[str] = field(default=())

    def all(self) -> Sequence[Table]:
        """Return every table that has a row, each marked where the data are synthetic."""
        found = [
            self.questions(),
            *self.retrieval(),
            *self.by_category(),
            self.budgets(),
            self.further(),
            self.answers(),
            self.judges(),
            self.latencies(),
            self.costs(),
            self.reasons(),
            *self.compared(),
        ]
        return [self._marked(table) for table in found if table.rows or table.notes]

    def questions(self) -> Table:
        """Count the questions, and those that no average counts."""
        name = self.measured.manifest.dataset_name
        rows = [
            (category_label(name, category), str(count))
            for category, count in self.measured.categories.items()
        ]
        return Table(
            title="Questions",
            columns=("category", "n"),
            rows=[*rows, ("all", str(sum(self.measured.categories.values())))],
            notes=list(self._counted_aloud()),
        )

    def retrieval(self) -> Iterator[Table]:
        """Tell what was found at each level, by k."""
        for level, title in _LEVELS.items():
            rows = [
                row
                for system in self._of("search")
                for k in self.measured.cutoffs
                if (row := self._found_row(system, level, k))
            ]
            yield Table(
                title=title,
                columns=(
                    *("system", "k", "n", "recall [95 %]", "hit [95 %]", "all [95 %]"),
                    *("nDCG", "nDCG (LME)", "MRR", *self._published_names(level)),
                ),
                rows=rows,
                notes=self._sources(level),
            )

    def by_category(self) -> Iterator[Table]:
        """Tell recall, F1 and J of each category."""
        k = self._middle
        yield self._categories("search", "recall", TURN, f"recall@{k} by turn by category")
        yield self._categories("answer", "f1_locomo", "", "F1 (LoCoMo) by category")
        yield self._categories("judge", "j", "", "J by category")

    def _categories(self, stage: str, name: str, level: str, title: str) -> Table:
        k = self._middle
        systems = [each for each in self._of(stage) if each.k in {None, k}] or self._of(stage)
        published = [each for each in self.published if each.has_categories(f"{name}@{k}")]
        rows = []
        for category in (*self.measured.categories, MICRO, MACRO):
            figures = [
                self._figure(system, name, level, system.k or k, category) for system in systems
            ]
            theirs = [each.value(f"{name}@{k}", category) for each in published]
            if any(figures):
                n = next(figure.n for figure in figures if figure)
                label = category_label(self.measured.manifest.dataset_name, category)
                rows.append((label, str(n), *map(with_interval, figures), *map(share, theirs)))
        labels = (system.label for system in systems)
        return Table(
            title=title,
            columns=("category", "n", *labels, *(each.name for each in published)),
            rows=rows,
            notes=[f"{each.name}: {each.source}" for each in published],
        )

    def budgets(self) -> Table:
        """Tell what was found within budgets of tokens."""
        rows = []
        for system in self._of("search"):
            for budget in self.measured.budgets:
                figures = [
                    self._within(system, name, budget) for name in ("recall", "hit", "recall_all")
                ]
                if any(figures):
                    cells = map(with_interval, figures)
                    rows.append((system.label, str(budget), *cells))
        return Table(
            title="Retrieval by turn within a budget of tokens",
            columns=("system", "tokens", "recall [95 %]", "hit [95 %]", "all [95 %]"),
            rows=rows,
        )

    def further(self) -> Table:
        """Tell freshness, containment and the abstention gap."""
        gaps = {gap.system: gap for gap in self.measured.gaps}
        rows = []
        for system in self._of("search"):
            gap = gaps.get(system.key)
            for k in self.measured.cutoffs:
                fresh = self._figure(system, "fresh_over_stale", TURN, k)
                gold = self._figure(system, "gold_contained", TURN, k)
                rows.append(
                    (
                        system.label,
                        str(k),
                        with_interval(fresh),
                        str(fresh.n) if fresh else "0",
                        with_interval(gold),
                        str(gold.n) if gold else "0",
                        f"{gap.gap:+.3f}" if gap else "-",
                        share(gap.separation if gap else None),
                    )
                )
        return Table(
            title="Freshness, containment, abstention",
            columns=(
                *("system", "k", "fresh over stale [95 %]", "n", "gold contained [95 %]", "n"),
                *("abstention gap", "separation"),
            ),
            rows=rows,
        )

    def answers(self) -> Table:
        """Tell how near the answers come by their words."""
        rows = [
            (
                system.label,
                str(self._n(system, "f1_locomo")),
                *(share(self._value(system, name)) for name in (*_ANSWERS, "contained")),
                share(self._value(system, "declined")),
                f"{self._value(system, 'words') or 0:.1f}",
            )
            for system in self._of("answer")
        ]
        return Table(
            title="Answers",
            columns=(
                *("system", "n", "F1 LoCoMo", "F1 SQuAD", "F1 Mem0", "BLEU-1", "BLEU-4"),
                *("bigram precision", "contained", "declined rightly", "words"),
            ),
            rows=rows,
        )

    def judges(self) -> Table:
        """Tell J with what the judge itself is worth, or say that there is none."""
        by_key = {each.system: each for each in self.measured.judged}
        rows = []
        for system in self._of("judge"):
            judged = by_key[system.key]
            spread = max(judged.runs) - min(judged.runs) if judged.runs else 0.0
            rows.append(
                (
                    system.label,
                    str(self._n(system, "j")),
                    with_interval(self._figure(system, "j", "", system.k)),
                    share(self._value(system, "j", MACRO)),
                    f"{len(judged.runs)} (spread {spread:.3f})",
                    f"{judged.unreadable} of {judged.verdicts}",
                    *self_test_cells(judged.self_test),
                )
            )
        return Table(
            title="J: answers that a judge calls right",
            columns=(
                *("system", "n", "J [95 %]", "J macro", "runs", "unreadable"),
                *("right", "specific", "vague"),
            ),
            rows=rows,
            notes=(SELF_TEST,) if rows else (NO_JUDGE,),
        )

    def latencies(self) -> Table:
        """Tell percentiles of each stage."""
        rows = [
            (
                self._name(each.system),
                each.stage,
                each.warmth,
                str(each.n),
                *map(milliseconds, (each.p50, each.p95, each.p99)),
            )
            for each in self.measured.latencies
        ]
        columns = ("system", "stage", "caches", "n", "p50 ms", "p95 ms", "p99 ms")
        return Table(title="Latency", columns=columns, rows=rows)

    def costs(self) -> Table:
        """Tell tokens, calls and time."""
        rows = [
            (
                self._name(cost.system),
                str(cost.n),
                str(cost.calls),
                f"{cost.tokens_in:,}",
                f"{cost.tokens_out:,}",
                _taken(cost),
            )
            for cost in self.measured.costs
        ]
        columns = ("system", "n", "model calls", "tokens in", "tokens out", "besides")
        return Table(title="Cost", columns=columns, rows=rows)

    def reasons(self) -> Table:
        """Tell why evidence was not found."""
        rows = [
            (self._name(each.system), each.reason, str(each.turns), ", ".join(each.examples))
            for each in self.measured.reasons
        ]
        columns = ("system", "reason", "turns", "questions, for example")
        return Table(
            title=f"Why evidence was not among the first {self._middle}", columns=columns, rows=rows
        )

    def compared(self) -> Sequence[Table]:
        """Tell the paired differences to other runs, and what could not be compared."""
        return list(compared_tables(self.measured, self.comparisons, self.refused))

    def _marked(self, table: Table) -> Table:
        if not self.measured.manifest.is_synthetic:
            return table
        return Table(
            title=f"{table.title} ({SYNTHETIC})",
            columns=table.columns,
            rows=table.rows,
            notes=table.notes,
        )

    def _counted_aloud(self) -> Iterator[str]:
        if self.measured.manifest.is_synthetic:
            yield "The data were generated: no figure here is a score of a published benchmark."
        for left in self.measured.left_out:
            what = "no retrieval is defined for" if left.retrieval_only else "out of every average:"
            yield f"{left.reason}: {what} {left.questions} questions"
        for system in self.measured.systems:
            if system.missing:
                yield (
                    f"{system.label}: {system.missing} questions were not asked yet; figures are "
                    f"of {system.asked}"
                )
        if self.measured.foreign:
            yield f"{self.measured.foreign} records of other data lie here and are not counted"
        yield from self.measured.manifest.notes

    @property
    def _middle(self) -> int:
        return self.measured.middle

    def _of(self, stage: str) -> Sequence[System]:
        return [system for system in self.measured.systems if system.stage == stage]

    def _name(self, key: str) -> str:
        return next((each.label for each in self.measured.systems if each.key == key), key)

    def _found_row(self, system: System, level: str, k: int) -> Sequence[str] | None:
        recall = self._figure(system, "recall", level, k)
        if recall is None:
            return None
        shares = (self._figure(system, name, level, k) for name in ("recall", "hit", "recall_all"))
        gains = (self._figure(system, name, level, k) for name in ("ndcg", "ndcg_lme"))
        return (
            system.label,
            str(k),
            str(recall.n),
            *map(with_interval, shares),
            *(share(figure.value if figure else None) for figure in gains),
            share(self._value_of(self._figure(system, "mrr", level, None))),
            *(share(each.value(recall.measure)) for each in self._published(level)),
        )

    def _published(self, level: str) -> Sequence[Published]:
        prefix = "" if level == TURN else f"{level}."
        return [
            each
            for each in self.published
            if any(each.value(f"{prefix}recall@{k}") is not None for k in self.measured.cutoffs)
        ]

    def _published_names(self, level: str) -> Sequence[str]:
        return [f"{each.name} (recall)" for each in self._published(level)]

    def _sources(self, level: str) -> Sequence[str]:
        return [f"{each.name}: {each.source}" for each in self._published(level)]

    @cached_property
    def _index(self) -> Mapping[tuple[str, str, str, int | None, int | None, str], Figure]:
        return {
            (each.system, each.name, each.level, each.k, each.tokens, each.category): each
            for each in self.measured.figures
        }

    def _figure(
        self, system: System, name: str, level: str, k: int | None, category: str = MICRO
    ) -> Figure | None:
        return self._index.get((system.key, name, level, k, None, category))

    def _within(self, system: System, name: str, budget: int) -> Figure | None:
        return self._index.get((system.key, name, TURN, None, budget, MICRO))

    def _value(self, system: System, name: str, category: str = MICRO) -> float | None:
        return self._value_of(self._figure(system, name, "", system.k, category))

    def _n(self, system: System, name: str) -> int:
        figure = self._figure(system, name, "", system.k)
        return figure.n if figure else 0

    @staticmethod
    def _value_of(figure: Figure | None) -> float | None:
        return figure.value if figure else None


def _taken(cost: Cost) -> str:
    parts = []
    if cost.seconds is not None:
        parts.append(f"{cost.seconds:.1f} s")
    if cost.stored:
        parts.append(", ".join(f"{count:,} {source}" for source, count in cost.stored.items()))
    if cost.context_tokens:
        by_k = (f"{tokens:.0f} at k={k}" for k, tokens in cost.context_tokens.items())
        parts.append(f"tokens of context: {', '.join(by_k)}")
    return "; ".join(parts)
