"""One request of a script against the world."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

from memory_server.api.families import PROJECT
from tests.wire.isolation_world import (
    BLOCK,
    CUSTOM,
    MEMORY_KINDS,
    PROPOSAL,
    Caller,
    Kept,
    Refusal,
    World,
    user_meant,
)

API_OF_PROJECT = PROJECT.removesuffix("/memory")
ADMIN = "/admin"
_PLACE_OF_ID = re.compile(r"\{\w+_id\}")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request of a script, before it is known what there is to ask for."""

    route: tuple[str, str]
    """Method, and path behind the prefix."""
    by: tuple[str, str, str]
    """Who calls, under which prefix, and for which project."""
    user: str | None
    visibility: str | None
    session: str
    pick: int
    """Which of the things stored so far is meant, counted round."""
    flag: bool
    """One of the two ways in which a route can be asked."""


@dataclass(frozen=True)
class Call:
    """A step in the world."""

    world: World
    step: Step
    caller: Caller
    project: str

    @property
    def path(self) -> str:
        tail = self.step.route[1].replace("{type_name}", CUSTOM)
        prefix = API_OF_PROJECT if tail.startswith(ADMIN) else self.step.by[1]
        return prefix.replace("{project_id}", self.project) + tail

    @cached_property
    def kind(self) -> str | None:
        """The kind of memory that the route is about; None: any."""
        if self.step.route[1].startswith("/blocks"):
            return BLOCK
        if self.step.route[1].startswith("/proposals"):
            return PROPOSAL
        named = [part for part in self.step.route[1].split("/") if part in MEMORY_KINDS]
        if self.step.route[1] == "/search":
            return MEMORY_KINDS[self.step.pick % len(MEMORY_KINDS)]
        return named[0] if named else None

    @cached_property
    def target(self) -> Kept | None:
        """The thing that is meant, whoever's it is; None while there is nothing.

        Mostly of the kind and the project of the route, and sometimes of any.
        """
        there = [*self.world.kept.values()]
        near = [one for one in there if one.project == self.project]
        if near and self.step.pick % 5:
            there = [one for one in near if self.kind in (None, one.kind)] or near
        return there[self.step.pick % len(there)] if there else None

    def meant(self, action: str, named: str | None) -> str | Refusal | None:
        """Return whom the step is about, or how it has to be refused."""
        if refused := self.entry(writes=action != "read"):
            return refused
        return user_meant(self.world, self.caller, action, self.project, self.step.user, named)

    def entry(self, *, writes: bool) -> Refusal | None:
        """Return how the caller has to be refused whatever the step is about, if they have."""
        family = self.step.by[1]
        return self.world.entry(self.caller, family, self.project, writes=writes)

    async def send(self, path: str, *, body: Any = None, **query: Any) -> httpx.Response:
        given = {name: value for name, value in query.items() if value is not None}
        return await self.world.client.request(
            self.step.route[0], path, json=body, params=given, headers=dict(self.caller.headers)
        )

    def refused(self, answer: httpx.Response, expected: Refusal) -> None:
        """Check a refusal: its status, and that it tells nothing."""
        assert answer.status_code in expected.statuses, (self.step, answer.text)
        self.world.check_answer(answer, ())


def own(call: Call, action: str) -> str | Refusal | None:
    """Return whose the records are that a caller may save and find: their own."""
    refused = call.entry(writes=action != "read")
    caller = call.caller
    is_unknown = caller.runs_in != call.project or caller.identity is None
    if refused is None and caller.runs_in is not None and is_unknown:
        return Refusal(statuses=(400,))  # whose execution it is is not known, or forgotten
    return refused or call.caller.identity


def by_id(call: Call) -> str:
    known = call.target.id if call.target is not None else "nothing"
    return _PLACE_OF_ID.sub(known, call.path)


def not_an_owner(call: Call) -> Refusal | None:
    """Return how somebody is refused who may not administer; only the owner token does here."""
    if not call.caller.has_token:
        return Refusal(statuses=(401,))
    return None if call.caller.project is None else Refusal(statuses=(403,))
