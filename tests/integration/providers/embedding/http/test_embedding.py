"""Embedding over HTTP, against a server that speaks both protocols."""

import asyncio
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from memory_server.domain.embedding import Purpose
from memory_server.errors import ProviderError, ProviderUnavailable
from memory_server.ports.embedder import Embedder
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.embedding.http_embedder import HttpEmbedder
from memory_server.providers.embedding.http_openai import OpenAi
from tests.conformance.embedder import EmbedderContract, one, present
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    Request,
    document,
    vectors,
)
from tests.integration.providers.embedding.http.steps import KEY, SPACE, Open, embed


class TestHttpEmbedder(EmbedderContract):
    pass


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
