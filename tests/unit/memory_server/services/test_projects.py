import pytest

from memory_server.domain.account import AccountRole
from memory_server.domain.scope import Scope
from memory_server.errors import (
    DuplicateName,
    InvalidRequest,
    NotAuthenticated,
    ProjectInUse,
    ProjectNotEmpty,
    ProjectNotFound,
)
from memory_server.ports.store import Store
from memory_server.services.identity import Identity
from memory_server.services.members import MemberKeeping
from memory_server.services.projects import ProjectChanges, ProjectKeeping
from memory_server.services.service_accounts import NewAccount, ServiceAccounts
from memory_server.services.tokens import Tokens
from memory_server.services.turns import TurnRecording
from tests.clock import ManualClock
from tests.unit.memory_server.services.conftest import OWNER_TOKEN, a_turn, token_of


@pytest.fixture
def projects(store: Store, clock: ManualClock) -> ProjectKeeping:
    return ProjectKeeping(projects=store.projects, clock=clock, own="p")


async def test_the_deployments_own_project_exists_from_the_start(projects: ProjectKeeping) -> None:
    assert (await projects.get("p")).name == "p"
    assert [one.id for one in await projects.list()] == ["p"]


async def test_a_project_that_was_not_made_does_not_exist(projects: ProjectKeeping) -> None:
    with pytest.raises(ProjectNotFound, match="'q'"):
        await projects.get("q")


async def test_a_project_gets_an_id_that_begins_with_its_name(projects: ProjectKeeping) -> None:
    one, other = await projects.create("Web Shop!"), await projects.create("Überraschung 2")

    assert one.id.startswith("web-shop-")
    assert other.id.startswith("berraschung-2-")
    assert await projects.get(one.id) == one


@pytest.mark.parametrize("project_id", ["", "a/b", ".", "..", "-x", "a b", "ä", "x" * 129])
async def test_an_id_has_to_stand_in_an_address(projects: ProjectKeeping, project_id: str) -> None:
    with pytest.raises(InvalidRequest, match="id"):
        await projects.create("a name", project_id=project_id)


async def test_ids_and_names_are_taken_once(projects: ProjectKeeping) -> None:
    await projects.create("Shop", project_id="shop")

    for name, project_id in (("Shop", "another"), ("Another", "shop"), ("p", "x"), ("x", "p")):
        with pytest.raises(DuplicateName):
            await projects.create(name, project_id=project_id)


async def test_what_is_changed_holds_at_once_and_the_rest_stays(projects: ProjectKeeping) -> None:
    before = await projects.create("Shop", description="sells", project_id="shop")

    await projects.change("shop", ProjectChanges(enforce_identity=True))

    after = await projects.get("shop")
    assert (after.enforce_identity, after.allow_delegation, after.description) == (
        True,
        False,
        "sells",
    )
    assert after.updated_at > before.updated_at


async def test_the_deployments_own_project_cannot_be_removed(projects: ProjectKeeping) -> None:
    with pytest.raises(ProjectInUse):
        await projects.remove("p")


async def test_a_project_that_holds_memory_is_not_removed(
    projects: ProjectKeeping, recording: TurnRecording, store: Store
) -> None:
    await projects.create("Shop", project_id="shop")
    await recording.record(Scope(project_id="shop", user_id="ana"), a_turn())

    with pytest.raises(ProjectNotEmpty, match="turns"):
        await projects.remove("shop")
    await store.erase(Scope(project_id="shop", user_id="ana"))
    await projects.remove("shop")

    with pytest.raises(ProjectNotFound):
        await projects.get("shop")


async def test_what_came_too_late_for_a_removed_project_is_refused_and_in_no_later_one(
    projects: ProjectKeeping, recording: TurnRecording, store: Store
) -> None:
    shop = Scope(project_id="shop", user_id="ana")
    await projects.create("Shop", project_id="shop")
    await projects.remove("shop")

    with pytest.raises(ProjectNotFound, match="nothing was stored"):
        await recording.record(shop, a_turn())
    await projects.create("Shop", project_id="shop")

    assert await store.turns.recent(shop, limit=9) == []
    await recording.record(shop, a_turn())


async def test_a_project_made_anew_is_closed_to_those_of_the_former(
    projects: ProjectKeeping,
    accounts: ServiceAccounts,
    members: MemberKeeping,
    store: Store,
    tokens: Tokens,
) -> None:
    identity = Identity(
        accounts=store.accounts, members=store.members, tokens=tokens, owner_token=OWNER_TOKEN
    )
    await projects.create("Shop", project_id="shop")
    role = AccountRole.PROJECT_OWNER
    issued = await accounts.create("shop", NewAccount(name="bot", role=role))
    made = await members.add("shop", "ana", role)
    logged_in = await members.log_in("ana", made.password, project_id="shop", address=None)
    bearers = [await token_of(accounts, issued), logged_in.access_token]

    await projects.remove("shop")
    await projects.create("Shop", project_id="shop")
    await members.add("shop", "ana", role)

    for bearer in bearers:
        with pytest.raises(NotAuthenticated):
            await identity.authenticate(bearer, project_id="shop")
    with pytest.raises(NotAuthenticated):
        await members.refresh(logged_in.refresh_token)
    with pytest.raises(NotAuthenticated):
        await token_of(accounts, issued)
