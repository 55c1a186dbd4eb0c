"""People: who belongs to a project, and how they log in."""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory_server.domain.account import AccountRole, Principal, PrincipalKind, SecretHash
from memory_server.domain.member import Login, Member, PasswordHash
from memory_server.errors import InvalidRequest, MemberNotFound, NotAuthenticated, VersionConflict
from memory_server.ports.attempts import Attempts
from memory_server.ports.clock import Clock
from memory_server.ports.members import Members
from memory_server.services.addresses import source_of
from memory_server.services.attempts import AttemptLimit
from memory_server.services.credentials import new_id, new_secret, opens, salted
from memory_server.services.tokens import Claims, Tokens

REFRESH_LIFETIME = timedelta(days=30)
MOST_LOGINS = 50
"""Of one member at a time; the oldest end."""
MOST_OF_NAME = 10
MOST_OF_ADDRESS = 100
WINDOW = timedelta(minutes=5)
"""How many logins of one name, and from one address, may fail in that time."""

ATTEMPTS = 8
"""How often a change is made anew when others change the same member meanwhile."""

_REFRESH_PREFIX = "ae_rt_"
_TICK = timedelta(microseconds=1)
_NOBODYS = salted(new_secret(""))
"""What a password is compared with when there is no member, so that it takes as long."""


@dataclass(frozen=True, slots=True)
class NewPassword:
    """A member and their password, which is shown once and never kept."""

    member: Member
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """The tokens of a login. The refresh token is good once."""

    member: Member
    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)


class MemberKeeping:
    """Manages the members of projects, and logs them in."""

    def __init__(
        self, *, members: Members, attempts: Attempts, clock: Clock, tokens: Tokens
    ) -> None:
        self._members = members
        self._clock = clock
        self._tokens = tokens
        self._of_name = AttemptLimit(
            attempts=attempts,
            clock=clock,
            what="failed logins of one user name from one address",
            most=MOST_OF_NAME,
            window=WINDOW,
        )
        self._of_address = AttemptLimit(
            attempts=attempts,
            clock=clock,
            what="failed logins from one address",
            most=MOST_OF_ADDRESS,
            window=WINDOW,
        )

    async def add(self, project_id: str, user_id: str, role: AccountRole) -> NewPassword:
        """Make somebody a member, with a password made here; raises `DuplicateName`."""
        _check_role(role)
        now = self._clock.now()
        password, kept = _new_password()
        member = Member(
            project_id=project_id,
            user_id=user_id,
            role=role,
            password=kept,
            created_at=now,
            updated_at=now,
        )
        await self._members.add(member)
        return NewPassword(member, password)

    async def list(self, project_id: str) -> Sequence[Member]:
        """Return a project's members, the oldest first."""
        return await self._members.list(project_id)

    async def get(self, project_id: str, user_id: str) -> Member:
        """Return one member, or raise `MemberNotFound`."""
        found = await self._members.find(project_id, user_id)
        if found is None:
            raise MemberNotFound(f"project {project_id!r} has no member {user_id!r}")
        return found

    async def change(
        self,
        project_id: str,
        user_id: str,
        *,
        role: AccountRole | None = None,
        is_active: bool | None = None,
    ) -> Member:
        """Change a member's role or whether they may call, from their next request on."""
        if role is not None:
            _check_role(role)
        return await self._changed(
            project_id,
            user_id,
            lambda member: replace(
                member,
                role=member.role if role is None else role,
                is_active=member.is_active if is_active is None else is_active,
            ),
            ends_logins=is_active is False,
        )

    async def reset_password(self, project_id: str, user_id: str) -> NewPassword:
        """Give a member a new password; the former one and all their logins end."""
        password, kept = _new_password()
        member = await self._changed(
            project_id, user_id, lambda stored: replace(stored, password=kept), ends_logins=True
        )
        return NewPassword(member, password)

    async def remove(self, project_id: str, user_id: str) -> None:
        """Remove a member; their tokens are refused from the next request on."""
        await self._members.remove(project_id, user_id)

    async def log_in(
        self, user_id: str, password: str, *, project_id: str | None, address: str | None
    ) -> LoggedIn:
        """Return the tokens of a new login; with no project, the one the password is for.

        Raises `NotAuthenticated`, for unknown names as for wrong passwords, and `RateLimited`.
        """
        source = source_of(address)
        # The address first: what it may try bounds how many names are remembered for it.
        counted = ((self._of_address, source), (self._of_name, f"{source} {user_id}"))
        for attempts, key in counted:
            await attempts.count(key)
        member = _whose(await self._members.named(user_id), password, project_id)
        if member is None:
            raise NotAuthenticated("the user name or the password is not valid")
        for attempts, key in counted:
            await attempts.forgive(key)
        return await self._begin(member)

    async def refresh(self, refresh_token: str) -> LoggedIn:
        """Return new tokens for a refresh token, which ends; raises `NotAuthenticated`.

        One that was used before ends its login: either it or its successor is in other hands.
        """
        login_id, _, secret = refresh_token.removeprefix(_REFRESH_PREFIX).partition(".")
        found = await self._members.login(login_id)
        if found is None:
            raise NotAuthenticated("the refresh token is not valid; log in again")
        login, member = found
        if not opens(login.refresh.salt, login.refresh.digest, secret):
            await self._members.end(login.id)
            raise NotAuthenticated("the refresh token was used before; its login has ended")
        if self._clock.now() >= login.refresh.expires_at:
            raise NotAuthenticated("the refresh token has expired; log in again")
        if not member.is_active:
            raise NotAuthenticated(f"the member {member.user_id!r} is not active any more")
        secret, kept = self._new_refresh()
        if not await self._members.renew(login.id, former=login.refresh, refresh=kept):
            await self._members.end(login.id)
            raise NotAuthenticated("the refresh token was used before; its login has ended")
        return self._logged_in(member, login.id, secret)

    async def log_out(self, principal: Principal, access_token: str) -> None:
        """End the login that a person's access token belongs to; of others nothing ends."""
        if principal.kind is PrincipalKind.PERSON:
            await self._members.end(self._tokens.read(access_token).login_id or "")

    async def _begin(self, member: Member) -> LoggedIn:
        secret, kept = self._new_refresh()
        now = self._clock.now()
        login = Login(
            id=new_id(""),
            project_id=member.project_id,
            user_id=member.user_id,
            refresh=kept,
            created_at=now,
        )
        await self._members.begin(login, of=member, now=now, most=MOST_LOGINS)
        return self._logged_in(member, login.id, secret)

    def _logged_in(self, member: Member, login_id: str, refresh_secret: str) -> LoggedIn:
        claims = Claims(
            kind=PrincipalKind.PERSON,
            subject=member.user_id,
            project_id=member.project_id,
            login_id=login_id,
        )
        refresh_token = f"{_REFRESH_PREFIX}{login_id}.{refresh_secret}"
        return LoggedIn(member, self._tokens.issue(claims), refresh_token)

    def _new_refresh(self) -> tuple[str, SecretHash]:
        secret = new_secret("")
        salt, digest = salted(secret)
        expires_at: datetime = self._clock.now() + REFRESH_LIFETIME
        return secret, SecretHash(salt=salt, digest=digest, expires_at=expires_at)

    async def _changed(
        self,
        project_id: str,
        user_id: str,
        change: Callable[[Member], Member],
        *,
        ends_logins: bool,
    ) -> Member:
        for _ in range(ATTEMPTS):
            stored = await self.get(project_id, user_id)
            later = max(self._clock.now(), stored.updated_at + _TICK)
            member = replace(change(stored), updated_at=later)
            with suppress(VersionConflict):
                await self._members.put(
                    member, expected_updated_at=stored.updated_at, ends_logins=ends_logins
                )
                return member
        raise VersionConflict(f"member {user_id!r} is being changed by others; try again")


def _whose(members: Sequence[Member], password: str, project_id: str | None) -> Member | None:
    """Return the active member whose password it is; every one is compared, and one at least."""
    opened = [
        member
        for member in members
        if opens(member.password.salt, member.password.digest, password)
    ]
    if not members:
        opens(*_NOBODYS, password)
    allowed = (
        member for member in opened if member.is_active and project_id in (None, member.project_id)
    )
    return next(allowed, None)


def _new_password() -> tuple[str, PasswordHash]:
    password = secrets.token_urlsafe(24)
    salt, digest = salted(password)
    return password, PasswordHash(salt=salt, digest=digest)


def _check_role(role: AccountRole) -> None:
    if role.is_of_organization:
        fitting = ", ".join(known for known in AccountRole if not known.is_of_organization)
        raise InvalidRequest(f"role: a member of a project has one of {fitting}")
