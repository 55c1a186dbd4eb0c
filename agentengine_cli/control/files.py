"""State files: written whole or not at all, readable by their owner only."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentengine_cli.errors import CliError

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


class StateUnwritable(CliError):
    """A state file cannot be written; what it held before is intact."""


class StateDamaged(CliError):
    """A state file cannot be read."""


def write_atomically(path: Path, content: str) -> None:
    """Replace a file's content (mode 0600), surviving a crash at any point.

    Raises `StateUnwritable` when the disk is full or read-only; the old content then stays.
    """
    with refusing_clearly(path):
        _replace(path, content.encode("utf-8"))


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:  # mkstemp creates it 0600
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the rename durable too; some file systems do not offer it, and lose nothing else."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def refusing_clearly(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write `path` into one that says what is intact."""
    try:
        yield
    except OSError as error:
        raise StateUnwritable(
            f"Cannot write {path}: {error.strerror or error}. What was stored before is unchanged",
            hint="Free some space or make the directory writable, then run the command again",
        ) from error


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a JSON state file."""
    write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON state file's object, or None when there is no such file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not valid JSON"
        raise StateDamaged(
            f"Cannot read {path}: {reason}",
            hint=f"Delete {path} if nothing else explains it, then run the command again",
        ) from error
    if not isinstance(document, dict):
        raise StateDamaged(f"Cannot read {path}: expected a JSON object", hint=f"Delete {path}")
    return document
