import pytest

from agentengine_cli.durations import parse_hours, parse_seconds
from agentengine_cli.errors import WrongUsage


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172800), ("0.5s", 0.5)]
)
def test_a_span_of_time_is_understood(text: str, seconds: float) -> None:
    assert parse_seconds(text, option="--timeout") == seconds


@pytest.mark.parametrize("text", ["", "10", "m", "10 m", "-1s", "0s", "ten", "1h30"])
def test_anything_else_is_wrong_usage(text: str) -> None:
    with pytest.raises(WrongUsage, match="--timeout: "):
        parse_seconds(text, option="--timeout")


def test_hours_must_be_whole() -> None:
    assert parse_hours("90d", option="--x") == 2160

    with pytest.raises(WrongUsage, match="whole number of hours"):
        parse_hours("90m", option="--x")
