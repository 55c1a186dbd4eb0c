"""What a script against the world can do: every memory route, with any scope, by any caller."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import httpx

from memory_server.api.families import DIRECT, FLAT, PROJECT
from tests.wire.isolation_world import (
    BANK,
    CUSTOM,
    MEMORY_KINDS,
    MOST,
    RECORD,
    SHOP,
    STRICT,
    TURN,
    Caller,
    Kept,
    Refusal,
    World,
    superseded,
    user_meant,
)

API_OF_PROJECT = PROJECT.removesuffix("/memory")
ADMIN = "/admin"


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
class _Call:
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


async def play(world: World, step: Step) -> None:
    """Do one step, and check its answer and what the server keeps after it."""
    caller, _, project = step.by
    call = _Call(world, step, world.callers[caller], project)
    await (ROUTES | OF_OWNERS)[step.route](call)
    await world.check_store()


async def _save(call: _Call) -> None:
    step, world = call.step, call.world
    kind = str(call.kind)
    owner = call.meant("save", step.visibility)
    secret = world.new_secret()
    body, key = _body(kind, secret, step)
    answer = await call.send(call.path, body=body)
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 201, answer.text
    world.check_answer(answer, (secret,))
    new_id = answer.json()["id"]
    fresh = Kept(id=new_id, kind=kind, project=call.project, owner=owner, secret=secret)
    replaceable = _replaceable(world, fresh, key)
    replaces = kind == "taxonomic" or (kind == "semantic" and step.flag)
    assert new_id in replaceable if replaces and replaceable else new_id not in world.kept
    if new_id in world.kept:
        fresh = superseded(world.kept[new_id], secret)
    visibility = step.visibility or ("org" if kind == "taxonomic" else "private")
    world.kept[new_id] = replace(fresh, visibility=visibility, key=key)
    return None


def _replaceable(world: World, fresh: Kept, key: tuple[str, ...]) -> set[str]:
    """Return the ids that a save of that key may replace: live, of the same owner and project."""
    wanted = (fresh.kind, fresh.project, fresh.owner, key)
    return {
        one.id
        for one in world.kept.values()
        if not one.deleted and (one.kind, one.project, one.owner, one.key) == wanted
    }


def _body(kind: str, secret: str, step: Step) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a body with its secret in every place, and the key by which others are the same."""
    label = f"label-{step.pick % 2}"
    shared: dict[str, Any] = {
        "user_id": step.user,
        "visibility": step.visibility,
        "session_id": step.session,
        "metadata": {"note": secret, "tier": "gold"},
        "org_id": "",
        "project_id": "bank",
    }
    own: dict[str, Any] = {
        "semantic": {"label": label, "text": f"fact {secret}", "upsert": step.flag},
        "episodic": {
            "title": secret,
            "content": f"we met {secret}",
            "summary_text": secret,
            "participants": [secret],
            "tags": [secret],
        },
        "taxonomic": {
            "domain": label if step.flag else secret,
            "term": label,
            "definition": f"means {secret}",
            "related_terms": [secret],
        },
        "procedural": {
            "procedure": label,
            "description": f"how to {secret}",
            "content": f"do {secret}",
            "steps": [{"content": secret}],
            "tags": [secret],
            "trigger_conditions": [secret],
        },
    }[kind]
    if kind == "taxonomic":
        return shared | own, (own["domain"], own["term"])
    return shared | own, (label,)


async def _record_turn(call: _Call) -> None:
    step, world = call.step, call.world
    owner = call.meant("save", None)
    secret = world.new_secret()
    key = "again" if step.flag else None
    body = {
        "session_id": step.session,
        "user_id": step.user,
        "role": "user",
        "content": f"I said {secret}",
        "idempotency_key": key,
        "metadata": {"note": secret},
    }
    answer = await call.send(call.path, body=body)
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 201, answer.text
    world.check_answer(answer, ())
    if key is not None:
        first = world.keys.setdefault((call.project, step.session, key), answer.json()["id"])
        assert first == answer.json()["id"]
        if first in world.kept:
            return None
    world.kept[answer.json()["id"]] = Kept(
        id=answer.json()["id"],
        kind=TURN,
        project=call.project,
        owner=owner,
        secret=secret,
        session=step.session,
    )
    return None


async def _save_custom(call: _Call) -> None:
    world, secret = call.world, call.world.new_secret()
    owner = _own(call, "save")
    body = {"content": f"a {secret}", "tags": {"plant": "north"}, "user_id": "bob"}
    answer = await call.send(call.path, body=body)
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 201, answer.text
    world.check_answer(answer, ())
    world.kept[answer.json()["id"]] = Kept(
        id=answer.json()["id"],
        kind=RECORD,
        project=call.project,
        owner=owner,
        secret=secret,
        visibility="private",
    )
    return None


def _own(call: _Call, action: str) -> str | Refusal | None:
    """Return whose the records are that a caller may save and find: their own."""
    refused = call.entry(writes=action != "read")
    if refused is None and call.caller.runs_in not in (None, call.project):
        return Refusal(statuses=(400,))
    return refused or call.caller.identity


async def _find_custom(call: _Call) -> None:
    owner = _own(call, "read")
    answer = await call.send(call.path, body={"query": "a zq", "top_k": 100, "user_id": "bob"})
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 200, answer.text
    there = call.world.seen(call.project, None, None, kinds=(RECORD,))
    admitted = [one for one in there if one.owner == owner]
    call.world.check_answer(answer, (one.secret for one in admitted))
    assert {one["id"] for one in answer.json()["results"]} == {one.id for one in admitted}
    return None


async def _change(call: _Call) -> None:
    step, world, target = call.step, call.world, call.target
    kind = str(call.kind)
    user = call.meant("change", None)
    secret = world.new_secret()
    texts = {
        "semantic": {"text": f"fact {secret}"},
        "procedural": {
            "description": secret,
            "content": f"do {secret}",
            "steps": [{"content": secret}],
            "tags": [secret],
            "trigger_conditions": [secret],
        },
    }[kind]
    body = texts | {
        "metadata": {"note": secret},
        "visibility": step.visibility,
        "user_id": step.user,
    }
    answer = await call.send(_by_id(call), body=body)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    if target not in world.seen(call.project, user, None, kinds=(kind,)):
        return call.refused(answer, Refusal(statuses=(404,)))
    assert target is not None
    assert answer.status_code == 200, answer.text
    world.check_answer(answer, (secret,))
    visibility = step.visibility or target.visibility
    world.kept[target.id] = superseded(target, secret, visibility=visibility)
    return None


async def _delete(call: _Call) -> None:
    step, world, target = call.step, call.world, call.target
    user = call.meant("delete", step.visibility)
    query = {"user_id": step.user, "visibility": step.visibility, "soft": str(step.flag).lower()}
    answer = await call.send(_by_id(call), **query)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    reached = world.seen(call.project, user, step.visibility, kinds=("procedural",), deleted=True)
    if target not in reached:
        return call.refused(answer, Refusal(statuses=(404,)))
    assert target is not None
    assert answer.status_code == 200, answer.text
    expected = 0 if step.flag and target.deleted else 1
    assert answer.json()["deleted_count"] == expected
    world.check_answer(answer, ())
    if step.flag:
        world.kept[target.id] = replace(target, deleted=True)
    else:
        del world.kept[target.id]
    return None


def _by_id(call: _Call) -> str:
    known = call.target.id if call.target is not None else "nothing"
    return call.path.replace("{memory_id}", known)


async def _read_one(call: _Call) -> None:
    step = call.step
    kind = str(call.kind)
    user = call.meant("read", step.visibility)
    deleted = step.flag and kind == "procedural"
    query = {"user_id": step.user, "visibility": step.visibility}
    answer = await call.send(_by_id(call), **query, include_deleted=str(step.flag).lower())
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    admitted = call.world.seen(call.project, user, step.visibility, kinds=(kind,), deleted=deleted)
    if call.target not in admitted:
        return call.refused(answer, Refusal(statuses=(404,)))
    assert call.target is not None
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (call.target.secret,))
    assert call.target.secret in answer.text
    return None


async def _list(call: _Call) -> None:
    step = call.step
    kind = str(call.kind)
    user = call.meant("read", step.visibility)
    query: dict[str, Any] = {"user_id": step.user or "", "visibility": step.visibility or " "}
    if kind != "taxonomic":
        query["limit"] = MOST
    answer = await call.send(call.path, **query)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = call.world.seen(call.project, user, step.visibility, kinds=(kind,))
    call.world.check_answer(answer, (one.secret for one in admitted))
    assert {one["id"] for one in answer.json()["entries"]} == {one.id for one in admitted}
    return None


async def _list_domains(call: _Call) -> None:
    step = call.step
    user = call.meant("read", step.visibility)
    answer = await call.send(call.path, user_id=step.user, visibility=step.visibility)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = call.world.seen(call.project, user, step.visibility, kinds=("taxonomic",))
    assert set(answer.json()["domains"]) == {one.key[0] for one in admitted}
    return None


async def _search(call: _Call) -> None:
    """Search for what the target says, whoever's it is."""
    step = call.step
    kind = str(call.kind)
    user = call.meant("read", step.visibility)
    secret = call.target.secret if call.target is not None else "nothing"
    body = {
        "type": kind,
        "query": secret,
        "user_id": step.user,
        "visibility": step.visibility,
        "top_k": MOST,
        "org_id": "",
        "project_id": "bank",
    }
    answer = await call.send(call.path, body=body)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = call.world.seen(call.project, user, step.visibility, kinds=(kind,))
    call.world.check_answer(answer, (one.secret for one in admitted))
    if call.target in admitted:
        assert answer.json()["memories"][0]["id"] == call.target.id
    return None


async def _build_context(call: _Call) -> None:
    step = call.step
    sources: Mapping[str, Any] = {"enabled_sources": ["stm", *MEMORY_KINDS]}
    if "from-sources" in step.route[1]:
        mode = "hybrid" if step.flag else "text"
        sources = {"sources": [{"source": s, "mode": mode} for s in ("stm", *MEMORY_KINDS)]}
    user = call.meant("read", step.visibility)
    target = call.target
    body = {
        "query": target.secret if target is not None else "nothing",
        "user_id": step.user,
        "visibility": step.visibility,
        "session_id": step.session,
        "max_tokens": 100_000,
        "include_memories": True,
        "format_style": "openai" if step.flag else "jinja2",
        **sources,
    }
    answer = await call.send(call.path, body=body)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = [
        one
        for one in call.world.seen(call.project, user, step.visibility)
        if one.session in (None, step.session)
    ]
    call.world.check_answer(answer, (one.secret for one in admitted))
    if target in admitted:
        assert target is not None
        assert target.secret in str(answer.json()["formatted_context"])
    return None


def _not_an_owner(call: _Call) -> Refusal | None:
    """Return how somebody is refused who may not administer; only the owner token does here."""
    if not call.caller.has_token:
        return Refusal(statuses=(401,))
    return None if call.caller.project is None else Refusal(statuses=(403,))


async def _show_all(call: _Call) -> None:
    """Show everything of a user or of all, with what it said before."""
    answer = await call.send(call.path, user_id=call.step.user, include_history="true")
    if refused := _not_an_owner(call):
        return call.refused(answer, refused)
    assert answer.status_code == 200, answer.text
    kinds = (*MEMORY_KINDS, RECORD)
    admitted = call.world.seen(call.project, call.step.user, None, kinds=kinds)
    secrets = [secret for one in admitted for secret in (one.secret, *one.former)]
    call.world.check_answer(answer, secrets)
    assert {one["id"] for one in answer.json()["memories"]} == {one.id for one in admitted}
    return None


async def _show_history(call: _Call) -> None:
    answer = await call.send(_by_id(call))
    if refused := _not_an_owner(call):
        return call.refused(answer, refused)
    target = call.target
    if target is None or target.kind == TURN or target.project != call.project:
        return call.refused(answer, Refusal(statuses=(404,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (target.secret, *target.former))
    assert len(answer.json()["versions"]) == len(target.former) + 1
    return None


async def _erase(call: _Call) -> None:
    """Erase everything of one user of one project, and of nobody else."""
    world, user = call.world, call.step.user
    answer = await call.send(call.path, user_id=user or "")
    if refused := _not_an_owner(call) or (None if user else Refusal(statuses=(400,))):
        return call.refused(answer, refused)
    assert answer.status_code == 200, answer.text
    gone = [
        one.id for one in world.kept.values() if (one.project, one.owner) == (call.project, user)
    ]
    for erased in gone:
        del world.kept[erased]
    world.keys = {key: turn for key, turn in world.keys.items() if turn not in gone}
    return None


async def _count_work(call: _Call) -> None:
    """The numbers of the whole server: they name nobody and hold no memory."""
    answer = await call.send(call.path)
    call.world.check_answer(answer, ())


ROUTES: Mapping[tuple[str, str], Callable[[_Call], Awaitable[None]]] = {
    ("POST", "/turns"): _record_turn,
    ("POST", "/stm/turns"): _record_turn,
    ("POST", "/types/{type_name}"): _save_custom,
    ("POST", "/types/{type_name}/retrieve"): _find_custom,
    **{("POST", f"/{kind}"): _save for kind in MEMORY_KINDS},
    **{("GET", f"/{kind}"): _list for kind in MEMORY_KINDS},
    **{("POST", f"/retrieval/{kind}"): _search for kind in MEMORY_KINDS},
    ("POST", "/search"): _search,
    ("GET", "/taxonomic/domains"): _list_domains,
    ("GET", "/semantic/{memory_id}"): _read_one,
    ("GET", "/procedural/{memory_id}"): _read_one,
    ("PATCH", "/semantic/{memory_id}"): _change,
    ("PATCH", "/procedural/{memory_id}"): _change,
    ("DELETE", "/procedural/{memory_id}"): _delete,
    ("POST", "/context"): _build_context,
    ("POST", "/retrieval/context"): _build_context,
    ("POST", "/retrieval/context-from-sources"): _build_context,
    ("GET", "/queueStats"): _count_work,
    ("GET", "/worker/queueStats"): _count_work,
}
"""Every memory route and method, by how a script uses it."""

OF_OWNERS: Mapping[tuple[str, str], Callable[[_Call], Awaitable[None]]] = {
    ("GET", f"{ADMIN}/memories"): _show_all,
    ("GET", f"{ADMIN}/memories/{{memory_id}}/history"): _show_history,
    ("DELETE", f"{ADMIN}/scope"): _erase,
}
"""Administration that reads or removes memory."""

CALLS = (
    ("anonymous", FLAT, SHOP),
    ("anonymous", DIRECT, SHOP),
    ("owner", FLAT, SHOP),
    ("owner", PROJECT, SHOP),
    ("owner", PROJECT, BANK),
    ("owner", PROJECT, STRICT),
    ("account of shop", PROJECT, SHOP),
    ("account of shop", DIRECT, SHOP),
    ("account of bank", PROJECT, BANK),
    ("agent of ana", FLAT, SHOP),
    ("agent of ana", PROJECT, SHOP),
    ("agent of ana", PROJECT, BANK),
    ("ana", PROJECT, STRICT),
    ("bob", PROJECT, STRICT),
    # These are let in nowhere, or only to read.
    ("anonymous", PROJECT, SHOP),
    ("account of shop", PROJECT, BANK),
    ("account of bank", FLAT, SHOP),
    ("reader of shop", FLAT, SHOP),
    ("ana", PROJECT, BANK),
)
