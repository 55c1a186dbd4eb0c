import re
from html.parser import HTMLParser
from pathlib import Path

from evaluation.report.measure import measure
from evaluation.report.page import render
from evaluation.report.tables import Tables
from tests.evaluation.report.records import a_manifest, a_question, a_search, an_item, write

VOID = {"meta", "line", "rect", "circle", "polyline", "polygon", "br"}
EVIL = '<script>alert("x")</script> & more'


class Nesting(HTMLParser):
    """Notes every tag that is closed out of its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def page(tmp_path: Path, *, is_synthetic: bool = False) -> str:
    records = (
        a_question("q1", text=EVIL, answers=(EVIL,)),
        a_question("q2", evidence=("t2",)),
        a_search("q1", [an_item("t3", content=EVIL)]),
        a_search("q2", [an_item("t2")]),
    )
    directory = write(tmp_path, *records, manifest=a_manifest(is_synthetic=is_synthetic))
    return render(Tables(measure(directory)))


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    content = page(tmp_path)

    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", content)


def test_what_was_said_is_never_read_as_html(tmp_path: Path) -> None:
    content = page(tmp_path)

    assert "<script" not in content
    assert "&lt;script&gt;" in content


def test_every_tag_is_closed_in_its_turn(tmp_path: Path) -> None:
    parser = Nesting()
    parser.feed(page(tmp_path))

    assert (parser.wrong, parser.open) == ([], [])
    assert {"svg", "table", "details", "figure"} <= parser.seen


def test_synthetic_data_are_said_to_be_no_benchmark(tmp_path: Path) -> None:
    content = page(tmp_path, is_synthetic=True)

    assert "Synthetic data: these figures are no LongMemEval or LoCoMo scores" in content
    headings = re.findall(r"<h[23]>(.*?)</h", content)
    own = [heading for heading in headings if heading != "What the figures mean"]
    assert all("synthetic" in heading or heading.startswith("Worst") for heading in own)
