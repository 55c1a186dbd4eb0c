"""The example on the README's first screen runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

from tests.wire.conftest import Served

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_example_is_five_lines_and_runs(served: Served) -> None:
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert sum(1 for line in example.splitlines() if line) == 5

    code = example.replace("http://127.0.0.1:8080", served.url)
    done = subprocess.run(  # noqa: S603 - the example itself
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "I always fly out of Boston." in done.stdout
