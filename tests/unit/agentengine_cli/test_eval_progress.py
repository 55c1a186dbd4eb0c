import pytest

from agentengine_cli.eval_progress import TOLD_EVERY, Watching
from agentengine_cli.output import Output


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes as a test says."""
    now = [0.0]
    monkeypatch.setattr("agentengine_cli.progress.time.monotonic", lambda: now[0])
    return now


def test_without_a_terminal_a_line_now_and_then_says_how_long_it_takes(
    passing: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with Watching(Output()).stage("search", 240) as stage:
        for _ in range(240):
            passing[0] += TOLD_EVERY / 60
            stage.advance()

    told = capsys.readouterr().err.splitlines()
    assert told[:3] == [
        "search: 60 of 240, about 2 min left",
        "search: 120 of 240, about 1 min left",
        "search: 180 of 240, about 30 s left",
    ]
    assert len(told) == 4
    assert told[3].startswith("search: 240 of 240 in 120.0 s")


@pytest.mark.parametrize("how", ["quiet", "as_json"])
def test_nobody_is_told_who_does_not_want_to_be(
    passing: list[float], capsys: pytest.CaptureFixture[str], how: str
) -> None:
    output = Output()
    setattr(output, how, True)
    watching = Watching(output)

    with watching.stage("search", 2) as stage:
        passing[0] += 2 * TOLD_EVERY
        stage.advance()
    watching.note("something")

    assert capsys.readouterr().err == ""
