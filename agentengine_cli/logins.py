"""The tokens of those who logged in: auth.json, readable by its owner only.

`{"logins": {"<base url>": [{"kind", "id", "role", "project_id", "org_id", "access_token",
"refresh_token", "expires_at", "logged_in_at"}]}}`, one entry a project.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import StateDamaged, read_json, write_json
from agentengine_cli.home import UserDirectory

EARLY = timedelta(seconds=60)
"""A token that ends within this is renewed before it is shown."""
OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who is logged in to which server, and the tokens that prove it."""

    base_url: str
    kind: str
    """`person`, `service_account`, or `owner` for the token of whoever runs the server."""
    id: str
    role: str | None = None
    project_id: str | None = None
    """None: not tied to a project."""
    org_id: str | None = None
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: str | None = None
    """ISO 8601, UTC; None: it does not end."""
    logged_in_at: str

    def public(self, clock: Clock) -> dict[str, Any]:
        """Return everything but the tokens."""
        shown = {name: value for name, value in asdict(self).items() if not name.endswith("_token")}
        return shown | {"expired": self.is_expired(clock), "renewable": bool(self.refresh_token)}

    def is_expired(self, clock: Clock) -> bool:
        """Tell whether the access token has ended."""
        return self.expires_at is not None and clock.now() >= datetime.fromisoformat(
            self.expires_at
        )

    def is_due(self, clock: Clock) -> bool:
        """Tell whether the access token should be renewed before it is used."""
        return self.expires_at is not None and (
            clock.now() + EARLY >= datetime.fromisoformat(self.expires_at)
        )

    def is_for(self, base_url: str, project_id: str | None) -> bool:
        """Tell whether another login to that place would take the place of this one."""
        return (self.base_url, self.project_id) == (base_url, project_id)

    def is_meant(self, base_url: str | None, project_id: str | None) -> bool:
        """Tell whether it is a login there; None: to any server, for any project."""
        return base_url in {None, self.base_url} and project_id in {None, self.project_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFile:
    """Reads and replaces auth.json; edit it only while holding `UserDirectory.editing`."""

    directory: UserDirectory

    def all(self) -> Sequence[Login]:
        """Return every login."""
        document = (read_json(self.directory.auth) or {}).get("logins", {})
        try:
            return [_login(url, entry) for url, kept in document.items() for entry in kept]
        except (TypeError, AttributeError):
            # Without the cause: its text could hold a token.
            raise StateDamaged(
                f"Cannot read {self.directory.auth}: it is not what `auth login` writes",
                hint=f"Delete {self.directory.auth}, then: agentengine auth login",
            ) from None

    def of(self, base_url: str) -> Sequence[Login]:
        """Return the logins to one server."""
        return [login for login in self.all() if login.base_url == base_url]

    def find(self, base_url: str, project_id: str | None) -> Login | None:
        """Return the login to use for a project: its own, else one that is tied to none.

        With no project, the last one that was made.
        """
        found = self.of(base_url)
        if project_id is None:
            return found[-1] if found else None
        for wanted in (project_id, None):
            for login in found:
                if login.project_id == wanted:
                    return login
        return None

    def keep(self, login: Login) -> None:
        """Add a login, in the place of the one for the same server and project."""
        others = [kept for kept in self.all() if not kept.is_for(login.base_url, login.project_id)]
        self._write([*others, login])

    def forget(self, ended: Sequence[Login]) -> None:
        """Remove these logins, with whatever renewed their tokens meanwhile."""
        gone = {(login.base_url, login.project_id) for login in ended}
        every = self.all()
        left = [login for login in every if (login.base_url, login.project_id) not in gone]
        if len(left) < len(every):
            self._write(left)

    def _write(self, logins: Sequence[Login]) -> None:
        document: dict[str, list[dict[str, Any]]] = {}
        for login in logins:
            entry = asdict(login)
            document.setdefault(entry.pop("base_url"), []).append(entry)
        write_json(self.directory.auth, {"logins": document})


def _login(base_url: str, entry: Mapping[str, Any]) -> Login:
    known = {name.name for name in fields(Login)} - {"base_url"}
    given = {name: value for name, value in entry.items() if name in known}
    return Login(base_url=base_url, **given)
