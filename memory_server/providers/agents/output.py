"""What an agent prints, on its way into the server's log."""

import logging
import re
from asyncio import StreamReader
from collections.abc import Mapping

logger = logging.getLogger("agent")
"""Every line of an agent's output is logged under this name, and what is told of its processes
under `agent.process`: so both can be found in the log."""

LONGEST_LINE = 4096
"""Characters of a line that are kept."""
MOST_LINES = 500
MOST_CHARACTERS = 256 * 1024
"""How much of one invocation's output is kept; more is counted, not written."""
_SHORTEST_KEY = 8
"""Shorter values are no keys, and hiding them would tear up everything."""
_CHUNK = 64 * 1024


class Redaction:
    """Takes the values of keys out of texts."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # Line by line, as output is: a key may be a text of several.
        names = {
            line.strip(): name
            for name, value in secrets.items()
            for line in value.splitlines()
            if len(line.strip()) >= _SHORTEST_KEY
        }
        longest_first = sorted(names, key=len, reverse=True)
        self._names = names
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if names else None

    def __call__(self, text: str) -> str:
        """Return the text with the name of each key in the place of its value."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: f"[{self._names[found.group()]}]", text)


class Output:
    """Reads what one process prints, for as long as it prints, and logs a bounded part of it."""

    def __init__(self, redact: Redaction, label: str) -> None:
        self._redact = redact
        self._label = label
        self._lines = self._characters = self._dropped = 0

    async def pump(self, stream: StreamReader) -> None:
        """Read to the end; never waits for whoever reads the log, and never gives up reading."""
        rest, is_logged = b"", False
        while piece := await stream.read(_CHUNK):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if not is_logged:
                    self._log(line)
                is_logged = False
            if len(rest) > _CHUNK:
                # What is too long is not gone on with: the place of the cut could be within a key.
                if not is_logged:
                    self._log(rest)
                rest, is_logged = b"", True
        if rest and not is_logged:
            self._log(rest)
        self.begin()

    def begin(self) -> None:
        """Begin a new account of how much is printed, and tell what the last one left out."""
        if self._dropped:
            logger.warning("%s printed %d lines more, not kept here", self._label, self._dropped)
        self._lines = self._characters = self._dropped = 0

    def _log(self, data: bytes) -> None:
        if self._lines >= MOST_LINES or self._characters >= MOST_CHARACTERS:
            self._dropped += 1
            return
        text = self._redact(data.decode("utf-8", "backslashreplace"))
        shown = "".join(
            c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text.rstrip()
        )
        if not shown:
            return
        kept = shown if len(shown) <= LONGEST_LINE else f"{shown[:LONGEST_LINE]}... (cut)"
        self._lines += 1
        self._characters += len(kept)
        logger.info("%s", kept)
