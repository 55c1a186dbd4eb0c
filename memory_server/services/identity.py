"""Whose bearer token it is, and whether it still opens anything."""

import hmac

from memory_server.domain.account import Principal, PrincipalKind, ServiceAccount
from memory_server.domain.execution import Execution
from memory_server.domain.member import Member
from memory_server.errors import Forbidden, NotAuthenticated
from memory_server.ports.accounts import Accounts
from memory_server.ports.members import Members
from memory_server.services.addresses import is_listed
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.tokens import Claims, Tokens


class Identity:
    """Looks every caller up anew, so that what was changed or removed holds at once."""

    def __init__(
        self,
        *,
        accounts: Accounts,
        members: Members,
        tokens: Tokens,
        owner_token: str,
        executions: ExecutionKeeping | None = None,
    ) -> None:
        self._accounts = accounts
        self._members = members
        self._tokens = tokens
        self._owner_token = owner_token.encode()
        self._executions = executions

    async def authenticate(
        self, bearer: str, *, project_id: str | None = None, address: str | None = None
    ) -> Principal:
        """Return whose token it is; raises `NotAuthenticated`, `TokenExpired` or `Forbidden`.

        With `project_id`, the token must be good for that project; `address` is the caller's,
        for accounts that may only call from listed ones.
        """
        if self.is_owner(bearer):
            return Principal(kind=PrincipalKind.OWNER, id=PrincipalKind.OWNER.value)
        principal = await self._of_agent(bearer) or await self._of_token(bearer, address)
        if project_id is not None and principal.project_id != project_id:
            raise Forbidden(_foreign(principal, project_id))
        return principal

    def is_owner(self, bearer: str) -> bool:
        """Tell whether it is the token of whoever runs the server; asks nothing of the store."""
        return hmac.compare_digest(bearer.encode("utf-8", "surrogatepass"), self._owner_token)

    async def _of_agent(self, bearer: str) -> Principal | None:
        """Return who an agent's process works for at the moment; None: it is no such process.

        Whoever invoked the agent has to be let in themselves, still and not again.
        """
        if self._executions is None or not self._executions.is_badge(bearer):
            return None
        execution = self._executions.of_badge(bearer)
        if execution is None:
            raise NotAuthenticated("this token is good only while its agent works on an execution")
        invoker = await self._invoker(execution)
        if invoker is None:
            raise NotAuthenticated("whoever invoked the agent is not let in any more")
        return Principal(
            kind=PrincipalKind.EXECUTION,
            id=execution.user_id,
            project_id=execution.project_id,
            on_behalf_of=invoker,
        )

    async def _invoker(self, execution: Execution) -> Principal | None:
        """Return who invoked an agent as they stand now; None: they are not let in any more."""
        kind, invoker = execution.identity.kind, execution.identity.invoker
        if kind is PrincipalKind.PERSON:
            member = await self._members.find(execution.project_id, invoker)
            # One who was added after the beginning is another, in a project made anew perhaps.
            if member is None or member.created_at > execution.started_at:
                return None
            return _person(member) if member.is_active else None
        if kind is PrincipalKind.SERVICE_ACCOUNT:
            account = await self._accounts.find(invoker)
            if account is None or account.project_id != execution.project_id:
                return None
            return _program(account) if account.is_active else None
        return Principal(kind=kind, id=invoker)

    async def _of_token(self, bearer: str, address: str | None) -> Principal:
        claims = self._tokens.read(bearer)
        if claims.kind is PrincipalKind.PERSON:
            return await self._of_person(claims)
        return await self._of_account(claims, address)

    async def _of_person(self, claims: Claims) -> Principal:
        found = await self._members.login(claims.login_id or "")
        if found is None:
            raise NotAuthenticated("this login has ended; log in again")
        login, member = found
        if (login.user_id, login.project_id) != (claims.subject, claims.project_id):
            raise NotAuthenticated("the bearer token is not valid")
        if not member.is_active:
            raise NotAuthenticated(f"the member {member.user_id!r} is not active any more")
        return _person(member)

    async def _of_account(self, claims: Claims, address: str | None) -> Principal:
        account = await self._accounts.find(claims.subject)
        if account is None or not account.is_active or account.project_id != claims.project_id:
            raise NotAuthenticated("the service account of this token exists no longer")
        if account.ip_access_list and not is_listed(address, account.ip_access_list):
            raise Forbidden("the caller's address is not on the service account's access list")
        return _program(account)


def _person(member: Member) -> Principal:
    return Principal(
        kind=PrincipalKind.PERSON,
        id=member.user_id,
        project_id=member.project_id,
        role=member.role,
    )


def _program(account: ServiceAccount) -> Principal:
    return Principal(
        kind=PrincipalKind.SERVICE_ACCOUNT,
        id=account.client_id,
        project_id=account.project_id,
        role=account.role,
    )


_NAMES = {
    PrincipalKind.PERSON: "login",
    PrincipalKind.SERVICE_ACCOUNT: "service account",
    PrincipalKind.EXECUTION: "execution",
}


def _foreign(principal: Principal, project_id: str) -> str:
    name = _NAMES[principal.kind]
    if principal.project_id is None:
        return f"the {name} belongs to the organization and opens no project"
    return f"the {name} belongs to project {principal.project_id!r} and may not use {project_id!r}"
