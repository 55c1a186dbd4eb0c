"""Several projects and users on one server, and a model of who may see and change what.

Every stored thing carries a secret of its own, a word that nothing else has. The model knows whose
each is; what the server answers and what it keeps is compared with that after every request.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx

from memory_server.api.families import DIRECT, FLAT
from memory_server.application import Application
from memory_server.domain.account import PrincipalKind
from memory_server.domain.candidate import Candidate
from memory_server.domain.execution import MemoryIdentity
from memory_server.domain.job import JobKind
from memory_server.domain.scope import Scope
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.proposals import ProposalQuery
from tests.clock import START
from tests.factories import a_fact, a_job, a_proposal
from tests.unit.memory_server.api import callers
from tests.unit.memory_server.api.application import PROJECT

SHOP = PROJECT
BANK = "bank"
STRICT = "strict"
"""A project that enforces identity."""
USERS = ("ana", "bob", "cyd")
SESSIONS = ("monday", "tuesday")
VISIBILITIES = ("private", "org", "shared")
CUSTOM = "ticket"
TURN, RECORD, BLOCK, PROPOSAL = "turn", "record", "block", "proposal"
MEMORY_KINDS = ("semantic", "episodic", "taxonomic", "procedural")
MOST = 1000
WAITING = 8
"""Proposals of each user of each project."""

EXECUTION = "X-Agent-Engine-Execution-Id"
_SECRET = re.compile(r"zq\d{5}x")


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who calls, as the model knows them."""

    headers: Mapping[str, str] = field(default_factory=dict)
    has_token: bool = True
    project: str | None = None
    """The only project the token is good for."""
    identity: str | None = None
    """Whose records are the caller's own."""
    may_write: bool = True
    is_person: bool = False
    runs_in: str | None = None
    """The project of the execution that the call comes from."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Something stored, as the model knows it."""

    id: str
    kind: str
    project: str
    owner: str | None
    secret: str
    visibility: str | None = None
    """None: turns have none."""
    session: str | None = None
    key: tuple[str, ...] = ()
    """What a later save of the same owner replaces it by."""
    former: tuple[str, ...] = ()
    """Secrets of former versions."""
    deleted: bool = False
    state: str | None = None
    """Of a proposal: whether it waits, and what was decided."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """That the model expects a refusal, with one of these statuses."""

    statuses: tuple[int, ...]


@dataclass
class World:
    """The server under test and the model beside it."""

    application: Application
    client: httpx.AsyncClient
    callers: dict[str, Caller] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    keys: dict[tuple[str, str, str | None, str], str] = field(default_factory=dict)
    """Idempotency keys: project, session, user and key to the turn stored under them."""
    _secrets: int = 0

    def new_secret(self) -> str:
        """Return a word that nothing has yet."""
        self._secrets += 1
        return f"zq{self._secrets:05}x"

    def entry(self, caller: Caller, family: str, project: str, *, writes: bool) -> Refusal | None:
        """Whether a caller gets as far as a memory route of a project, or how they are refused."""
        if not caller.has_token and family not in (FLAT, DIRECT):
            return Refusal(statuses=(401,))
        if not caller.has_token and project == STRICT:
            return Refusal(statuses=(401,))
        if caller.project not in (None, project):
            return Refusal(statuses=(403,))
        if writes and not caller.may_write:
            return Refusal(statuses=(403,))
        return None

    def seen(
        self,
        project: str,
        user: str | None,
        visibility: str | None,
        *,
        kinds: Iterable[str] = (TURN, *MEMORY_KINDS),
        deleted: bool = False,
    ) -> list[Kept]:
        """Return what a scope admits: the AND of the conditions that are given."""
        return [
            one
            for one in self.kept.values()
            if one.project == project
            and one.kind in kinds
            and user in (None, one.owner)
            and _reaches(one, visibility)
            and (deleted or not one.deleted)
        ]

    def check_answer(self, answer: httpx.Response, admitted: Iterable[str]) -> None:
        """No answer holds a secret that its scope does not admit; an error holds none at all."""
        found = set(_SECRET.findall(answer.text)) | set(_SECRET.findall(str(answer.headers)))
        allowed = set(admitted) if answer.is_success else set()
        assert found <= allowed, (answer.request.method, answer.request.url, found - allowed)
        assert answer.status_code < 500, answer.text

    async def check_store(self) -> None:
        """The server keeps what the model says, each as its last rightful writer left it."""
        stored: dict[str, Any] = {}
        for project in (SHOP, BANK, STRICT):
            stored |= await self._memories(project) | await self._turns(project)
            stored |= await self._proposals(project)
        assert stored == {one.id: _as_stored(one) for one in self.kept.values()}

    async def _memories(self, project: str) -> dict[str, Any]:
        query = MemoryQuery(include_deleted=True)
        found = await self.application.store.memories.find(Scope(project_id=project), query)
        return {
            one.id: (
                one.project_id,
                one.user_id,
                str(one.visibility),
                one.deleted,
                set(_SECRET.findall(str(one.body) + json.dumps(dict(one.metadata)))),
            )
            for one in found
        }

    async def _proposals(self, project: str) -> dict[str, Any]:
        query = ProposalQuery(limit=MOST)
        found = await self.application.store.proposals.find(Scope(project_id=project), query)
        return {
            one.id: (
                one.project_id,
                one.user_id,
                str(one.state),
                False,
                set(_SECRET.findall(str(one.candidate.body))),
            )
            for one in found
        }

    async def _turns(self, project: str) -> dict[str, Any]:
        turns = self.application.store.turns
        found = {}
        for session in SESSIONS:
            scope = Scope(project_id=project, session_id=session)
            for one in await turns.recent(scope, limit=MOST):
                secrets = set(_SECRET.findall(one.content))
                found[one.id] = (one.project_id, one.user_id, None, False, secrets)
        return found


def _reaches(one: Kept, visibility: str | None) -> bool:
    """Whether a condition on visibility lets something through; turns are their user's own."""
    return visibility is None or visibility == (one.visibility or "private")


def _as_stored(one: Kept) -> Any:
    return (one.project, one.owner, one.state or one.visibility, one.deleted, {one.secret})


def user_meant(
    world: World, caller: Caller, action: str, project: str, user: str | None, named: str | None
) -> str | Refusal | None:
    """Return whose memory a call is about: the model's own reading of the rules of identity."""
    if caller.runs_in is not None:
        principal = caller.identity if caller.runs_in == project else None
        return _inside(principal, action, user, named)
    if project != STRICT or not caller.is_person:
        return user
    if user == caller.identity:
        return user
    if user is not None:
        return Refusal(statuses=(403,))
    wide = action == "read" and named in ("org", "shared")
    return None if wide else caller.identity


def _inside(
    principal: str | None, action: str, user: str | None, named: str | None
) -> str | Refusal | None:
    if action == "change" and user is None and principal is not None:
        return principal
    if user is None and named is None:
        return Refusal(statuses=(400,))
    if named in ("org", "shared"):
        return user
    if user is None or principal not in (None, user):
        return Refusal(statuses=(403,))
    return user


async def a_world(application: Application, client: httpx.AsyncClient) -> World:
    """Make the projects and everybody who calls."""
    world = World(application, client)
    await callers.a_project(client, BANK)
    await callers.a_project(client, STRICT)
    known = world.callers
    known["anonymous"] = Caller(has_token=False)
    known["owner"] = Caller(headers=callers.OWNER)
    for project in (SHOP, BANK):
        known[f"account of {project}"] = await _account(world, project, "AGENT_DEVELOPER")
    known["reader of shop"] = await _account(world, SHOP, "PROJECT_READ_ONLY")
    known["agent of ana"] = Caller(
        headers={**callers.OWNER, EXECUTION: await _execution(application)},
        identity="ana",
        runs_in=SHOP,
    )
    for user in USERS[:2]:
        headers = await callers.a_person(client, user, project=STRICT)
        known[user] = Caller(headers=headers, project=STRICT, identity=user, is_person=True)
    await callers.enforce_identity(client, STRICT)
    for project in (SHOP, BANK, STRICT):
        for owner in (*USERS, None):
            await _propose(world, project, owner)
    return world


async def _propose(world: World, project: str, user: str | None) -> None:
    """Have facts of somebody wait for a decision."""
    store, secrets = world.application.store, [world.new_secret() for _ in range(WAITING)]
    await store.jobs.enqueue([a_job(project_id=project, user_id=user)])
    job = await store.jobs.claim(
        worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=START + timedelta(hours=1)
    )
    assert job is not None
    made = {
        secret: a_proposal(
            project_id=project,
            user_id=user,
            candidate=Candidate(
                body=a_fact(label=f"told-{number}", text=f"heard {secret}"), turn_ids=()
            ),
        )
        for number, secret in enumerate(secrets)
    }
    await store.proposals.add(project, [*made.values()], settling=job)
    for secret, proposal in made.items():
        world.kept[proposal.id] = Kept(
            id=proposal.id,
            kind=PROPOSAL,
            project=project,
            owner=user,
            secret=secret,
            state="pending",
        )


async def _account(world: World, project: str, role: str) -> Caller:
    headers = await callers.an_account(world.client, role, project)
    *_, account = await world.application.service_accounts.list(project)
    may_write = role != "PROJECT_READ_ONLY"
    return Caller(headers=headers, project=project, identity=account.client_id, may_write=may_write)


async def _execution(application: Application) -> str:
    identity = MemoryIdentity(kind=PrincipalKind.OWNER, user_id="ana")
    execution = await application.executions.begin(
        project_id=SHOP, identity=identity, session_id="monday", workspace="default"
    )
    return execution.id


def superseded(one: Kept, secret: str, **changes: Any) -> Kept:
    """Return something kept after a change of what it says."""
    return replace(one, secret=secret, former=(*one.former, one.secret), **changes)
