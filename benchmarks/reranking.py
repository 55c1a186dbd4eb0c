"""What a rerank is worth and what it takes, with the built-in model.

    python -m benchmarks.reranking [--rounds 5]

Quality: questions whose answers lie among turns that share their words, over a server's own route,
with and without `rerank`. Time: a rerank of 40 candidates of the length of turns, beside the same
texts through the bare model. Exit status 1 if a limit is passed.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.process import Server
from benchmarks.reranking_set import Labelled, read
from memory_server.providers.embedding.onnx_bge import BgeSmall
from memory_server.providers.reranking.local import LONGEST_QUERY, LONGEST_TEXT

TOP = 40
OVERHEAD = 1.5
"""How much longer a rerank may take than its texts through the bare model, the search left out."""
USER = "ana"
KINDS = read()
ALL = tuple(one for some in KINDS.values() for one in some)


@dataclass(frozen=True)
class Answered:
    """What one question brought: the rank of its answer, 0 if it is not there, and seconds."""

    rank: int
    rerank_seconds: float


def main() -> int:
    """Measure, print, and say whether every limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as directory,
        Server(Path(directory)) as server,
        httpx.Client(base_url=f"{server.url}/api/v1/memory", timeout=60) as client,
    ):
        bare = _bare(_told(client))
        plain = {one: _asked(client, one, rerank=False) for one in ALL}
        # One after the other, so that whatever else the machine does slows both.
        rounds_of = [
            {one: (_asked(client, one, rerank=True), next(bare)) for one in ALL}
            for _ in range(rounds)
        ]
    quality = _quality(plain, {one: answer for one, (answer, _) in rounds_of[0].items()})
    timed = [pair for some in rounds_of for pair in some.values()]
    return 0 if _time(timed) and quality else 1


def _told(client: httpx.Client) -> Sequence[str]:
    """Save every turn as a fact of one user, and return the texts."""
    texts = [text for one in ALL for text in (one.answer, *one.others)]
    for number, text in enumerate(texts):
        body = {"label": f"t{number}", "text": text, "user_id": USER}
        client.post("/semantic", json=body).raise_for_status()
    return texts


def _asked(client: httpx.Client, one: Labelled, *, rerank: bool) -> Answered:
    body = {
        "query": one.question,
        "user_id": USER,
        "sources": [{"source": "semantic", "mode": "hybrid", "top_k": TOP}],
        "rerank": rerank,
        "include_memories": True,
        "max_tokens": 100_000,
    }
    answer = client.post("/retrieval/context-from-sources", json=body).raise_for_status().json()
    found = [chunk["content"] for chunk in answer["selected_memories"]]
    strategy = answer["metadata"]["ranking_strategy"]
    if rerank and strategy != "local_rerank":
        raise SystemExit(f"nothing was reranked: {answer['metadata']['warnings']}")
    rank = found.index(one.answer) + 1 if one.answer in found else 0
    return Answered(rank, answer["metadata"]["timing"].get("rerank", 0.0))


def _bare(texts: Sequence[str]) -> Iterator[float]:
    """Yield for ever the seconds that the bare model takes for a question and 40 texts."""
    model = BgeSmall()
    model.load()
    for number in itertools.count():
        some = [texts[(number * 3 + place) % len(texts)] for place in range(TOP)]
        start = time.perf_counter()
        model.words(ALL[number % len(ALL)].question, limit=LONGEST_QUERY)
        for text in some:
            model.words(text, limit=LONGEST_TEXT)
        yield time.perf_counter() - start


def _quality(plain: Mapping[Labelled, Answered], reranked: Mapping[Labelled, Answered]) -> bool:
    """Print where the answers are, and return whether a rerank lowers none of the means."""
    print(f"{len(ALL)} questions over {sum(1 + len(one.others) for one in ALL)} turns")
    print(f"{'':<36}{'first':>8}{'top 3':>8}{'mrr':>8}")
    held = True
    for kind, some in KINDS.items():
        before, after = ([answers[one] for one in some] for answers in (plain, reranked))
        for what, answers in ((kind, before), (f"{kind}, reranked", after)):
            first, three = (_within(answers, place) for place in (1, 3))
            print(f"{what:<36}{first:8.1%}{three:8.1%}{_mean_reciprocal(answers):8.3f}")
        held = held and _mean_reciprocal(after) >= _mean_reciprocal(before)
    print(f"limit: no mrr below that without  {'ok' if held else 'OVER'}")
    return held


def _time(timed: Sequence[tuple[Answered, float]]) -> bool:
    """Print how long it takes, and return whether that is within the limit."""
    seconds, bare = [answer.rerank_seconds for answer, _ in timed], [bare for _, bare in timed]
    limit = median(bare) * OVERHEAD
    held = median(seconds) <= limit
    print(f"{'milliseconds':<36}{'p50':>8}{'p95':>8}{'limit':>8}")
    print(f"{'bare model, 40 texts':<36}{_row(bare)}")
    print(
        f"{'rerank of 40 candidates':<36}{_row(seconds)}{limit * 1e3:8.1f}  "
        f"{'ok' if held else 'OVER'}"
    )
    return held


def _within(answers: Sequence[Answered], place: int) -> float:
    return sum(0 < one.rank <= place for one in answers) / len(answers)


def _mean_reciprocal(answers: Sequence[Answered]) -> float:
    return sum(1 / one.rank for one in answers if one.rank) / len(answers)


def _row(seconds: Sequence[float]) -> str:
    return f"{median(seconds) * 1e3:8.1f}{quantiles(seconds, n=20)[-1] * 1e3:8.1f}"


if __name__ == "__main__":
    sys.exit(main())
