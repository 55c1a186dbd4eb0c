"""The routes that read, and what the model says of them."""

from collections.abc import Mapping
from typing import Any

from tests.wire.isolation_call import Call, by_id, not_an_owner, own
from tests.wire.isolation_world import BLOCK, MEMORY_KINDS, MOST, PROPOSAL, RECORD, TURN, Refusal


async def find_custom(call: Call) -> None:
    """Find the caller's records of a declared type."""
    owner = own(call, "read")
    answer = await call.send(call.path, body={"query": "a zq", "top_k": 100, "user_id": "bob"})
    if isinstance(owner, Refusal):
        return call.refused(answer, owner)
    assert answer.status_code == 200, answer.text
    there = call.world.seen(call.project, None, None, kinds=(RECORD,))
    admitted = [one for one in there if one.owner == owner]
    call.world.check_answer(answer, (one.secret for one in admitted))
    assert {one["id"] for one in answer.json()["results"]} == {one.id for one in admitted}
    return None


async def read_one(call: Call) -> None:
    """Read a memory by its id."""
    step = call.step
    kind = str(call.kind)
    user = call.meant("read", step.visibility)
    deleted = step.flag and kind == "procedural"
    query = {"user_id": step.user, "visibility": step.visibility}
    answer = await call.send(by_id(call), **query, include_deleted=str(step.flag).lower())
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


async def list_all(call: Call) -> None:
    """List the memories of one kind."""
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


async def list_domains(call: Call) -> None:
    """List the domains of terms."""
    step = call.step
    user = call.meant("read", step.visibility)
    answer = await call.send(call.path, user_id=step.user, visibility=step.visibility)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    admitted = call.world.seen(call.project, user, step.visibility, kinds=("taxonomic",))
    assert set(answer.json()["domains"]) == {one.key[0] for one in admitted}
    return None


async def search(call: Call) -> None:
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


async def search_turns(call: Call) -> None:
    """Search for what the target says among turns, of one session or of all."""
    step = call.step
    user = call.meant("read", None)
    secret = call.target.secret if call.target is not None else "nothing"
    session = step.session if step.flag else None
    body = {"query": secret, "user_id": step.user, "session_id": session, "top_k": MOST}
    answer = await call.send(call.path, body=body)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    of_user = call.world.seen(call.project, user, None, kinds=(TURN,))
    admitted = [one for one in of_user if session in (None, one.session)]
    call.world.check_answer(answer, (one.secret for one in admitted))
    if call.target in admitted:
        assert answer.json()["memories"][0]["id"] == call.target.id
    return None


async def list_blocks(call: Call) -> None:
    """List the exchanges of one conversation or of all."""
    step = call.step
    user = call.meant("read", step.visibility)
    conversation = step.session if step.flag else None
    query = {"user_id": step.user, "visibility": step.visibility, "conversation_id": conversation}
    answer = await call.send(call.path, **query, limit=MOST)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    of_user = call.world.seen(call.project, user, step.visibility, kinds=(BLOCK,))
    admitted = [one for one in of_user if conversation in (None, one.session)]
    call.world.check_answer(answer, (one.secret for one in admitted))
    assert {one["id"] for one in answer.json()["blocks"]} == {one.id for one in admitted}
    return None


async def read_block(call: Call) -> None:
    """Read an exchange by its id."""
    step = call.step
    user = call.meant("read", step.visibility)
    answer = await call.send(by_id(call), user_id=step.user, visibility=step.visibility)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    if call.target not in call.world.seen(call.project, user, step.visibility, kinds=(BLOCK,)):
        return call.refused(answer, Refusal(statuses=(404,)))
    assert call.target is not None
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (call.target.secret,))
    assert call.target.secret in answer.text
    return None


async def search_blocks(call: Call) -> None:
    """Search for what the target says among exchanges, of one conversation or of all."""
    step = call.step
    user = call.meant("read", None)
    secret = call.target.secret if call.target is not None else "nothing"
    conversation = step.session if step.flag else None
    body = {"query": secret, "user_id": step.user, "conversation_id": conversation, "top_k": MOST}
    answer = await call.send(call.path, body=body)
    if isinstance(user, Refusal):
        return call.refused(answer, user)
    assert answer.status_code == 200, answer.text
    of_user = call.world.seen(call.project, user, None, kinds=(BLOCK,))
    admitted = [one for one in of_user if conversation in (None, one.session)]
    call.world.check_answer(answer, (one.secret for one in admitted))
    if call.target in admitted:
        assert answer.json()["blocks"][0]["id"] == call.target.id
    return None


async def build_context(call: Call) -> None:
    """Build a context for what the target says, whoever's it is."""
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


async def show_all(call: Call) -> None:
    """Show everything of a user or of all, with what it said before."""
    answer = await call.send(call.path, user_id=call.step.user, include_history="true")
    if refused := not_an_owner(call):
        return call.refused(answer, refused)
    assert answer.status_code == 200, answer.text
    kinds = (*MEMORY_KINDS, RECORD, BLOCK)
    admitted = call.world.seen(call.project, call.step.user, None, kinds=kinds)
    secrets = [secret for one in admitted for secret in (one.secret, *one.former)]
    call.world.check_answer(answer, secrets)
    assert {one["id"] for one in answer.json()["memories"]} == {one.id for one in admitted}
    return None


async def show_one(call: Call) -> None:
    """Show one memory with what it said before."""
    answer = await call.send(by_id(call), include_history="true")
    if refused := not_an_owner(call):
        return call.refused(answer, refused)
    target = call.target
    if target is None or target.kind in (TURN, PROPOSAL) or target.project != call.project:
        return call.refused(answer, Refusal(statuses=(404,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (target.secret, *target.former))
    assert answer.json()["id"] == target.id
    return None


async def show_history(call: Call) -> None:
    """Show every version of a memory."""
    answer = await call.send(by_id(call))
    if refused := not_an_owner(call):
        return call.refused(answer, refused)
    target = call.target
    if target is None or target.kind in (TURN, PROPOSAL) or target.project != call.project:
        return call.refused(answer, Refusal(statuses=(404,)))
    assert answer.status_code == 200, answer.text
    call.world.check_answer(answer, (target.secret, *target.former))
    assert len(answer.json()["versions"]) == len(target.former) + 1
    return None


async def count_work(call: Call) -> None:
    """The numbers of the whole server: they name nobody and hold no memory."""
    answer = await call.send(call.path)
    call.world.check_answer(answer, ())


async def export(call: Call) -> None:
    """Export everything of a user or of all, what is deleted too."""
    answer = await call.send(call.path, user_id=call.step.user)
    if refused := not_an_owner(call):
        return call.refused(answer, refused)
    assert answer.status_code == 200, answer.text
    admitted = [
        one
        for one in call.world.kept.values()
        if one.project == call.project and call.step.user in (None, one.owner)
    ]
    secrets = [secret for one in admitted for secret in (one.secret, *one.former)]
    call.world.check_answer(answer, secrets)
    assert all(secret in answer.text for secret in secrets)
    return None
