"""JSON documents in files: written whole or not at all, readable by their owner only."""

import contextlib
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_server.errors import StorageCorrupt, StorageError, StorageFull

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def read(path: Path) -> dict[str, Any] | None:
    """Return the document in a file, or None where there is no file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError:
        # Without the cause: its text could hold a part of the content.
        raise damaged(path) from None
    if not isinstance(document, dict):
        raise damaged(path)
    return document


def damaged(path: Path) -> StorageCorrupt:
    """Return the error for a file that holds something else than this program writes."""
    return StorageCorrupt(f"{path} is damaged: delete it, and store again over HTTP what it is for")


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a file (mode 0600); what it held before is intact until the new content is durable.

    Raises `StorageFull` or `StorageError`; the file is then as it was.
    """
    content = json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(path, content)
    except OSError as error:
        kind = StorageFull if error.errno in _NO_ROOM else StorageError
        raise kind(
            f"{path} cannot be written: {error.strerror}. What it held before is unchanged"
        ) from error


def _replace(path: Path, content: bytes) -> None:
    # Always the same draft: one that a killed process left is overwritten by the next.
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _make_durable(path.parent)


def _make_durable(directory: Path) -> None:
    """Make the rename durable too; some file systems do not offer it, and lose nothing else."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
