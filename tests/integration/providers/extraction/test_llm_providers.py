"""How each provider is asked, and how it fails."""

import json
import subprocess
import sys
from typing import Any

import pytest

from memory_server.domain.memory import MemoryType
from memory_server.errors import (
    InputTooLong,
    KeyRejected,
    ModelNotFound,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    Refused,
    RequestRejected,
)
from memory_server.project_config import ExtractionLlmConfig
from memory_server.providers.extraction.chat import ModelAccess
from memory_server.providers.extraction.factory import build_extractor
from memory_server.providers.extraction.llm import LanguageModelExtractor
from tests.chat_server import (
    DECLINES,
    FILTERED,
    HANGS,
    ChatServer,
    Reply,
    fails,
    says,
    says_items,
)
from tests.integration.providers.extraction.llm_talk import (
    BOSTON,
    KEY,
    TALK,
    extractor,
    facts_of,
    texts,
)

ERRORS = [
    (HANGS, ProviderUnavailable, True),
    (fails(500), ProviderUnavailable, True),
    (fails(503), ProviderUnavailable, True),
    (Reply(body=b"<html>", headers={}), ProviderUnavailable, True),
    (Reply(body=b'{"object": "chat.completion", "cho'), ProviderUnavailable, True),
    (fails(429, retry_after="17"), ProviderRateLimited, True),
    (fails(429, code="insufficient_quota"), ProviderRateLimited, True),
    (fails(401, message=f"Incorrect API key {KEY}"), KeyRejected, True),
    (fails(403), KeyRejected, True),
    (fails(400, code="context_length_exceeded"), InputTooLong, False),
    (fails(400, code="content_filter"), Refused, False),
    (fails(404, code="model_not_found"), ModelNotFound, True),
    (DECLINES, Refused, False),
    (FILTERED, Refused, False),
]


@pytest.mark.parametrize(("reply", "expected", "retryable"), ERRORS)
async def test_providers_failure_becomes_our_error_without_the_key(
    chat_server: ChatServer, reply: Reply, expected: type[ProviderError], retryable: bool
) -> None:
    with pytest.raises(ProviderError) as caught:
        await facts_of(chat_server, reply, timeout_seconds=1.0)

    error = caught.value
    assert type(error) is expected
    assert error.retryable is retryable
    assert KEY not in f"{error!r} {error.details} {error.__cause__!r}"
    assert len(chat_server.received) == 1


async def test_a_request_that_is_rejected_is_an_error_without_the_key(
    chat_server: ChatServer,
) -> None:
    bad = fails(400, message=f"bad {KEY}")

    with pytest.raises(RequestRejected) as caught:
        await facts_of(chat_server, bad, bad)

    assert not caught.value.retryable
    assert KEY not in f"{caught.value!r} {caught.value.details} {caught.value.__cause__!r}"


async def test_the_model_is_held_to_the_form_of_the_answer(chat_server: ChatServer) -> None:
    await facts_of(chat_server, says_items(BOSTON))

    (asked,) = chat_server.received
    form = asked.body["response_format"]
    assert form["type"] == "json_schema"
    (name,) = form["json_schema"]["schema"]["properties"]
    item = form["json_schema"]["schema"]["properties"][name]["items"]
    assert (name, form["json_schema"]["strict"]) == ("memories", False)
    assert {"evidence", "attribute", "value", "text"} <= set(item["required"])


async def test_what_a_small_model_puts_alone_into_a_list_is_read(chat_server: ChatServer) -> None:
    listed = {**BOSTON, "event_words": [], "event_turn": [1]}
    assert texts(await facts_of(chat_server, says_items(listed))) == [BOSTON["text"]]


async def test_a_server_that_knows_no_forms_is_asked_without_from_then(
    chat_server: ChatServer,
) -> None:
    chat_server.will(
        fails(400, message="response_format: unknown"), says_items(BOSTON), says_items(BOSTON)
    )
    reader = extractor(chat_server)
    try:
        found = [await reader.extract(TALK, MemoryType.SEMANTIC) for _ in range(2)]
    finally:
        await reader.close()

    assert [texts(one) for one in found] == [["The user always flies out of Boston."]] * 2
    asked = ["response_format" in one.body for one in chat_server.received]
    assert asked == [True, False, False]


async def test_rate_limit_says_how_long_to_wait(chat_server: ChatServer) -> None:
    with pytest.raises(ProviderRateLimited) as caught:
        await facts_of(chat_server, fails(429, retry_after="17"))

    assert caught.value.details["retry_after"] == 17


async def test_no_wait_longer_than_an_hour_is_granted(chat_server: ChatServer) -> None:
    with pytest.raises(ProviderRateLimited) as caught:
        await facts_of(chat_server, fails(429, retry_after="1000000000000"))

    assert caught.value.details["retry_after"] == 3600


async def test_refusal_in_prose_is_a_refusal_and_no_memory(chat_server: ChatServer) -> None:
    no = says("I'm sorry, I cannot help with that.")

    with pytest.raises(Refused):
        await facts_of(chat_server, no, no)


async def test_unreachable_server_is_unavailable(chat_server: ChatServer) -> None:
    access = ModelAccess(provider="openai", model="m", key=KEY, base_url="http://127.0.0.1:9/v1")

    with pytest.raises(ProviderUnavailable):
        await LanguageModelExtractor(access).extract(TALK, MemoryType.SEMANTIC)


@pytest.mark.parametrize(
    ("auth_header", "sent", "absent"),
    [
        (None, ("authorization", f"Bearer {KEY}"), "api-key"),
        ("authorization", ("authorization", f"Bearer {KEY}"), "api-key"),
        ("api-key", ("api-key", KEY), "authorization"),
    ],
)
async def test_key_travels_in_the_configured_header(
    chat_server: ChatServer, auth_header: Any, sent: tuple[str, str], absent: str
) -> None:
    config = ExtractionLlmConfig(
        provider="cerebras", base_url=chat_server.url + "/", auth_header=auth_header
    )

    await build_extractor(config, KEY).extract(TALK, MemoryType.SEMANTIC)

    (request,) = chat_server.received
    assert request.path == "/v1/chat/completions"
    assert request.headers[sent[0]] == sent[1]
    assert absent not in request.headers
    assert (request.body["model"], request.body["temperature"]) == ("gpt-oss-120b", 0.0)


async def test_server_of_ones_own_needs_no_key(chat_server: ChatServer) -> None:
    config = ExtractionLlmConfig(provider="openai", model="tiny", base_url=chat_server.url)
    reader = build_extractor(config, None)

    await reader.check()
    await reader.extract(TALK, MemoryType.SEMANTIC)

    assert len(chat_server.received) == 1


async def test_anthropic_is_asked_in_its_own_protocol(chat_server: ChatServer) -> None:
    content = [{"type": "text", "text": json.dumps({"memories": [BOSTON]})}]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "tiny"}
    usage = {"input_tokens": 5, "output_tokens": 3}
    answer = body | {"content": content, "stop_reason": "end_turn", "usage": usage}
    chat_server.will(Reply(body=json.dumps(answer).encode()))
    config = ExtractionLlmConfig(provider="anthropic", base_url=chat_server.url.removesuffix("/v1"))

    found = await build_extractor(config, KEY).extract(TALK, MemoryType.SEMANTIC)

    (request,) = chat_server.received
    assert request.path.partition("?")[0] == "/v1/messages"
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert (texts(found), found.input_tokens) == ([BOSTON["text"]], 5)


async def test_gemini_is_asked_in_its_own_protocol(chat_server: ChatServer) -> None:
    parts = [{"text": json.dumps({"memories": [BOSTON]})}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "tiny"}
    chat_server.will(Reply(body=json.dumps(answer).encode()))
    config = ExtractionLlmConfig(provider="gemini", base_url=chat_server.url.removesuffix("/v1"))

    found = await build_extractor(config, KEY).extract(TALK, MemoryType.SEMANTIC)

    (request,) = chat_server.received
    assert request.path.endswith("/models/gemini-3.5-flash-lite:generateContent")
    assert request.headers["x-goog-api-key"] == KEY
    assert (texts(found), found.input_tokens) == ([BOSTON["text"]], 5)


async def test_missing_key_is_named_before_anything_is_sent() -> None:
    reader = build_extractor(ExtractionLlmConfig(provider="gemini"), None)

    with pytest.raises(KeyRejected, match="GEMINI_API_KEY or LLM_API_KEY"):
        await reader.check()
    with pytest.raises(KeyRejected):
        await reader.extract(TALK, MemoryType.SEMANTIC)


def test_libraries_of_the_providers_are_not_loaded_before_they_are_needed() -> None:
    code = (
        "import sys\n"
        "from memory_server.project_config import ExtractionLlmConfig\n"
        "from memory_server.providers.extraction.factory import build_extractor\n"
        "from memory_server.providers.answering.factory import build_answerer\n"
        "config = ExtractionLlmConfig(provider='openai')\n"
        "build_extractor(config, 'k'), build_answerer(config, 'k')\n"
        "print([m for m in ('pydantic_ai', 'openai', 'anthropic') if m in sys.modules])"
    )

    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
