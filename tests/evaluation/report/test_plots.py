import re

from evaluation.report.plots import (
    Bar,
    Delta,
    Group,
    Point,
    Series,
    Span,
    differences,
    groups,
    lines,
    spans,
)


def words_of(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_line_goes_up_where_the_share_does() -> None:
    svg = lines([Series("a", [Point(1, 0.2), Point(10, 0.8)])], about="Recall", x_label="k")

    (path,) = re.findall(r'<polyline class="line s0" points="([^"]+)"', svg)
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in path.split())
    assert x2 > x1
    assert y2 < y1


def test_a_series_is_told_by_dash_as_well_as_colour() -> None:
    both = [Series(name, [Point(1, 0.2), Point(2, 0.3)]) for name in ("a", "b")]

    assert "stroke-dasharray" in lines(both, about="Recall", x_label="k")


def test_one_point_alone_can_be_drawn() -> None:
    assert "<circle" in lines([Series("a", [Point(5, 0.5)])], about="Recall", x_label="k")


def test_a_long_name_is_broken_at_its_hyphens() -> None:
    many = [Group("single-session-preference", [Bar("a", 0.5)])] * 7

    assert {"single-", "session-", "preference"} <= set(words_of(groups(many, about="F1")))


def test_what_is_not_sure_has_another_colour() -> None:
    given = [Delta("sure", 0.2, 0.1, 0.3), Delta("not sure", 0.2, -0.1, 0.5)]

    found = re.findall(r'class="reach (s\d)"', differences(given, about="less"))

    assert len(set(found)) == 2


def test_percentiles_are_written_where_they_end() -> None:
    svg = spans([Span("total", 12.5, 40.0, 90.0)], about="Milliseconds")

    assert "12.5" in words_of(svg)
    assert "p50 12.50, p95 40.00, p99 90.00 ms" in svg


def test_a_time_of_nothing_can_be_drawn() -> None:
    assert "<rect" in spans([Span("total", 0.0, 0.0, 0.0)], about="Milliseconds")
