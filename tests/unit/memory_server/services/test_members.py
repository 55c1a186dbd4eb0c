import asyncio
from datetime import timedelta

import pytest

from memory_server.domain.account import AccountRole, PrincipalKind
from memory_server.errors import (
    DuplicateName,
    InvalidRequest,
    MemberNotFound,
    NotAuthenticated,
    RateLimited,
)
from memory_server.ports.store import Store
from memory_server.services.identity import Identity
from memory_server.services.members import (
    MOST_LOGINS,
    MOST_OF_ADDRESS,
    MOST_OF_NAME,
    LoggedIn,
    MemberKeeping,
    NewPassword,
)
from memory_server.services.tokens import Tokens
from memory_server.storage.process.attempts import MOST_KEYS
from tests.clock import ManualClock
from tests.unit.memory_server.services.conftest import OWNER_TOKEN

DEVELOPER, READER = AccountRole.AGENT_DEVELOPER, AccountRole.PROJECT_READ_ONLY


@pytest.fixture
def identity(store: Store, tokens: Tokens) -> Identity:
    return Identity(
        accounts=store.accounts, members=store.members, tokens=tokens, owner_token=OWNER_TOKEN
    )


@pytest.fixture
async def ana(members: MemberKeeping) -> NewPassword:
    return await members.add("p", "ana", DEVELOPER)


async def log_in(members: MemberKeeping, made: NewPassword, **changes: str | None) -> LoggedIn:
    given = {"project_id": made.member.project_id, "address": "127.0.0.1"} | changes
    return await members.log_in(
        made.member.user_id,
        made.password,
        project_id=given["project_id"],
        address=given["address"],
    )


async def is_refused(identity: Identity, logged_in: LoggedIn) -> bool:
    try:
        await identity.authenticate(logged_in.access_token)
    except NotAuthenticated:
        return True
    return False


async def test_a_password_is_long_and_kept_only_as_a_salted_hash(
    ana: NewPassword, members: MemberKeeping
) -> None:
    other = await members.add("p", "bob", DEVELOPER)

    assert len(ana.password) >= 32
    assert ana.password not in repr(ana.member)
    assert ana.member.password.salt != other.member.password.salt


async def test_a_member_is_added_once_to_a_project(
    members: MemberKeeping, ana: NewPassword
) -> None:
    with pytest.raises(DuplicateName):
        await members.add("p", "ana", READER)

    assert (await members.add("q", "ana", READER)).password != ana.password


@pytest.mark.parametrize("role", [AccountRole.ORG_READ_ONLY, AccountRole.ORG_GROUP_CREATOR])
async def test_a_member_has_a_role_of_the_project(
    members: MemberKeeping, ana: NewPassword, role: AccountRole
) -> None:
    with pytest.raises(InvalidRequest, match="PROJECT_OWNER"):
        await members.add("p", "bob", role)
    with pytest.raises(InvalidRequest):
        await members.change("p", "ana", role=role)


async def test_without_a_project_the_one_is_meant_that_the_password_is_for(
    members: MemberKeeping, ana: NewPassword
) -> None:
    elsewhere = await members.add("q", "ana", READER)

    assert (await log_in(members, ana, project_id=None)).member == ana.member
    assert (await log_in(members, elsewhere, project_id=None)).member == elsewhere.member


async def test_a_password_is_good_for_its_project_only(
    members: MemberKeeping, ana: NewPassword
) -> None:
    await members.add("q", "ana", READER)

    with pytest.raises(NotAuthenticated):
        await log_in(members, ana, project_id="q")


@pytest.mark.parametrize(("name", "password"), [("ana", "wrong"), ("nobody", "wrong"), ("ana", "")])
async def test_unknown_names_and_wrong_passwords_fail_alike(
    members: MemberKeeping, ana: NewPassword, name: str, password: str
) -> None:
    with pytest.raises(NotAuthenticated, match="the user name or the password is not valid"):
        await members.log_in(name, password, project_id="p", address=None)


async def test_a_refresh_token_is_good_once_and_gives_both_tokens_anew(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    first = await log_in(members, ana)

    second = await members.refresh(first.refresh_token)

    assert second.refresh_token != first.refresh_token
    assert not await is_refused(identity, second)
    assert (await members.refresh(second.refresh_token)).member == ana.member


async def test_using_a_refresh_token_twice_ends_all_that_came_of_the_login(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    first = await log_in(members, ana)
    second = await members.refresh(first.refresh_token)

    with pytest.raises(NotAuthenticated, match="used before"):
        await members.refresh(first.refresh_token)

    with pytest.raises(NotAuthenticated):
        await members.refresh(second.refresh_token)
    assert await is_refused(identity, second)


async def test_of_refreshes_at_the_same_moment_one_wins_and_the_login_ends(
    members: MemberKeeping, ana: NewPassword
) -> None:
    first = await log_in(members, ana)

    outcomes = await asyncio.gather(
        *(members.refresh(first.refresh_token) for _ in range(4)), return_exceptions=True
    )

    [won] = [one for one in outcomes if isinstance(one, LoggedIn)]
    with pytest.raises(NotAuthenticated):
        await members.refresh(won.refresh_token)


async def test_a_refresh_token_expires_after_thirty_days(
    members: MemberKeeping, ana: NewPassword, clock: ManualClock
) -> None:
    logged_in = await log_in(members, ana)
    clock.advance(by=timedelta(days=29))
    logged_in = await members.refresh(logged_in.refresh_token)
    clock.advance(by=timedelta(days=30))

    with pytest.raises(NotAuthenticated, match="expired"):
        await members.refresh(logged_in.refresh_token)


@pytest.mark.parametrize("token", ["", "ae_rt_", "ae_rt_x.y", "x", "."])
async def test_what_is_no_refresh_token_is_refused(members: MemberKeeping, token: str) -> None:
    with pytest.raises(NotAuthenticated):
        await members.refresh(token)


async def test_a_member_who_is_not_active_is_out_at_once_and_their_logins_do_not_come_back(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    logged_in = await log_in(members, ana)

    await members.change("p", "ana", is_active=False)
    with pytest.raises(NotAuthenticated):
        await log_in(members, ana)
    await members.change("p", "ana", is_active=True)

    assert await is_refused(identity, logged_in)
    assert not await is_refused(identity, await log_in(members, ana))


async def test_a_new_role_holds_on_the_next_request(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    logged_in = await log_in(members, ana)

    await members.change("p", "ana", role=READER)

    assert (await identity.authenticate(logged_in.access_token)).role is READER


async def test_a_removed_member_is_out_even_when_added_again(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    logged_in = await log_in(members, ana)

    await members.remove("p", "ana")
    await members.add("p", "ana", DEVELOPER)

    assert await is_refused(identity, logged_in)
    with pytest.raises(NotAuthenticated):
        await log_in(members, ana)


async def test_a_new_password_ends_the_former_one_and_all_logins(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    logged_in = await log_in(members, ana)

    made = await members.reset_password("p", "ana")

    assert await is_refused(identity, logged_in)
    with pytest.raises(NotAuthenticated):
        await log_in(members, ana)
    assert not await is_refused(identity, await log_in(members, made))


async def test_logging_out_ends_one_login(
    members: MemberKeeping, identity: Identity, ana: NewPassword
) -> None:
    here, there = await log_in(members, ana), await log_in(members, ana)
    principal = await identity.authenticate(here.access_token)

    await members.log_out(principal, here.access_token)

    assert principal.kind is PrincipalKind.PERSON
    assert await is_refused(identity, here)
    assert not await is_refused(identity, there)


async def test_the_oldest_logins_end_when_there_are_too_many(
    members: MemberKeeping, identity: Identity, ana: NewPassword, clock: ManualClock
) -> None:
    logins = []
    for _ in range(MOST_LOGINS + 1):
        clock.advance(1)
        logins.append(await log_in(members, ana))

    assert [await is_refused(identity, one) for one in (logins[0], logins[1])] == [True, False]


async def fail(members: MemberKeeping, name: str, address: str) -> None:
    with pytest.raises(NotAuthenticated):
        await members.log_in(name, "wrong", project_id="p", address=address)


async def test_a_name_is_tried_so_often_from_one_address(
    members: MemberKeeping, ana: NewPassword, clock: ManualClock
) -> None:
    for _ in range(MOST_OF_NAME):
        await fail(members, "ana", "10.0.0.1")

    with pytest.raises(RateLimited, match=f"{MOST_OF_NAME} in 300 seconds") as refused:
        await log_in(members, ana, address="10.0.0.1")
    await log_in(members, ana, address="10.0.0.2")
    clock.advance(refused.value.details["retry_after"])

    await log_in(members, ana, address="10.0.0.1")


async def test_many_names_are_tried_so_often_from_one_address(members: MemberKeeping) -> None:
    for number in range(MOST_OF_ADDRESS):
        await fail(members, f"user-{number}", "10.0.0.1")

    with pytest.raises(RateLimited):
        await members.log_in("another", "wrong", project_id="p", address="10.0.0.1")


async def test_names_beyond_the_limit_of_an_address_are_not_remembered(
    members: MemberKeeping, ana: NewPassword
) -> None:
    for number in range(MOST_OF_ADDRESS):
        await fail(members, f"user-{number}", "10.0.0.1")
    for number in range(MOST_KEYS + 100):
        with pytest.raises(RateLimited):
            await members.log_in(f"more-{number}", "wrong", project_id="p", address="10.0.0.1")
        if not number:
            for _ in range(MOST_OF_NAME):
                await fail(members, "ana", "10.0.0.2")

    with pytest.raises(RateLimited):
        await log_in(members, ana, address="10.0.0.2")


@pytest.mark.parametrize("told", ["ana", "logged_in"])
async def test_what_is_told_once_is_in_no_log(
    members: MemberKeeping, ana: NewPassword, told: str
) -> None:
    logged_in = await log_in(members, ana)
    secrets = (ana.password, logged_in.access_token, logged_in.refresh_token)

    shown = repr({"ana": ana, "logged_in": logged_in}[told])

    assert not [secret for secret in (*secrets, ana.member.password.digest) if secret in shown]


async def test_logging_in_well_is_not_limited(members: MemberKeeping, ana: NewPassword) -> None:
    for _ in range(MOST_OF_NAME + 1):
        await log_in(members, ana)


async def test_attempts_at_the_same_moment_do_not_pass_together(members: MemberKeeping) -> None:
    tries = (
        members.log_in("ana", "wrong", project_id="p", address=None)
        for _ in range(2 * MOST_OF_NAME)
    )

    outcomes = await asyncio.gather(*tries, return_exceptions=True)

    assert sum(isinstance(one, RateLimited) for one in outcomes) == MOST_OF_NAME


@pytest.mark.parametrize("act", ["get", "remove", "reset_password"])
async def test_a_member_of_another_project_is_not_found(
    members: MemberKeeping, ana: NewPassword, act: str
) -> None:
    with pytest.raises(MemberNotFound):
        await getattr(members, act)("q", "ana")
