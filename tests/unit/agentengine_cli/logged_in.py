"""Logins as `auth login` would have kept them."""

from pathlib import Path
from typing import Any

from agentengine_cli.control.clock import SystemClock
from agentengine_cli.home import user_directory
from agentengine_cli.logins import Login, LoginFile

URL = "https://memory.example.com"


def a_login(**changes: Any) -> Login:
    """Return a login that does not end, valid unless changed."""
    fields: dict[str, Any] = {
        "base_url": URL,
        "kind": "person",
        "id": "ana",
        "role": "PROJECT_OWNER",
        "project_id": "p",
        "org_id": "o",
        "access_token": "the-access-token",
        "refresh_token": "the-refresh-token",
        "logged_in_at": "2026-01-01T00:00:00+00:00",
    }
    return Login(**(fields | changes))


def keep(home: Path, *logins: Login) -> LoginFile:
    """Keep logins in a home directory."""
    directory = user_directory({"HOME": str(home)})
    file = LoginFile(directory=directory)
    with directory.editing(directory.auth, SystemClock()):
        for login in logins:
            file.keep(login)
    return file
