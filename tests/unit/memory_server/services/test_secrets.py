"""The project's secrets."""

from pathlib import Path

import pytest

from memory_server.domain.limits import MAX_SECRETS
from memory_server.errors import InvalidSecret, SecretNotFound, TooManySecrets
from memory_server.services.secrets import Secrets
from memory_server.storage.files import DeploymentDirectory
from tests.clock import START, ManualClock


@pytest.fixture
def secrets(tmp_path: Path, clock: ManualClock) -> Secrets:
    return Secrets(records=DeploymentDirectory(tmp_path), clock=clock)


async def test_a_secret_set_again_gets_the_next_version_and_keeps_its_beginning(
    secrets: Secrets, clock: ManualClock
) -> None:
    await secrets.put("OPENAI_API_KEY", "one", description="of the team")
    later = clock.advance(60)

    again = await secrets.put("OPENAI_API_KEY", "two")

    assert (again.version, again.description) == (2, "of the team")
    assert (again.created_at, again.updated_at) == (START, later)


async def test_a_value_is_in_no_representation(secrets: Secrets) -> None:
    assert "tell-nobody" not in repr(await secrets.put("LLM_API_KEY", "tell-nobody"))


async def test_models_are_given_their_keys_and_nothing_else(secrets: Secrets) -> None:
    await secrets.put("MY_KEY", "mine")
    await secrets.put("LLM_API_KEY", " of the project\n")

    given = await secrets.given({"LLM_API_KEY": "of the process", "VOYAGE_API_KEY": "v"})

    assert given == {"LLM_API_KEY": "of the project", "VOYAGE_API_KEY": "v"}


async def test_a_removed_secret_leaves_the_one_of_the_environment(secrets: Secrets) -> None:
    await secrets.put("LLM_API_KEY", "of the project")
    await secrets.delete("LLM_API_KEY")

    assert await secrets.given({"LLM_API_KEY": "of the process"}) == {
        "LLM_API_KEY": "of the process"
    }
    with pytest.raises(SecretNotFound):
        await secrets.delete("LLM_API_KEY")


@pytest.mark.parametrize("name", ["sk-abcdef", "lower", "1A", "", "A" * 129, "A B", "A\n"])
async def test_a_name_that_may_be_a_value_is_refused_and_not_said(
    secrets: Secrets, name: str
) -> None:
    with pytest.raises(InvalidSecret) as raised:
        await secrets.put(name, "value")

    assert not name.strip() or name not in str(raised.value)


@pytest.mark.parametrize("name", ["ORG_ID", "AGENTIC_PLATFORM_X"])
async def test_a_name_of_the_platform_is_refused(secrets: Secrets, name: str) -> None:
    with pytest.raises(InvalidSecret, match=f"{name} is reserved"):
        await secrets.put(name, "value")


@pytest.mark.parametrize("value", ["", " \n", "x" * (64 * 1024 + 1), "a\0b", "a\ud800b"])
async def test_a_value_that_no_key_has_is_refused_and_not_said(
    secrets: Secrets, value: str
) -> None:
    with pytest.raises(InvalidSecret) as raised:
        await secrets.put("LLM_API_KEY", value)

    assert not value.strip() or value not in str(raised.value)


async def test_a_project_holds_so_many_secrets_and_may_change_them_all_the_same(
    secrets: Secrets,
) -> None:
    for number in range(MAX_SECRETS):
        await secrets.put(f"KEY_{number}", "v")

    with pytest.raises(TooManySecrets):
        await secrets.put("ONE_MORE", "v")
    assert (await secrets.put("KEY_0", "w")).version == 2
