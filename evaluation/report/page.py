"""The report as one page that needs nothing but itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from evaluation.report import drawing
from evaluation.report.labels import MEANINGS, category_label, with_interval
from evaluation.report.measured import Figure, Lost, Measure, Measured, System
from evaluation.report.scores import TURN
from evaluation.report.table import Table
from evaluation.report.tables import NO_JUDGE, Tables

_NAMES = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "own": "own data"}
_WORDS = {"questions, for example", "besides", "reason", "category"}


def render(tables: Tables) -> str:
    """Return the page's HTML."""
    page = _Page(tables, tables.measured)
    css = files("evaluation.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(page.title)}</title><style>\n{css}</style></head>\n"
        f"<body><main>\n{''.join(page.parts())}</main></body></html>\n"
    )


@dataclass(frozen=True, slots=True)
class _Page:
    tables: Tables
    measured: Measured

    @property
    def title(self) -> str:
        manifest = self.measured.manifest
        if manifest.is_synthetic:
            return "Memory evaluation: synthetic data"
        return f"Memory evaluation: {_NAMES.get(manifest.dataset_name, manifest.dataset_name)}"

    def parts(self) -> Iterator[str]:
        """Yield the page from top to bottom."""
        yield from self._head()
        yield self._tiles()
        yield from self._section("Retrieval", self._quality(), list(self.tables.retrieval()))
        yield from self._section(
            "Categories", drawing.categories(self.measured), list(self.tables.by_category())
        )
        yield from self._section(
            "Budgets, freshness, containment, abstention",
            (),
            [self.tables.budgets(), self.tables.further()],
        )
        yield from self._section("Answers", (), [self.tables.answers(), self.tables.judges()])
        yield from self._section(
            "Side by side",
            drawing.comparisons(self.measured, self.tables.comparisons),
            list(self.tables.compared()),
        )
        yield from self._section(
            "Latency and cost",
            drawing.latencies(self.measured),
            [self.tables.latencies(), self.tables.costs()],
        )
        yield from self._section("What was lost, and why", (), [self.tables.reasons()])
        yield from self._worst()
        yield from self._section("Questions", (), [self.tables.questions()])
        yield _meanings()

    def _head(self) -> Iterator[str]:
        manifest = self.measured.manifest
        questions = sum(self.measured.categories.values())
        yield f"<h1>{escape(self.title)}</h1>"
        yield (
            f'<p class="soft">{questions} questions, data {escape(manifest.dataset[:12])}, '
            f"agentengine {escape(manifest.version)}. Intervals are of 95 %.</p>"
        )
        for note in self.tables.questions().notes:
            yield f'<p class="soft">{escape(note)}</p>'
        if manifest.is_synthetic:
            yield (
                '<p class="warn">Synthetic data: these figures are no LongMemEval or LoCoMo '
                "scores, and may be compared with runs on the same data alone.</p>"
            )

    def _tiles(self) -> str:
        tiles = [tile for system in self._first() for tile in self._tiles_of(system)]
        if not any(system.stage == "judge" for system in self.measured.systems):
            tiles.append(f"<li><b>no J</b><span>{escape(NO_JUDGE.partition('.')[0])}</span></li>")
        return f'<ul class="tiles">{"".join(tiles)}</ul>'

    def _first(self) -> Iterator[System]:
        """Yield the first search, and the answers and verdicts at the k told of."""
        for stage in ("search", "answer", "judge"):
            found = [each for each in self.measured.systems if each.stage == stage]
            at_k = [each for each in found if each.k in {None, self.measured.middle}]
            yield from (at_k or found)[:1]

    def _tiles_of(self, system: System) -> Iterator[str]:
        k = self.measured.middle
        names = {
            "search": [Measure(name, TURN, k) for name in ("recall", "hit", "recall_all")],
            "answer": [Measure(name, k=system.k) for name in ("f1_locomo", "contained")],
            "judge": [Measure("j", k=system.k)],
        }[system.stage]
        for measure in names:
            figure = self.measured.figure(measure, system=system.key)
            if figure is not None:
                yield _tile(figure, system)

    def _quality(self) -> Iterator[str]:
        yield from drawing.over_k(self.measured)
        yield from drawing.over_budget(self.measured)

    def _section(
        self, title: str, plots: Iterator[str] | Sequence[str], tables: Sequence[Table]
    ) -> Iterator[str]:
        drawn = "".join(plots)
        shown = [table for table in tables if table.rows or table.notes]
        if not drawn and not shown:
            return
        mark = " (synthetic data)" if self.measured.manifest.is_synthetic else ""
        yield f"<h2>{escape(title + mark)}</h2>\n"
        if drawn:
            yield f'<div class="plots">{drawn}</div>\n'
        for table in shown:
            yield _table(table, mark)

    def _worst(self) -> Iterator[str]:
        for system in self.measured.systems:
            lost = [each for each in self.measured.lost if each.system == system.key]
            if lost:
                yield f"<h3>Worst questions of {escape(system.label)}</h3>\n"
                yield from (self._question(each) for each in lost)

    def _question(self, lost: Lost) -> str:
        name = self.measured.manifest.dataset_name
        reasons = "".join(
            f"<li>{escape(turn)}: {escape(reason)}</li>" for turn, reason in lost.reasons.items()
        )
        found = "".join(
            f"<li{' class=evidence' if item.is_evidence else ''}>{escape(item.content)} "
            f'<span class="soft">{escape(item.source)}'
            f"{'' if item.score is None else f', {item.score:.3f}'}</span></li>"
            for item in lost.retrieved
        )
        return (
            f"<details><summary>{escape(lost.text)}"
            f'<span class="soft">{escape(category_label(name, lost.category))}, recall@{lost.k} '
            f"{lost.recall:.2f}</span></summary>"
            f"<p><b>Right:</b> {escape(' / '.join(lost.answers) or '-')} "
            f'<span class="soft">({escape(lost.question)})</span></p>'
            f"<p><b>Evidence that is missing</b></p><ul>{reasons}</ul>"
            f'<p><b>Found in its place</b></p><ol class="found">{found}</ol></details>\n'
        )


def _tile(figure: Figure, system: System) -> str:
    interval = with_interval(figure).partition(" ")[2]
    return (
        f"<li><b>{figure.value:.3f}</b><span>{escape(figure.measure)} {escape(interval)}</span>"
        f"<span>{escape(system.label)}, n={figure.n}</span></li>"
    )


def _table(table: Table, mark: str) -> str:
    def cell(tag: str, column: str, content: str) -> str:
        return f"<{tag}{' class=words' if column in _WORDS else ''}>{escape(content)}</{tag}>"

    head = "".join(cell("th", column, column) for column in table.columns)
    body = "".join(
        "<tr>"
        + "".join(
            cell("td", column, content) for column, content in zip(table.columns, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    grid = (
        f'<div class="table"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    return (
        f"<h3>{escape(table.title + mark)}</h3>\n{grid if table.rows else ''}"
        f"{f'<ul class=notes>{notes}</ul>' if notes else ''}\n"
    )


def _meanings() -> str:
    entries = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>" for name, meaning in MEANINGS.items()
    )
    return f"<h2>What the figures mean</h2><dl>{entries}</dl>\n"
