import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.errors import (
    InvalidAnswer,
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
)
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.embedding.http_voyage import Voyage
from memory_server.providers.reranking.factory import build_reranker
from memory_server.providers.reranking.voyage import (
    LONGEST_QUERY,
    LONGEST_TEXT,
    VoyageReranker,
)
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    document,
    serving,
)

KEY = "al-test-3f9a77aa"
SPACE = EmbeddingSpace(model="voyage-4-large", dimension=1024)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(SPACE.dimension) as server:
        yield server


@pytest.fixture
async def reranker(server: EmbeddingServer) -> AsyncIterator[VoyageReranker]:
    built = a_reranker(server)
    yield built
    await built.close()


def a_reranker(server: EmbeddingServer, seconds: float = 30.0) -> VoyageReranker:
    access = Voyage(space=SPACE, key=KEY, base_url=server.address)
    return VoyageReranker(access, connect_seconds=seconds, seconds=seconds)


def scored(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"data": [{"index": index, "relevance_score": score} for index, score in pairs]}


def answer(server: EmbeddingServer, content: Any, **more: Any) -> None:
    server.rules.append(lambda _: document(content, **more))


async def ask(reranker: VoyageReranker, *texts: str) -> Sequence[float | None]:
    return await reranker.relevance("who has a cat?", texts or ("a cat", "a dog"))


async def test_voyage_is_asked_in_its_own_words(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, scored((0, 0.75), (1, 0.25)))

    assert await ask(reranker) == [0.75, 0.25]

    (request,) = server.requests
    assert request.path == "/v1/rerank"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "query": "who has a cat?",
        "documents": ["a cat", "a dog"],
        "model": "rerank-2.5",
        "return_documents": False,
        "truncation": True,
    }


async def test_scores_in_another_order_find_their_texts(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, scored((1, 0.9), (0, 0.1)))

    assert await ask(reranker) == [0.1, 0.9]


async def test_blank_texts_are_not_sent_and_have_no_score(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, scored((0, 0.5)))

    assert await ask(reranker, "", "a cat", " ") == [None, 0.5, None]
    assert server.requests[0].body["documents"] == ["a cat"]


@pytest.mark.parametrize(("query", "texts"), [("cat", []), ("cat", ["  "]), (" ", ["a cat"])])
async def test_nothing_is_asked_where_nothing_can_be_said(
    query: str, texts: list[str], server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    assert await reranker.relevance(query, texts) == [None] * len(texts)
    assert server.requests == []


async def test_long_texts_are_cut_so_that_a_full_request_is_taken(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, scored((0, 0.5)))

    await reranker.relevance("q" * 9_999, ["t" * 99_999])

    body = server.requests[0].body
    assert (len(body["query"]), len(body["documents"][0])) == (LONGEST_QUERY, LONGEST_TEXT)
    assert reranker.candidates * (LONGEST_QUERY + LONGEST_TEXT) <= 600_000
    assert reranker.candidates <= 1_000


@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_named_but_not_shown(
    status: int, server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, {"detail": f"bad key {KEY}"}, status=status)

    with pytest.raises(KeyRejected, match="VOYAGE_API_KEY") as caught:
        await ask(reranker)
    assert KEY not in str(caught.value)


async def test_a_rate_limit_is_told_and_nothing_is_tried_again(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, {"detail": "slow down"}, status=429)

    with pytest.raises(ProviderRateLimited, match="slow down"):
        await ask(reranker)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refusal_comes_with_its_reason(
    status: int, server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, {"detail": "no such model"}, status=status)

    with pytest.raises(ProviderError, match=r"rerank-2\.5: no such model"):
        await ask(reranker)


@pytest.mark.parametrize("status", [404, 500, 503])
async def test_a_failing_server_is_a_failure_of_the_provider(
    status: int, server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, {}, status=status)

    with pytest.raises(ProviderError, match=str(status)):
        await ask(reranker)


async def test_a_server_that_never_answers_is_given_up(server: EmbeddingServer) -> None:
    server.rules.append(lambda _: Reply(hangs=True))
    impatient = a_reranker(server, seconds=0.2)

    with pytest.raises(ProviderUnavailable, match=r"did not answer within 0\.2 s"):
        await ask(impatient)
    await impatient.close()


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"data": None},
        scored((0, 0.5)),
        scored((0, 0.5), (0, 0.5)),
        scored((0, 0.5), (2, 0.5)),
        scored((0, 0.5), (1, 0.5), (1, 0.5)),
        scored((0, "high"), (1, 0.5)),
        scored((0, None), (1, 0.5)),
        scored((0, float("nan")), (1, 0.5)),
        {"data": [{"index": 0}, {"index": 1}]},
    ],
)
async def test_an_answer_of_another_form_is_invalid(
    content: Any, server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    answer(server, content)

    with pytest.raises(InvalidAnswer, match="each of 2 texts"):
        await ask(reranker)


async def test_an_answer_that_is_not_json_comes_from_somebody_else(
    server: EmbeddingServer, reranker: VoyageReranker
) -> None:
    server.rules.append(lambda _: Reply(body=b"<html>Sign in</html>"))

    with pytest.raises(ProviderUnavailable, match="is base_url right"):
        await ask(reranker)


async def test_closing_ends_what_is_being_asked(server: EmbeddingServer) -> None:
    server.rules.append(lambda _: Reply(hangs=True))
    reranker = a_reranker(server)
    asking = asyncio.ensure_future(ask(reranker))
    await asyncio.to_thread(server.arrived.wait)

    await reranker.close()

    with pytest.raises(ProviderUnavailable, match="closed"):
        await asking
    with pytest.raises(ProviderUnavailable, match="closed"):
        await ask(reranker)


async def test_the_configured_address_and_key_are_those_of_the_embeddings(
    server: EmbeddingServer,
) -> None:
    answer(server, scored((0, 1), (1, 0)))
    config = EmbeddingConfig(provider="voyage", model="m", dimension=8, base_url=server.address)
    reranker = build_reranker(config, key=KEY)

    assert await reranker.relevance("cat", ["a cat", "a dog"]) == [1.0, 0.0]
    await reranker.close()

    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


async def test_a_key_that_is_not_there_is_asked_for_by_name(server: EmbeddingServer) -> None:
    config = EmbeddingConfig(provider="voyage", model="m", dimension=8, base_url=server.address)
    reranker = build_reranker(config, key=None)

    with pytest.raises(KeyRejected, match="set VOYAGE_API_KEY"):
        await reranker.relevance("cat", ["a cat"])
    await reranker.close()
    assert server.requests == []
