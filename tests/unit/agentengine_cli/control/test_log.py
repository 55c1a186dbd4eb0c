import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentengine_cli.control import log
from agentengine_cli.control.log import LineFilter
from tests.unit.agentengine_cli.control.manual_clock import ManualClock

LINES = (
    "2026-05-04T10:00:00Z one",
    "  detail of one",
    "2026-05-04 11:00:00,250 two",
    '{"time": "2026-05-04T12:00:00+00:00", "message": "three"}',
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_last_lines_come_oldest_first(path: Path) -> None:
    assert log.last_lines(path, 2) == list(LINES[-2:])


def test_missing_log_has_no_lines(tmp_path: Path) -> None:
    assert log.last_lines(tmp_path / "none", 5) == []


def test_line_without_a_time_belongs_to_the_one_above(path: Path) -> None:
    chosen = LineFilter(until=datetime(2026, 5, 4, 10, 30, tzinfo=UTC))

    assert log.last_lines(path, 9, chosen) == list(LINES[:2])


def test_since_understands_every_way_a_time_is_written(path: Path) -> None:
    chosen = LineFilter(since=datetime(2026, 5, 4, 11, 0, tzinfo=UTC))

    assert log.last_lines(path, 9, chosen) == list(LINES[2:])


def test_pattern_selects_lines(path: Path) -> None:
    assert log.last_lines(path, 9, LineFilter(pattern=re.compile("t(wo|hree)"))) == list(LINES[2:])


def test_start_skips_what_earlier_servers_wrote(path: Path) -> None:
    start = log.size(path)
    with path.open("a") as file:
        file.write("mine\n")

    assert log.last_lines(path, 9, start=start) == ["mine"]


def test_large_log_is_set_aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.rotate(path)
    assert path.exists()
    monkeypatch.setattr(log, "ROTATE_BYTES", 10)

    log.rotate(path)

    assert not path.exists()
    assert path.with_name("server.log.1").exists()


def test_following_yields_whole_lines_only_and_survives_rotation(path: Path) -> None:
    followed = log.follow(path, ManualClock(), start=log.size(path))
    with path.open("a") as file:
        file.write("four\nfi")
    assert next(followed) == "four"
    with path.open("a") as file:
        file.write("ve\n")
    assert next(followed) == "five"

    path.write_text("fresh\n")

    assert next(followed) == "fresh"


def test_only_the_lines_of_the_agent_are_kept() -> None:
    lines = [
        "2026-05-04 10:00:00,123 INFO agent: printed",
        "2026-05-04 10:00:01,123 WARNING agent.process: it was killed",
        "2026-05-04 10:00:02,123 INFO memory_server.app: about the agent: nothing",
        "Traceback (most recent call last):",
    ]

    assert list(LineFilter(only_agent=True).select(lines)) == lines[:2]
