import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Literal

import numpy as np
import pytest

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.errors import (
    InvalidAnswer,
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    WrongDimension,
)
from memory_server.ports.embedder import Embedder
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.embedding.http_api import EmbeddingsApi, Timeouts
from memory_server.providers.embedding.http_embedder import HttpEmbedder
from memory_server.providers.embedding.http_openai import OpenAi
from memory_server.providers.embedding.http_voyage import Voyage
from tests.conformance.embedder import EmbedderContract, one, present
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    Request,
    document,
    serving,
    vectors,
)

KEY = "sk-test-3f9a77aa"
SPACE = EmbeddingSpace(model="some-model", dimension=32)
PATIENCE = Timeouts(connect=5.0, query=30.0, documents=30.0)
IMPATIENCE = Timeouts(connect=0.2, query=0.2, documents=0.2)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(SPACE.dimension) as server:
        yield server


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[EmbeddingsApi], HttpEmbedder]]:
    """Builds embedders and closes them."""
    async with AsyncExitStack() as stack:

        def build(api: EmbeddingsApi, timeouts: Timeouts = PATIENCE) -> HttpEmbedder:
            embedder = HttpEmbedder(api, timeouts=timeouts)
            stack.push_async_callback(embedder.close)
            return embedder

        yield build


Open = Callable[..., HttpEmbedder]


@pytest.fixture(params=[Voyage, OpenAi], ids=["voyage", "openai"])
def api(request: pytest.FixtureRequest, server: EmbeddingServer) -> EmbeddingsApi:
    built: EmbeddingsApi = request.param(space=SPACE, key=KEY, base_url=server.address)
    return built


@pytest.fixture
def embedder(api: EmbeddingsApi, opened: Open) -> HttpEmbedder:
    return opened(api)


@pytest.fixture
def voyage(server: EmbeddingServer, opened: Open) -> HttpEmbedder:
    return opened(Voyage(space=SPACE, key=KEY, base_url=server.address))


@pytest.fixture
def openai(server: EmbeddingServer, opened: Open) -> HttpEmbedder:
    return opened(OpenAi(space=SPACE, key=KEY, base_url=server.address))


class TestHttpEmbedder(EmbedderContract):
    pass


async def embed(embedder: Embedder, *texts: str) -> list[str | None]:
    """Return the reasons."""
    return list((await embedder.embed(texts, purpose=Purpose.DOCUMENT)).reasons)


async def test_voyage_is_asked_in_its_own_words(
    server: EmbeddingServer, voyage: HttpEmbedder
) -> None:
    await one(voyage, "grey cat", Purpose.QUERY)

    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "input": ["grey cat"],
        "model": "some-model",
        "input_type": "query",
        "output_dimension": 32,
        "truncation": False,
    }


async def test_openai_is_asked_in_its_own_words(
    server: EmbeddingServer, openai: HttpEmbedder
) -> None:
    await one(openai, "grey cat")

    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {"input": ["grey cat"], "model": "some-model", "dimensions": 32}


async def test_voyage_is_told_what_is_a_document(
    server: EmbeddingServer, voyage: HttpEmbedder
) -> None:
    await one(voyage, "grey cat", Purpose.DOCUMENT)

    assert server.requests[0].body["input_type"] == "document"


async def test_a_server_without_keys_gets_none(server: EmbeddingServer, opened: Open) -> None:
    api = OpenAi(space=SPACE, key=None, key_name=None, base_url=server.address)

    await one(opened(api), "grey cat")

    assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize("provider", ["voyage", "openai"])
async def test_an_address_may_end_with_a_slash(
    provider: Literal["voyage", "openai"], server: EmbeddingServer
) -> None:
    config = EmbeddingConfig(
        provider=provider, model="some-model", dimension=32, base_url=server.address + "/"
    )
    embedder = build_embedder(config, key=KEY)

    await embedder.check()
    await embedder.close()

    assert [request.path for request in server.requests] == ["/v1/embeddings"]


async def test_answers_in_another_order_find_their_texts(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    in_order = present(await embedder.embed(["a cat", "a dog"], purpose=Purpose.DOCUMENT))
    server.rules.append(lambda request: vectors(server.hashed(request.texts), backwards=True))

    shuffled = present(await embedder.embed(["a cat", "a dog"], purpose=Purpose.DOCUMENT))

    assert np.array_equal(in_order, shuffled)


async def test_many_texts_are_asked_in_several_requests(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    texts = [f"fact number {number}" for number in range(300)]

    answer = present(await embedder.embed(texts, purpose=Purpose.DOCUMENT))

    assert len(answer) == 300
    assert 3 <= len(server.requests) <= 10
    assert [text for request in server.requests for text in request.texts] == texts


async def test_blank_texts_are_not_sent(server: EmbeddingServer, embedder: Embedder) -> None:
    await embed(embedder, "", "cat", "  ")
    await embed(embedder, "", "  ")

    assert [request.texts for request in server.requests] == [["cat"]]


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


def refuses(words: int) -> Callable[[Request], Reply | None]:
    """Refuse a request that holds a text of more words."""

    def rule(request: Request) -> Reply | None:
        if max(len(text.split()) for text in request.texts) > words:
            return document({"error": {"message": "maximum context length is 99"}}, status=400)
        return None

    return rule


async def test_a_text_too_long_is_embedded_in_pieces_and_the_others_as_they_are(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    alone = await one(embedder, "a grey cat")
    server.rules.append(refuses(400))

    answer = present(
        await embedder.embed(["a grey cat", "so many words " * 500, "dog"], purpose=Purpose.QUERY)
    )

    assert np.array_equal(answer[0], alone)
    assert np.linalg.norm(answer, axis=1) == pytest.approx(1.0)


async def test_a_text_that_does_not_get_short_enough_has_a_reason(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(refuses(5))

    reasons = await embed(embedder, "cat", "so many words " * 500, "dog")

    assert reasons[0] is reasons[2] is None
    assert "too long for the model, and refused in pieces: maximum context" in str(reasons[1])


async def test_a_refused_text_does_not_take_others_with_it(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    texts = [f"fact {number}" for number in range(20)]
    refused = document({"error": {"message": "policy"}}, status=400)
    server.rules.append(lambda request: refused if "fact 7" in request.texts else None)

    reasons = await embed(embedder, *texts)

    assert reasons[7] == "refused by the model: policy"
    assert [index for index, reason in enumerate(reasons) if reason is not None] == [7]


async def test_a_refusal_of_everything_is_a_failure_after_two_requests(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: document({"error": "no such model"}, status=400))

    with pytest.raises(ProviderError, match=r"refuses every request .* no such model"):
        await embed(embedder, *(f"fact {number}" for number in range(20)))
    assert len(server.requests) == 2


async def test_a_server_that_takes_small_batches_is_asked_in_small_batches(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    too_many = document({"error": "batch size 8 > maximum 4"}, status=422)
    server.rules.append(lambda request: too_many if len(request.texts) > 4 else None)

    assert await embed(embedder, *(f"fact {number}" for number in range(32))) == [None] * 32


async def test_a_model_of_one_size_is_not_asked_for_dimensions_again(
    server: EmbeddingServer, openai: HttpEmbedder
) -> None:
    refused = document({"error": "this model does not support dimensions"}, status=400)
    server.rules.append(lambda request: refused if "dimensions" in request.body else None)

    assert await embed(openai, "cat") == [None]
    assert await embed(openai, "dog") == [None]
    assert len(server.requests) == 3


async def test_closing_ends_a_request_under_way(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda _: Reply(hangs=True))
    waiting = asyncio.ensure_future(embed(embedder, "cat"))
    await asyncio.to_thread(server.arrived.wait)

    await embedder.close()

    with pytest.raises(ProviderUnavailable, match="closed"):
        await waiting


async def test_a_cancelled_caller_leaves_the_embedder_usable(
    server: EmbeddingServer, embedder: Embedder
) -> None:
    server.rules.append(lambda request: Reply(hangs=True) if request.texts == ["cat"] else None)
    waiting = asyncio.ensure_future(embed(embedder, "cat"))
    await asyncio.to_thread(server.arrived.wait)

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await embed(embedder, "dog") == [None]


async def test_no_key_is_in_the_way_an_embedder_prints(embedder: Embedder) -> None:
    assert KEY not in f"{embedder!r} {vars(embedder)!r}"
