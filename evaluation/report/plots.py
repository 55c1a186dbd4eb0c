"""Plots as inline SVG: no script, no network, colours of the page's light or dark scheme."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 14, 44
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4")
_LETTER, _LABEL_LINES = 6.2, 3
"""Width of a letter, and lines that the name of a group may take."""
SERIES = 6
"""Colours there are; further series begin again, with other dashes."""


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a plot."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a group."""

    series: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Bars side by side over one name."""

    name: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Span:
    """A horizontal bar from p50 over p95 to p99."""

    name: str
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference with its interval."""

    name: str
    value: float
    low: float
    high: float


def lines(series: Sequence[Series], *, about: str, x_label: str, is_log: bool = True) -> str:
    """Draw lines of shares over a logarithmic or even x; intervals are shaded."""
    xs = sorted({point.x for each in series for point in each.points})
    across = _scale(xs[0], xs[-1], _LEFT, WIDTH - _RIGHT, is_log=is_log)
    foot = HEIGHT - _BOTTOM + 18
    parts = [
        *_shares_axis(),
        *(_text(across(x), foot, f"{x:g}", "middle") for x in _sparse(xs, across)),
    ]
    parts.append(_text((_LEFT + WIDTH) / 2, HEIGHT - 6, x_label, "middle"))
    for number, each in enumerate(series):
        parts += _line(number, each, across)
    return _figure(parts, about, [each.name for each in series])


def groups(given: Sequence[Group], *, about: str) -> str:
    """Draw groups of bars of shares, each with its interval."""
    names = list(dict.fromkeys(bar.series for group in given for bar in group.bars))
    room = (WIDTH - _LEFT - _RIGHT) / len(given)
    wide = min(44.0, room * 0.8 / len(names))
    parts = [*_shares_axis()]
    for place, group in enumerate(given):
        middle = _LEFT + room * (place + 0.5)
        for line, words in enumerate(_wrapped(group.name, room)):
            parts.append(_text(middle, HEIGHT - _BOTTOM + 16 + 12 * line, words, "middle"))
        start = middle - wide * len(names) / 2
        for bar in group.bars:
            number = names.index(bar.series)
            parts += _bar(number, bar, start + wide * number, wide)
    return _figure(parts, about, names, HEIGHT)


def spans(given: Sequence[Span], *, about: str) -> str:
    """Draw p50, p95 and p99 of each stage on a logarithmic axis of milliseconds."""
    row, label = 26, 170
    height = _TOP + row * len(given) + _BOTTOM
    values = [value for span in given for value in (span.p50, span.p99) if value > 0]
    first = 10 ** math.floor(math.log10(min(values, default=1)))
    last = 10 ** math.ceil(math.log10(max(values, default=10) * 1.001))
    across = _scale(first, last, label, WIDTH - _RIGHT - 40, is_log=True)
    parts = []
    for power in range(round(math.log10(first)), round(math.log10(last)) + 1):
        x = across(10.0**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="6" y2="{height - 34}"/>')
        parts.append(_text(x, height - 18, f"{10.0**power:g} ms", "middle"))
    for place, span in enumerate(given):
        parts += _span(span, across, _TOP + row * place + row / 2, first)
    parts.append(_text(label, height - 2, "bar: p50 to p95; thin line: to p99", "start"))
    return _figure(parts, about, (), height)


def differences(given: Sequence[Delta], *, about: str) -> str:
    """Draw differences around 0 with their intervals."""
    row, label = 24, 242
    height = _TOP + row * len(given) + 30
    reach = max(0.05, *(abs(end) for each in given for end in (each.low, each.high))) * 1.05
    across = _scale(-reach, reach, label, WIDTH - _RIGHT - 46, is_log=False)
    zero = across(0)
    parts = [
        f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="6" y2="{height - 26}"/>',
        _text(zero, height - 10, "0", "middle"),
        _text(across(-reach), height - 10, f"{-reach:+.2f}", "middle"),
        _text(across(reach), height - 10, f"{reach:+.2f}", "middle"),
    ]
    for place, each in enumerate(given):
        y = _TOP + row * place + row / 2
        number = 5 if each.low <= 0 <= each.high else 2 if each.value > 0 else 1
        low, high, middle = across(each.low), across(each.high), across(each.value)
        parts += [
            _text(label - 8, y + 4, each.name, "end"),
            f'<line class="reach s{number}" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/>',
            f'<circle class="d{number}" cx="{middle:.1f}" cy="{y:.1f}" r="4.5"/>',
            _text(high + 8, y + 4, f"{each.value:+.3f}", "start"),
        ]
    return _figure(parts, about, (), height)


def _figure(parts: Sequence[str], about: str, names: Sequence[str], height: float = HEIGHT) -> str:
    legend = "".join(
        f'<li><svg class="key" viewBox="0 0 22 10" aria-hidden="true">'
        f'<line class="s{number % SERIES}" x1="1" x2="21" y1="5" y2="5"{_dash(number)}/></svg>'
        f"{escape(name)}</li>"
        for number, name in enumerate(names)
    )
    return (
        f"<figure><figcaption><b>{escape(about)}</b>"
        f"{f'<ul class=legend>{legend}</ul>' if names else ''}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(about)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _line(number: int, series: Series, across: Callable[[float], float]) -> Iterator[str]:
    style = f's{number % SERIES}"{_dash(number)}'
    points = [(across(point.x), _up(point.y)) for point in series.points]
    lows = [(across(p.x), _up(p.low)) for p in series.points if p.low is not None]
    highs = [(across(p.x), _up(p.high)) for p in series.points if p.high is not None]
    if lows and highs:
        area = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*highs, *reversed(lows)])
        yield f'<polygon class="band b{number % SERIES}" points="{area}"/>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline class="line {style} points="{path}"/>'
    for (x, y), point in zip(points, series.points, strict=True):
        title = f"{series.name} at {point.x:g}: {point.y:.3f}"
        yield (
            f'<circle class="dot d{number % SERIES}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
            f"<title>{escape(title)}</title></circle>"
        )


def _bar(number: int, bar: Bar, x: float, wide: float) -> Iterator[str]:
    top, foot = _up(bar.value), _up(0)
    title = f"{bar.series}: {bar.value:.3f}"
    yield (
        f'<rect class="d{number % SERIES}" x="{x + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" '
        f'height="{max(0.5, foot - top):.1f}" rx="1"><title>{escape(title)}</title></rect>'
    )
    if bar.low is not None and bar.high is not None:
        middle = x + wide / 2
        yield (
            f'<line class="whisker" x1="{middle:.1f}" x2="{middle:.1f}" y1="{_up(bar.low):.1f}" '
            f'y2="{_up(bar.high):.1f}"/>'
        )
    above = _up(bar.high if bar.high is not None else bar.value) - 4
    if wide >= 22:
        yield _text(x + wide / 2, above, f"{bar.value:.2f}", "middle")


def _span(span: Span, across: Callable[[float], float], y: float, least: float) -> Iterator[str]:
    p50, p95, p99 = (across(max(value, least)) for value in (span.p50, span.p95, span.p99))
    yield _text(162, y + 4, span.name, "end")
    yield f'<line class="tail" x1="{p95:.1f}" x2="{p99:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield (
        f'<rect class="d0" x="{p50:.1f}" y="{y - 6:.1f}" width="{max(2.0, p95 - p50):.1f}" '
        f'height="12" rx="2"><title>{escape(span.name)}: p50 {span.p50:.2f}, p95 {span.p95:.2f}, '
        f"p99 {span.p99:.2f} ms</title></rect>"
    )
    yield _text(p99 + 5, y + 4, f"{span.p50:.3g}", "start")


def _shares_axis() -> Iterator[str]:
    for tenth in range(0, 11, 2):
        y = _up(tenth / 10)
        yield f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{tenth / 10:.1f}", "end")


def _scale(
    first: float, last: float, start: float, end: float, *, is_log: bool
) -> Callable[[float], float]:
    shape: Callable[[float], float] = math.log10 if is_log else float
    low, high = shape(first), shape(last)
    room = high - low or 1.0
    return lambda value: start + (shape(value) - low) / room * (end - start)


def _up(share: float) -> float:
    return _TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM)


def _sparse(xs: Sequence[float], across: Callable[[float], float]) -> Iterator[float]:
    """Yield those values that can be written without touching each other."""
    last = -math.inf
    for x in xs:
        if across(x) - last >= 26:
            yield x
            last = across(x)


def _wrapped(name: str, room: float) -> Sequence[str]:
    """Break a name at spaces and hyphens into lines that its room has place for."""
    found = [""]
    for part in re.findall(r"[^\s-]+-?|\s", name):
        if found[-1] and (len(found[-1]) + len(part)) * _LETTER > room:
            found.append("")
        found[-1] += part
    return [line.strip() for line in found][:_LABEL_LINES]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _dash(number: int) -> str:
    dash = _DASHES[number % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""
