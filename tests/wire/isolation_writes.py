"""The routes that write, and what the model says of them."""

from dataclasses import replace
from typing import Any

from tests.wire.isolation_call import Call, Step, by_id, not_an_owner, own
from tests.wire.isolation_world import BLOCK, RECORD, TURN, Kept, Refusal, World, superseded


async def save(call: Call) -> None:
    """Save a memory, or replace the one it is."""
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
    fields: dict[str, dict[str, Any]] = {
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
    }
    if kind == "taxonomic":
        domain = fields[kind]["domain"]
        return shared | fields[kind], (domain, label)
    return shared | fields[kind], (label,)


async def record_turn(call: Call) -> None:
    """Record a turn, sometimes under a key that was used before."""
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
        whose = (call.project, step.session, owner, key)
        first = world.keys.setdefault(whose, answer.json()["id"])
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


async def record_block(call: Call) -> None:
    """Record an exchange of which one side is told, under a key or not."""
    step, world, secret = call.step, call.world, call.world.new_secret()
    owner = call.meant("save", None)
    key = "again" if step.flag else None
    body = {
        "conversation_id": step.session,
        "user_id": step.user,
        "messages": [{"role": "user", "content": f"I said {secret}"}],
        "idempotency_key": key,
    }
    answer = await call.send(call.path, body=body)
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 201, answer.text
    [exchange] = answer.json()["exchanges"]
    [block] = exchange["blocks"]
    if answer.json()["duplicate"]:
        known = world.kept[block["id"]]
        assert (known.owner, known.session, known.project) == (owner, step.session, call.project)
        world.check_answer(answer, (known.secret,))
        return None
    world.check_answer(answer, (secret,))
    assert block["id"] not in world.kept
    world.kept[block["id"]] = Kept(
        id=block["id"],
        kind=BLOCK,
        project=call.project,
        owner=owner,
        secret=secret,
        visibility="private",
        session=step.session,
    )
    return None


async def save_custom(call: Call) -> None:
    """Save a record of a declared type."""
    world, secret = call.world, call.world.new_secret()
    owner = own(call, "save")
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


async def change(call: Call) -> None:
    """Change a memory by its id."""
    step, world, target = call.step, call.world, call.target
    kind = str(call.kind)
    user = call.meant("change", None)
    secret = world.new_secret()
    texts: dict[str, dict[str, Any]] = {
        "semantic": {"text": f"fact {secret}"},
        "procedural": {
            "description": secret,
            "content": f"do {secret}",
            "steps": [{"content": secret}],
            "tags": [secret],
            "trigger_conditions": [secret],
        },
    }
    body = texts[kind] | {
        "metadata": {"note": secret},
        "visibility": step.visibility,
        "user_id": step.user,
    }
    answer = await call.send(by_id(call), body=body)
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


async def delete(call: Call) -> None:
    """Hide or remove a procedure by its id."""
    step, world, target = call.step, call.world, call.target
    user = call.meant("delete", step.visibility)
    query = {"user_id": step.user, "visibility": step.visibility, "soft": str(step.flag).lower()}
    answer = await call.send(by_id(call), **query)
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


async def erase(call: Call) -> None:
    """Erase everything of one user of one project, and of nobody else."""
    world, user = call.world, call.step.user
    answer = await call.send(call.path, user_id=user or "")
    if refused := not_an_owner(call) or (None if user else Refusal(statuses=(400,))):
        return call.refused(answer, refused)
    assert answer.status_code == 200, answer.text
    gone = [
        one.id for one in world.kept.values() if (one.project, one.owner) == (call.project, user)
    ]
    for erased in gone:
        del world.kept[erased]
    world.keys = {key: turn for key, turn in world.keys.items() if turn not in gone}
    world.callers = {
        name: replace(one, identity=None)  # the executions of the user are forgotten too
        if (one.runs_in, one.identity) == (call.project, user)
        else one
        for name, one in world.callers.items()
    }
    return None
