"""Whose memory an invocation uses."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.scope import Scope
from memory_server.errors import IdentityRefused, InvalidRequest
from memory_server.ports.store import Store
from memory_server.services.invocation import Invocation
from tests.unit.memory_server.services.invocation.steps import (
    BOT,
    EVE,
    INSIDE,
    Echo,
    Forgetful,
    outcome_of,
    said,
)


async def test_service_account_is_itself_the_memory_identity(
    invocation: Invocation, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        outcome = await outcome_of(invocation, BOT, user_id="ana")

    assert (outcome.identity.user_id, outcome.identity.overridden) == (BOT.id, True)
    assert "user_id is ignored" in outcome.warnings[0]
    assert "user_id is ignored" in caplog.text
    assert await said(store, "ana") == []
    assert len(await said(store, BOT.id)) == 2


@pytest.mark.parametrize("supplied", [None, BOT.id])
async def test_service_account_that_names_nobody_else_is_not_warned(
    invocation: Invocation, supplied: str | None
) -> None:
    outcome = await outcome_of(invocation, BOT, user_id=supplied)

    assert (outcome.identity.overridden, list(outcome.warnings)) == (False, [])


async def test_nobody_is_refused_before_anything_is_recorded(
    invocation: Invocation, store: Store
) -> None:
    with pytest.raises(InvalidRequest, match=r"^user_id"):
        await outcome_of(invocation)


async def test_delegation_lets_a_service_account_name_a_user(
    invocation: Invocation,
    store: Store,
    project: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    project["allow_delegation"] = True

    with caplog.at_level(logging.INFO):
        outcome = await outcome_of(invocation, BOT, user_id="ana")

    identity = outcome.identity
    assert (identity.user_id, identity.delegated, identity.overridden) == ("ana", True, False)
    assert list(outcome.warnings) == []
    assert "acts for user 'ana'" in caplog.text
    assert len(await said(store, "ana")) == 2


@pytest.mark.parametrize(
    ("principal", "supplied", "enforced", "expected"),
    [
        (EVE, None, True, "eve"),
        (EVE, "eve", True, "eve"),
        (EVE, "ana", False, "ana"),
        (INSIDE, None, False, "ana"),
    ],
)
async def test_a_person_is_themselves_unless_they_may_name_another(
    invocation: Invocation,
    project: dict[str, Any],
    principal: Principal,
    supplied: str | None,
    enforced: bool,
    expected: str,
) -> None:
    project["enforce_identity"] = enforced

    outcome = await outcome_of(invocation, principal, user_id=supplied)

    assert outcome.identity.user_id == expected


async def test_what_an_agent_invokes_is_invoked_by_whoever_invoked_the_agent(
    invocation: Invocation,
) -> None:
    outcome = await outcome_of(invocation, replace(INSIDE, on_behalf_of=EVE))

    found = outcome.identity
    assert (found.kind, found.invoker, found.user_id) == (PrincipalKind.PERSON, "eve", "ana")


@pytest.mark.parametrize(("principal", "enforced"), [(EVE, True), (INSIDE, False)])
async def test_naming_another_is_refused_and_nothing_runs(
    invocation: Invocation,
    store: Store,
    project: dict[str, Any],
    principal: Principal,
    enforced: bool,
) -> None:
    project["enforce_identity"] = enforced

    with pytest.raises(IdentityRefused, match=r"^user_id"):
        await outcome_of(invocation, principal, user_id="bob")

    assert await said(store, "bob") == []


async def test_an_agent_without_memory_records_nothing_and_needs_no_user(
    invocation: Invocation, store: Store, answerer: Echo
) -> None:
    invocation._agent = Forgetful(answerer)

    outcome = await outcome_of(invocation)

    assert (outcome.response, outcome.context) == ("0 known, 0 recent", None)
    assert await store.turns.recent(Scope(project_id="p"), limit=10) == []
