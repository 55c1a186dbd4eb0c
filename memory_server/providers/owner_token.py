"""The secret of whoever owns the deployment, kept in a file of its own."""

import os
import secrets
from pathlib import Path

from memory_server.errors import InvalidProjectConfig

SHORTEST = 16
"""Characters. What the server makes itself has 43."""


def read_or_make(path: Path) -> str:
    """Return the token in the file, made if there is no file.

    Raises `InvalidProjectConfig` for a file that cannot be read or written, and for a token that
    could be guessed: all tokens of service accounts are signed with it.
    """
    try:
        if not path.exists():
            _make(path)
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidProjectConfig(
            f"the owner token in {path} cannot be read or written: "
            f"{getattr(error, 'strerror', None) or type(error).__name__}"
        ) from error
    if len(token) < SHORTEST:
        raise InvalidProjectConfig(
            f"{path} holds {'no' if not token else 'too short an'} owner token: it needs "
            f"{SHORTEST} characters or more. Delete the file to have a new one made; tokens of "
            "service accounts have to be asked for anew then"
        )
    return token


def _make(path: Path) -> None:
    """Write a fresh token; the file is whole from its first moment, or is not there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32))
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(draft, path)
        _sync_directory(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _put_in_place(draft: Path, path: Path) -> None:
    """Let the draft be the file, unless another process was faster: then its token counts."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        draft.replace(path)


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
