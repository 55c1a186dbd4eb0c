"""Spans of time as they are typed: 90s, 10m, 2h, 1h30m."""

import re

from agentengine_cli.errors import WrongUsage

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_seconds(text: str, *, option: str) -> float:
    """Return the span in seconds; raise `WrongUsage` naming the option it was given to."""
    parts = _PART.findall(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not parts or "".join(number + unit for number, unit in parts) != text or seconds <= 0:
        raise WrongUsage(f"{option}: {text!r} is not a span of time such as 90s, 10m or 1h30m")
    return seconds


def parse_hours(text: str, *, option: str) -> int:
    """Return the span in hours, of which there must be a whole number, at least one."""
    hours = parse_seconds(text, option=option) / 3600
    if hours != int(hours):
        raise WrongUsage(f"{option}: {text!r} is not a whole number of hours, such as 2160h")
    return int(hours)
