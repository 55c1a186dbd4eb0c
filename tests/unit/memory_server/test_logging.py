"""What the log of a server never holds, however much is asked for."""

import subprocess
import sys

PROGRAM = """
import logging
from dataclasses import replace
from memory_server.__main__ import _log_as
from memory_server.settings import from_environment

settings = from_environment({})
_log_as(replace(settings, memory=replace(settings.memory, log_level="debug")))
logging.getLogger("memory_server.services").debug("our own words")
for name in ("command", "connection", "serverSelection", "client", "topology"):
    logging.getLogger(f"pymongo.{name}").debug("what somebody said")
"""


def test_at_level_debug_the_driver_writes_down_nothing_of_what_is_stored() -> None:
    ran = subprocess.run(  # noqa: S603 our own interpreter
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )

    assert "our own words" in ran.stderr
    assert "what somebody said" not in ran.stderr
