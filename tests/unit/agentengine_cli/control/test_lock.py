import os
from pathlib import Path

import pytest

from agentengine_cli.control.lock import LockHeld, locked
from tests.unit.agentengine_cli.control.manual_clock import ManualClock


def test_second_holder_waits_its_time_and_is_told_who_holds_it(tmp_path: Path) -> None:
    clock = ManualClock()

    with (
        locked(tmp_path / "lock", clock=clock, timeout_seconds=3),
        pytest.raises(LockHeld, match=f"process {os.getpid()}"),
        locked(tmp_path / "lock", clock=clock, timeout_seconds=3),
    ):
        pass

    assert clock.elapsed >= 3


def test_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    clock = ManualClock()
    with (
        pytest.raises(KeyboardInterrupt),
        locked(tmp_path / "lock", clock=clock, timeout_seconds=0),
    ):
        raise KeyboardInterrupt

    with locked(tmp_path / "lock", clock=clock, timeout_seconds=0):
        assert clock.elapsed == 0
