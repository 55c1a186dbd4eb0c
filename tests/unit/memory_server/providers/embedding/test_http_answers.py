import httpx
import pytest

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.errors import ProviderRateLimited
from memory_server.providers.embedding.http_answers import (
    RequestRefused,
    explanation,
    outcomes,
    retry_after,
)
from memory_server.providers.embedding.http_openai import OpenAi

API = OpenAi(space=EmbeddingSpace(model="m", dimension=2), key="sk-1234")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"error": {"message": "no such model", "type": "x"}}', "no such model"),
        ('{"error": "no such model"}', "no such model"),
        ('{"detail": "no such model"}', "no such model"),
        ('{"message": "no such model"}', "no such model"),
        ('{"detail": [{"loc": ["input"]}]}', "[{'loc': ['input']}]"),
        ('{"error": {}}', "no explanation"),
        ("{}", "no explanation"),
        ("null", "None"),
        ("<p>no such\n   model</p>", "<p>no such model</p>"),
        ("", "no explanation"),
        ('{"error": "key sk-1234 is wrong"}', "key *** is wrong"),
        ("x" * 900, "x" * 200),
    ],
)
def test_an_explanation_is_short_and_without_the_key(content: str, said: str) -> None:
    assert explanation(httpx.Response(400, text=content), "sk-1234") == said


DATE = {"date": "Mon, 30 Nov 2026 12:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e12"}, 3600.0),
        ({"retry-after": "Mon, 30 Nov 2099 12:00:30 GMT", **DATE}, 3600.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", **DATE}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:59:30 GMT", **DATE}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30", **DATE}, None),
    ],
)
def test_the_pause_asked_for_is_read_by_the_servers_own_clock(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(httpx.Response(429, headers=headers)) == seconds


@pytest.mark.parametrize(
    ("status", "said", "too_long"),
    [
        (400, "This model's maximum context length is 8192 tokens", True),
        (400, "Please lower the number of tokens in your batch", True),
        (413, "no", True),
        (422, "`inputs` must have less than 512 tokens", True),
        (400, "the input was flagged", False),
    ],
)
def test_a_refusal_for_length_is_told_from_others(status: int, said: str, too_long: bool) -> None:
    with pytest.raises(RequestRefused) as caught:
        outcomes(httpx.Response(status, json={"detail": said}), API, 1)

    assert caught.value.too_long is too_long


def test_a_rate_limit_keeps_what_the_server_said() -> None:
    with pytest.raises(ProviderRateLimited, match="quota"):
        outcomes(httpx.Response(429, json={"error": {"message": "quota used up"}}), API, 1)
