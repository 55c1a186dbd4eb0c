"""What `eval extraction` offers is what there is, though nothing of it is loaded for its help."""

import subprocess
import sys

from agentengine_cli.commands import eval_extraction
from evaluation.extraction import cases, details


def test_what_can_be_shown_is_what_is_told() -> None:
    assert eval_extraction.KINDS == details.KINDS


def test_halves_are_those_of_the_cases() -> None:
    assert (*cases.HALVES, "both") == eval_extraction.HALVES


def test_the_evaluation_is_not_loaded_with_the_command_line() -> None:
    program = "import sys, agentengine_cli.front; sys.exit('evaluation' in sys.modules)"

    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], check=False
    )

    assert done.returncode == 0
