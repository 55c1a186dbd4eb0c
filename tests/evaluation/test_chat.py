import pytest

from evaluation.chat import ChatModel
from evaluation.suite import ModelChoice
from memory_server.errors import (
    KeyRejected,
    ProviderError,
    ProviderUnavailable,
    Refused,
)
from tests.chat_server import DECLINES, FILTERED, Reply, fails, running

KEY = "sk-very-secret"


async def failure_of(reply: Reply) -> ProviderError:
    with running() as server:
        server.will(reply)
        choice = ModelChoice(provider="openai", model="tiny", base_url=server.url)
        model = ChatModel(choice, environment={"OPENAI_API_KEY": KEY})
        with pytest.raises(ProviderError) as caught:
            await model.complete("Be brief.", "Hello?")
        await model.close()
        return caught.value


async def test_a_rejected_key_is_told_and_never_shown() -> None:
    error = await failure_of(fails(401, message=f"bad key {KEY}"))

    assert isinstance(error, KeyRejected)
    assert KEY not in str(error)
    assert error.__cause__ is None


async def test_a_rejected_request_says_why_without_the_key() -> None:
    error = await failure_of(fails(400, message=f"no such parameter, {KEY}"))

    assert "no such parameter" in str(error)
    assert KEY not in str(error)


@pytest.mark.parametrize("reply", [DECLINES, FILTERED])
async def test_a_model_that_declines_is_told_apart(reply: Reply) -> None:
    assert isinstance(await failure_of(reply), Refused)


async def test_no_key_is_told_before_anything_is_sent() -> None:
    model = ChatModel(ModelChoice(provider="openai", model="tiny"), environment={})

    with pytest.raises(KeyRejected, match="set OPENAI_API_KEY or LLM_API_KEY"):
        await model.complete("", "Hello?")


async def test_the_key_is_read_under_the_name_that_the_suite_has() -> None:
    with running() as server:
        choice = ModelChoice(
            provider="openai", model="tiny", base_url=server.url, api_key_secret="MINE"
        )
        model = ChatModel(choice, environment={"MINE": KEY, "OPENAI_API_KEY": "other"})
        await model.complete("", "Hello?")
        await model.close()

    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(model)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with running() as server:
        choice = ModelChoice(provider="openai", model="tiny", base_url=server.url)
    model = ChatModel(choice, environment={}, retries=0)

    with pytest.raises(ProviderUnavailable, match="run again to go on"):
        await model.complete("", "Hello?")
    await model.close()
