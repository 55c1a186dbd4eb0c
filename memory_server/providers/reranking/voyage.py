"""Voyage's reranking API, at the address of its embeddings and with their key."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from memory_server.errors import InvalidAnswer, ProviderError
from memory_server.ports.reranker import Reranker
from memory_server.providers.embedding.http_answers import RequestRefused, document
from memory_server.providers.embedding.vectors import readable
from memory_server.providers.http_client import Access, HttpClient

MODEL = "rerank-2.5"
LONGEST_QUERY = 2_000
LONGEST_TEXT = 4_000
"""Characters that are sent. With 100 texts and a token a character, that is the 600,000 tokens
(the query counts once for each text) which one request may have."""


class VoyageReranker(Reranker):
    """`POST {base_url}/rerank`: a model that reads the question and each text together."""

    name = "voyage_rerank"
    candidates = 100
    weight = 1.0

    def __init__(
        self, access: Access, *, connect_seconds: float = 3.0, seconds: float = 5.0
    ) -> None:
        self._access = access
        self._seconds = seconds
        self._client = HttpClient(
            connect_seconds=connect_seconds,
            closed="This reranker has been closed; build another.",
        )

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Blank texts are not sent, and for a blank query nothing is."""
        sent = [number for number, text in enumerate(texts) if text.strip()]
        relevance: list[float | None] = [None] * len(texts)
        if query.strip() and sent:
            scores = await self._ask(query, [texts[number] for number in sent])
            for number, score in zip(sent, scores, strict=True):
                relevance[number] = score
        return relevance

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        body = {
            "query": _cut(query, LONGEST_QUERY),
            "documents": [_cut(text, LONGEST_TEXT) for text in texts],
            "model": MODEL,
            "return_documents": False,
            "truncation": True,
        }
        answer = await self._client.post(self._access, "rerank", body, seconds=self._seconds)
        try:
            return _scores(document(answer, self._access), len(texts))
        except RequestRefused as refusal:
            raise ProviderError(
                f"Voyage refuses to rerank with {MODEL}: {refusal.why}"
            ) from refusal


def _cut(text: str, limit: int) -> str:
    return readable(text.strip()[:limit])


def _scores(answer: Any, count: int) -> Sequence[float]:
    """Return the scores in the order of the texts, each of which must have exactly one."""
    try:
        by_index = {row["index"]: float(row["relevance_score"]) for row in answer["data"]}
        scores = [by_index[index] for index in range(count)]
        complete = len(answer["data"]) == count and all(map(isfinite, scores))
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(count) from error
    if not complete:
        raise _unusable(count)
    return scores


def _unusable(count: int) -> InvalidAnswer:
    return InvalidAnswer(
        f"Voyage did not answer with one `data[].relevance_score` for each of {count} texts."
    )
