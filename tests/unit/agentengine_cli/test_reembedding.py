from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agentengine_cli.control.report import told_reembedding
from agentengine_cli.output import Output
from agentengine_cli.reembedding import NotReembedded, watch
from tests.unit.agentengine_cli.control.manual_clock import ManualClock

RUNNING = {"state": "running", "from": "a@1", "to": "b@2", "done": 420, "total": 1000}


def looks(*told: Mapping[str, Any]) -> Any:
    answers: Iterator[Mapping[str, Any]] = iter(told)
    return lambda: next(answers)


def watched(*told: Mapping[str, Any], seconds: float = 60.0) -> None:
    watch(looks(*told), output=Output(), clock=ManualClock(), seconds=seconds, options=" -c x")


def test_it_is_watched_until_the_other_model_answers(capsys: pytest.CaptureFixture[str]) -> None:
    watched(RUNNING, RUNNING | {"done": 900}, {"state": "removing"})

    assert "Re-embedding: 1000 of 1000" in capsys.readouterr().err


def test_nothing_is_watched_where_nothing_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    watched({})

    assert capsys.readouterr().err == ""


def test_a_time_that_is_over_is_told_with_what_the_work_waits_for() -> None:
    waiting = RUNNING | {"problem": "the model is away"}

    with pytest.raises(NotReembedded, match=r"420 of 1000 .*the model is away") as late:
        watched(*[waiting] * 9, seconds=1)

    assert late.value.hint == ("It goes on in the background; see: agentengine memory status -c x")


def test_work_that_was_given_up_meanwhile_is_no_success() -> None:
    with pytest.raises(NotReembedded, match="given up"):
        watched(RUNNING, {"state": "needed", "from": "a@1", "to": "b@2"})


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({}, ""),
        (None, ""),
        (RUNNING, "420 of 1000 (a@1 -> b@2)"),
        (RUNNING | {"problem": "away"}, "420 of 1000 (a@1 -> b@2); away"),
        (RUNNING | {"meaning": "off"}, "420 of 1000 (a@1 -> b@2); meaning is off"),
        ({"state": "removing"}, "done; the vectors of the former model are being removed"),
    ],
)
def test_status_tells_it_in_one_line(told: object, line: str) -> None:
    assert told_reembedding(told) == line
