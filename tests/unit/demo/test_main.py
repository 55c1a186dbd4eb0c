from pathlib import Path

import pytest
from rich.console import Console

from demo import __main__ as demo


def test_a_command_is_shown_with_the_names_of_its_variables_and_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "CONSOLE", Console(highlight=False, soft_wrap=True))

    demo._run("version", cwd=tmp_path, extra={"AGENTENGINE_CLIENT_SECRET": "the-value"})
    demo._run("version", cwd=tmp_path)

    said = capsys.readouterr().out
    assert "$ AGENTENGINE_CLIENT_SECRET=... agentengine version\n" in said
    assert "\n$ agentengine version\n" in said
    assert "the-value" not in said
