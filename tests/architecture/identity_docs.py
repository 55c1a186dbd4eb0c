"""Writes docs/reference/identity.md from the decisions themselves.

Run `python -m tests.architecture.identity_docs` after a right or a rule changed.
"""

from collections.abc import Iterator
from pathlib import Path

from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.policy import Action, Named, Right, Standing, check_right, user_meant
from memory_server.domain.scope import Visibility
from memory_server.errors import Forbidden, IdentityMissing, MemoryServerError
from memory_server.services import members, service_accounts
from memory_server.services.tokens import TOKEN_LIFETIME

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "identity.md"

CALLERS = {
    "no token, on the own machine": Principal(kind=PrincipalKind.ANONYMOUS, id="anonymous"),
    "the owner token": Principal(kind=PrincipalKind.OWNER, id="owner"),
    "an agent's process": Principal(kind=PrincipalKind.EXECUTION, id="ana", project_id="shop"),
} | {
    f"{name}, `{role.value}`": Principal(kind=kind, id="ana", role=role)
    for name, kind in (
        ("person", PrincipalKind.PERSON),
        ("service account", PrincipalKind.SERVICE_ACCOUNT),
    )
    for role in AccountRole
    if kind is PrincipalKind.SERVICE_ACCOUNT or not role.is_of_organization
}
NAMED = [
    (user, visibility)
    for user in (None, "ana", "bob")
    for visibility in (None, Visibility.PRIVATE, Visibility.ORG)
]
PERSON = Principal(kind=PrincipalKind.PERSON, id="ana", role=AccountRole.AGENT_DEVELOPER)


def _often(attempts: int, seconds: float) -> str:
    return f"{attempts} in {seconds:g} seconds"


HEAD = f"""# Who may call, and whose memory they may name

Generated from the server's decisions by `python -m tests.architecture.identity_docs`; do not edit.

## Callers

- **No token**: on the server's own machine, for the flat and direct routes. A project that
  enforces identity refuses it.
- **The owner token** is in the server's data directory and opens everything.
- **People** are members of a project, with one role. `POST /api/v1/auth/login` gives an access
  token for {TOKEN_LIFETIME.total_seconds() / 60:g} minutes and a refresh token for
  {members.REFRESH_LIFETIME.days} days, which is good once: used again, it ends the login with all
  its tokens. Passwords are made by the server, told once, and kept as salted hashes.
- **Service accounts** belong to a project or to the organization, with one role.
  `POST /api/v1/oauth/token` gives a token for {TOKEN_LIFETIME.total_seconds() / 60:g} minutes. A
  secret that was rotated stays valid for {service_accounts.ROTATION_GRACE.days} days, until it is
  rotated again. An access list of addresses holds for every call but that for a token.
- **An agent's process** acts for the user of the execution it works on, and is always inside it.
  It may do no more than whoever invoked the agent, as they stand with each call: once they are
  removed, deactivated or only readers, so is it. What it invokes in its turn is invoked by them.

Tokens open one project. Who is removed, deactivated or given another role is so from the next
request on. A project is removed with its accounts and members; another of the same id does not
open to them, and what was on its way into the former one is refused with `PROJECT_NOT_FOUND`.

## Without a token

A call is one of this machine when all of this holds:

- it comes from a loopback address;
- its one `Host` is `localhost`, a name below it (`app.localhost`), a loopback address, or the
  machine's own host name, so that a page of another site cannot have its name resolved to this
  machine;
- it carries none of the headers by which proxies say that they pass a call on (`Forwarded`, `Via`,
  `X-Real-IP`, every `X-Forwarded-...`, and their like), and is not HTTP/1.0.

**A proxy on the same machine** makes every caller one of this machine. Most say what they do and
are recognised by that, but not all. Before one is put in front of the server, give
`AGENTENGINE_TRUSTED_PROXIES` its addresses or networks, as `127.0.0.1 10.0.0.0/8`. Then every call
needs a token, and `X-Forwarded-For` of those proxies is believed: access lists and limits hold for
the callers behind them. Without the setting it is believed of nobody.

## How often

Failed logins of one name from one address are limited to
{_often(members.MOST_OF_NAME, members.WINDOW.total_seconds())}, from one address to
{_often(members.MOST_OF_ADDRESS, members.WINDOW.total_seconds())}; tokens of one account to
{_often(service_accounts.MOST_OF_ACCOUNT, service_accounts.WINDOW.total_seconds())}, of one
address to {_often(service_accounts.MOST_OF_ADDRESS, service_accounts.WINDOW.total_seconds())},
wrong secrets included; only right ones count for the account. An IPv6 network of 64 bits counts as
one address. The counts are kept in memory and begin anew with the server. Beyond, the answer is
429 with `Retry-After`.

## Rights

Older spellings are understood: `PROJECT_MEMBER` is `PROJECT_READ_ONLY`, `ORG_ADMIN` is
`ORG_GROUP_CREATOR`.

"""

REVIEW = """
People who do not own the project review only what is proposed of themselves; whoever may administer
it reviews what is proposed of all. An agent's process never reviews, nor does anybody from inside
an execution, nor a service account below `PROJECT_OWNER`: whoever talks with the user is not the
one who decides what is kept of it.
"""

POLICY = """
## Whom a call may name

Here Ana calls, or an execution of hers does. `user_id` and `visibility` are those of the body, or
of the query of GET and DELETE. What is answered: whose memory is meant, or the refusal.

- *Inside an execution* a request carries `X-Agent-Engine-Execution-Id`. Whose execution it is, if
  it is known here, is who calls; else the service account or the person; a caller who is nobody
  (no token, the owner token) is whoever is named.
- *Enforced*: a person in a project with `enforce_identity`, or an agent for them, which also
  keeps to the column before. Service accounts and the owner name whom they like. Changing is only
  for one's own memories; deleting too, but a `PROJECT_OWNER` deletes anybody's (their agent does
  not).

"""


def document() -> str:
    """Return the whole page."""
    return "".join([HEAD, *_rights(), REVIEW, POLICY, *_policy()])


def _rights() -> Iterator[str]:
    yield f"| | {' | '.join(right.value for right in Right)} |\n"
    yield f"|---|{'---|' * len(Right)}\n"
    for name, principal in CALLERS.items():
        marks = ("yes" if _has(principal, right) else "" for right in Right)
        yield f"| {name} | {' | '.join(marks)} |\n"


def _has(principal: Principal, right: Right) -> bool:
    try:
        check_right(principal, right)
    except Forbidden:
        return False
    return True


def _policy() -> Iterator[str]:
    yield "| user_id | visibility | free | inside an execution | enforced read | enforced save |\n"
    yield "|---|---|---|---|---|---|\n"
    columns = [
        (Standing(principal=PERSON), Action.READ),
        (Standing(principal=PERSON, inside=True), Action.READ),
        (Standing(principal=PERSON, enforces=True), Action.READ),
        (Standing(principal=PERSON, enforces=True), Action.SAVE),
    ]
    for user_id, visibility in NAMED:
        cells = [
            _outcome(standing, Named(action=action, user_id=user_id, visibility=visibility))
            for standing, action in columns
        ]
        shown = visibility.value if visibility else "-"
        yield f"| {user_id or '-'} | {shown} | {' | '.join(cells)} |\n"


def _outcome(standing: Standing, named: Named) -> str:
    try:
        return user_meant(standing, named) or "anybody's"
    except MemoryServerError as error:
        status = 400 if isinstance(error, IdentityMissing) else 403
        return f"{status} `{error.code}`"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
