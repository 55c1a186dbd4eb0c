"""The file log: what the command line did, kept beside the user's other state."""

import logging
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from logging.handlers import RotatingFileHandler
from pathlib import Path

LEVELS = {
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
MAX_BYTES = 1_000_000
DEFAULT_FILES = 3

logger = logging.getLogger("agentengine_cli")
logger.propagate = False
logger.addHandler(logging.NullHandler())

_SECRETS = re.compile(
    r"(?P<kind>ae_sa_sk_|sk-|pa-|al-|AIza|Bearer\s+|eyJ)[A-Za-z0-9_\-.=+/]{8,}"
    r"|(?P<scheme>://[^\s:/@]*:)[^\s@]+(?=@)"
)


def redacted(text: str) -> str:
    """Return the text with everything that looks like a key, token or password taken out."""
    return _SECRETS.sub(lambda found: f"{found['kind'] or found['scheme']}[redacted]", text)


def variable(environ: Mapping[str, str], name: str) -> str | None:
    """Return AGENTENGINE_<name>, else the older AGENTIC_<name>; blank counts as unset."""
    for prefix in ("AGENTENGINE_", "AGENTIC_"):
        value = environ.get(prefix + name, "").strip()
        if value:
            return value
    return None


def is_true(value: str | None) -> bool:
    """Tell whether an environment value switches something on."""
    return (value or "").lower() in {"1", "true", "yes", "on"}


def default_path(environ: Mapping[str, str]) -> Path:
    """Return where the log goes when nobody says: the user's state directory."""
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "agentengine" / "agentengine.log"


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class _QuietHandler(RotatingFileHandler):
    """A full disk must not fail the command, nor write over its output."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        del record


@dataclass(slots=True, kw_only=True)
class FileLog:
    """The settings of the log, which options may still change, and the open log."""

    path: Path | None = None
    """None: where `default_path` says."""
    level: str = "info"
    enabled: bool = False
    files: int = DEFAULT_FILES
    problem: str | None = None
    """Why there is no log although one is wanted."""
    environ: Mapping[str, str] = field(default_factory=dict)
    _handler: logging.Handler | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "FileLog":
        """Read NO_LOG, LOG_FILE, LOG_LEVEL and LOG_MAX_FILES."""
        named = variable(environ, "LOG_FILE")
        level = (variable(environ, "LOG_LEVEL") or "info").lower()
        files = variable(environ, "LOG_MAX_FILES") or ""
        return cls(
            path=Path(named) if named else None,
            level=level if level in LEVELS else "info",
            enabled=not is_true(variable(environ, "NO_LOG")),
            files=int(files) if files.isdecimal() else DEFAULT_FILES,
            environ=environ,
        )

    def start(self) -> None:
        """Open the log, once; what hinders it is kept in `problem`."""
        if self._handler is not None or not self.enabled or self.problem:
            return
        try:
            path = self.path or default_path(self.environ)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
            handler = _QuietHandler(
                path, maxBytes=MAX_BYTES, backupCount=max(self.files - 1, 0), encoding="utf-8"
            )
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory
            self.problem = f"No log is kept: {error}"
            return
        handler.setFormatter(_Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
        logger.setLevel(LEVELS[self.level])
        logger.addHandler(handler)
        self._handler = handler

    def close(self) -> None:
        """Close the file."""
        if self._handler is not None:
            logger.removeHandler(self._handler)
            self._handler.close()
            self._handler = None
