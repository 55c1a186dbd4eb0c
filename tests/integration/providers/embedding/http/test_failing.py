"""Keys that are refused, servers that fail, answers that are of no use."""

import pytest

from memory_server.errors import (
    InvalidAnswer,
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    WrongDimension,
)
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.http_api import EmbeddingsApi
from memory_server.providers.embedding.http_embedder import HttpEmbedder
from memory_server.providers.embedding.http_openai import OpenAi
from memory_server.providers.embedding.http_voyage import Voyage
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    document,
    serving,
    vectors,
)
from tests.integration.providers.embedding.http.steps import IMPATIENCE, KEY, SPACE, Open, embed


@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_named_but_not_shown(
    status: int, server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: document({"error": f"bad key {KEY}"}, status=status))

    with pytest.raises(KeyRejected, match="_API_KEY") as caught:
        await embedder.check()

    assert KEY not in f"{caught.value} {caught.value.details} {embedder!r}"


async def test_a_rejected_voyage_key_comes_with_the_usual_cause(
    server: EmbeddingServer, voyage: HttpEmbedder
) -> None:
    server.rules.append(lambda _: document({"detail": "no"}, status=401))

    with pytest.raises(KeyRejected, match=r"work only at ai\.mongodb\.com"):
        await voyage.check()


@pytest.mark.parametrize("key", [None, "", " "])
async def test_a_key_that_is_not_there_is_asked_for_by_name(
    key: str | None, server: EmbeddingServer, opened: Open
) -> None:
    embedder = opened(Voyage(space=SPACE, key=key, base_url=server.address))

    with pytest.raises(KeyRejected, match="needs a key: set VOYAGE_API_KEY"):
        await embedder.check()
    assert server.requests == []


@pytest.mark.parametrize("key", ["sk-schlüssel", "sk-two\nlines"])
async def test_a_key_no_header_can_carry_is_rejected_without_being_shown(
    key: str, server: EmbeddingServer, opened: Open
) -> None:
    embedder = opened(Voyage(space=SPACE, key=key, base_url=server.address))

    with pytest.raises(KeyRejected, match="copy it again") as caught:
        await embedder.check()
    assert key not in str(caught.value)


async def test_a_key_in_an_error_text_is_blanked(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: document({"error": {"message": f"broke on {KEY}"}}, status=500))

    with pytest.raises(ProviderUnavailable, match=r"broke on \*\*\*"):
        await embedder.check()


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry_After": "7"}, 7.0), ({}, None)], ids=["stated", "silent"]
)
async def test_a_rate_limit_says_how_long_to_wait(
    headers: dict[str, str], seconds: float | None, server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: document({"detail": "slow down"}, status=429, **headers))

    with pytest.raises(ProviderRateLimited, match="slow down") as caught:
        await embed(embedder, "cat")

    assert caught.value.details["retry_after"] == seconds
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
async def test_a_failing_server_is_unavailable_and_asked_once(
    status: int, server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(status=status, body=b"<html>oh no</html>"))

    with pytest.raises(ProviderUnavailable, match=str(status)):
        await embed(embedder, "cat")
    assert len(server.requests) == 1


async def test_a_server_that_never_answers_is_given_up(
    api: EmbeddingsApi, server: EmbeddingServer, opened: Open
) -> None:
    server.rules.append(lambda _: Reply(hangs=True))
    embedder = opened(api, IMPATIENCE)

    with pytest.raises(ProviderUnavailable, match=r"did not answer within 0\.2 s"):
        await embed(embedder, "cat")


async def test_an_address_where_nobody_listens_is_named(opened: Open) -> None:
    with serving(32) as gone:
        embedder = opened(OpenAi(space=SPACE, key=KEY, base_url=gone.address))

    with pytest.raises(ProviderUnavailable, match=r"cannot be reached at 127\.0\.0\.1"):
        await embed(embedder, "cat")


async def test_a_connection_that_broke_is_replaced_once(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(breaks=True) if len(server.requests) == 1 else None)

    assert await embed(embedder, "cat") == [None]
    assert len(server.requests) == 2


async def test_a_connection_that_breaks_again_is_unavailable(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(breaks=True))

    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await embed(embedder, "cat")
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"", b"<html>Sign in</html>", b'{"data": [{"ind', b"\xff\xfe"])
async def test_an_answer_that_is_not_json_comes_from_somebody_else(
    body: bytes, server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(body=body))

    with pytest.raises(ProviderUnavailable, match="not JSON; is base_url right"):
        await embed(embedder, "cat")


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"data": []},
        {"data": None},
        {"data": [{"embedding": [1.0] * 32}]},
        {"data": [{"index": 1, "embedding": [1.0] * 32}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        {"data": [{"index": 0, "embedding": [1.0] * 32}] * 2},
    ],
)
async def test_an_answer_of_another_form_is_invalid(
    content: object, server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: document(content))

    with pytest.raises(InvalidAnswer):
        await embed(embedder, "cat")


async def test_a_wrong_dimension_names_both(server: EmbeddingServer, embedder: Embedder) -> None:
    server.rules.append(lambda _: vectors([[1.0] * 48]))

    with pytest.raises(WrongDimension, match=r"48 numbers .*dimension is 32"):
        await embed(embedder, "cat")


@pytest.mark.parametrize("number", [0.0, float("nan"), float("inf"), None])
async def test_numbers_without_a_direction_cost_one_text_its_vector(
    number: float | None, server: EmbeddingServer, embedder: Embedder
) -> None:
    broken: list[float] = [number] * 32  # type: ignore[list-item] # JSON null is one of the cases
    server.rules.append(lambda request: vectors([*server.hashed(request.texts[:-1]), broken]))

    reasons = await embed(embedder, "cat", "dog")

    assert reasons == [None, "the model answered with zero or non-finite numbers"]


async def test_a_redirect_does_not_carry_the_key_away(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(status=307, headers={"Location": "/elsewhere"}))

    with pytest.raises(ProviderError, match="answered 307"):
        await embed(embedder, "cat")
    assert [request.path for request in server.requests] == ["/v1/embeddings"]


async def test_no_key_is_in_the_way_an_embedder_prints(embedder: Embedder) -> None:
    assert KEY not in f"{embedder!r} {vars(embedder)!r}"
