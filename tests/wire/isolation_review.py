"""The routes of review, and what the model says of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.wire.isolation_call import Call, by_id
from tests.wire.isolation_world import PROPOSAL, Kept, Refusal, superseded

PAGE = 200
DONE = {"approve": "approved", "reject": "rejected"}


def reviewed(call: Call) -> str | Refusal | None:
    """Return whose proposals a caller decides on; None: everybody's."""
    caller, named = call.caller, call.step.user
    if not caller.has_token:
        return Refusal(statuses=(401,))
    if caller.project not in (None, call.project) or caller.runs_in is not None:
        return Refusal(statuses=(403,))
    if caller.is_person:
        return caller.identity if named in (None, caller.identity) else Refusal(statuses=(403,))
    return named if caller.project is None else Refusal(statuses=(403,))


def there(call: Call, user: str | None) -> list[Kept]:
    """Return the proposals that a caller reaches."""
    return call.world.seen(call.project, user, None, kinds=(PROPOSAL,))


def of_owner(call: Call, one: Kept) -> list[str]:
    """Return what an answer about a proposal may hold: all that its owner is known by."""
    same = [
        other
        for other in call.world.kept.values()
        if (other.project, other.owner) == (one.project, one.owner)
    ]
    return [secret for other in same for secret in (other.secret, *other.former)]


async def list_proposals(call: Call) -> None:
    """List what waits, or all."""
    user = reviewed(call)
    state = "pending" if call.step.flag else None
    answer = await call.send(call.path, user_id=call.step.user, state=state, limit=PAGE)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = [one for one in there(call, user) if state in (None, one.state)]
    secrets = [secret for one in admitted for secret in (one.secret, *one.former)]
    call.world.check_answer(answer, [*secrets, *_remembered(call, admitted)])
    assert {one["id"] for one in answer.json()["proposals"]} == {one.id for one in admitted}
    return None


async def read_proposal(call: Call) -> None:
    """Read a proposal by its id, with what approving it would do."""
    user, target = reviewed(call), call.target
    answer = await call.send(by_id(call), user_id=call.step.user)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    if target is None or target not in there(call, user):
        return call.refused(answer, Refusal(statuses=(404,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, of_owner(call, target))
    assert target.secret in answer.text
    return None


async def edit(call: Call) -> None:
    """Put a proposal in other words."""
    user, target, secret = reviewed(call), call.target, call.world.new_secret()
    answer = await call.send(
        by_id(call), body={"text": f"heard {secret}", "user_id": call.step.user}
    )
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    if target is None or target not in there(call, user):
        return call.refused(answer, Refusal(statuses=(404,)))
    if target.state != "pending":
        return call.refused(answer, Refusal(statuses=(409,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (secret, target.secret, *target.former))
    call.world.kept[target.id] = superseded(target, secret)
    return None


async def decide(call: Call) -> None:
    """Approve or reject one proposal."""
    user, target, verb = reviewed(call), call.target, call.step.route[1].split("/")[-1]
    answer = await call.send(by_id(call), body={"user_id": call.step.user, "reason": "so"})
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    if target is None or target not in there(call, user):
        return call.refused(answer, Refusal(statuses=(404,)))
    if target.state not in ("pending", DONE[verb]):
        return call.refused(answer, Refusal(statuses=(409,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, of_owner(call, target))
    _note(call, target, verb, answer.json())
    return None


async def decide_several(call: Call) -> None:
    """Approve or reject the target and one more, whoever's they are."""
    user, verb = reviewed(call), call.step.route[1].split("/")[-1]
    of_all = [one for one in call.world.kept.values() if one.kind == PROPOSAL]
    asked = [one for one in (call.target, *of_all[call.step.pick % 7 :][:1]) if one is not None]
    ids = [one.id for one in asked] or ["nothing"]
    answer = await call.send(call.path, body={"ids": ids, "user_id": call.step.user})
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    reached = there(call, user)
    done = {one.id: one for one in asked if one in reached and one.state in ("pending", DONE[verb])}
    call.world.check_answer(answer, _of_all(call, [*done.values()]))
    assert {one["id"] for one in answer.json()["proposals"]} == set(done)
    assert {one["id"] for one in answer.json()["failed"]} == set(ids) - set(done)
    for document in answer.json()["proposals"]:
        _note(call, done[document["id"]], verb, document)
    return None


def _of_all(call: Call, proposals: Sequence[Kept]) -> list[str]:
    return [secret for one in proposals for secret in of_owner(call, one)]


def _remembered(call: Call, proposals: Sequence[Kept]) -> list[str]:
    """Return what the approved of some proposals may tell: what their approval did."""
    return _of_all(call, [one for one in proposals if one.state == DONE["approve"]])


def _note(call: Call, target: Kept, verb: str, document: Mapping[str, Any]) -> None:
    """Have the model know what was decided, and what became of memory."""
    kept = call.world.kept
    assert document["state"] == DONE[verb]
    if target.state != "pending":
        return
    kept[target.id] = replace(target, state=DONE[verb])
    for outcome in document["decision"]["outcomes"]:
        found = kept.get(outcome["memory_id"])
        if outcome["action"] == "ADD":
            kept[outcome["memory_id"]] = Kept(
                id=outcome["memory_id"],
                kind="semantic",
                project=target.project,
                owner=target.owner,
                secret=target.secret,
                visibility="private",
                key=(document["name"],),
            )
            continue
        assert found is not None
        assert (found.project, found.owner) == (target.project, target.owner)
        if outcome["action"] == "UPDATE":
            kept[found.id] = superseded(found, target.secret)
