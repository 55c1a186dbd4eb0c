"""What the local embedding models cost, and where their cosines lie.

    python benchmarks/embedding.py [MODEL ...]

Each model is measured in a process of its own. "bare" is the same tokeniser and the same
inference, called directly on the main thread in the same run: the difference to "port" is the
price of the event loop, the thread and the queue. No limit is asserted; compare within a run.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import psutil

from memory_server.domain.embedding import Embedded, Purpose
from memory_server.errors import ProviderMissing
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.embedding.factory import LOCAL_MODELS
from memory_server.providers.embedding.local import LocalEmbedder

QUERIES = 100
TEXTS = 128
COLUMNS = (
    "model",
    "load s",
    "RSS MB",
    "peak MB",
    "query port p50/p95 ms",
    "query bare p50/p95 ms",
    "query in a batch p50/p95 ms",
    "texts/s port",
    "texts/s bare",
    "unrelated",
    "related",
    "paraphrase",
    "one fact changed",
)

FACTS = (
    ("My sister Nadia moved to Porto last spring.",
     "Nadia, my sister, relocated to Porto in spring.",
     "My sister Nadia moved to Lisbon last spring.",
     "Where does Nadia live?"),
    ("I am allergic to peanuts and shellfish.",
     "Peanuts and shellfish give me allergic reactions.",
     "I am allergic to pollen and cats.",
     "What am I allergic to?"),
    ("The user prefers answers in short bullet points.",
     "The user likes to get replies as brief bullet lists.",
     "The user prefers answers in long flowing prose.",
     "How does the user like answers?"),
    ("We deploy the billing service every Thursday evening.",
     "The billing service gets deployed on Thursday evenings.",
     "We deploy the billing service every Tuesday evening.",
     "When is billing deployed?"),
    ("Tom started a new job as a nurse in Leeds.",
     "Tom now works as a nurse in Leeds.",
     "Tom started a new job as a cook in Leeds.",
     "What does Tom do for a living?"),
    ("My daughter plays the cello in the school orchestra.",
     "My daughter is a cellist in her school's orchestra.",
     "My daughter plays the oboe in the school orchestra.",
     "Which instrument does my daughter play?"),
    ("The database password was rotated on Monday.",
     "On Monday they changed the database password.",
     "The database password was not rotated on Monday.",
     "When was the database password changed?"),
    ("I stopped drinking coffee because of my blood pressure.",
     "Due to my blood pressure I no longer drink coffee.",
     "I started drinking coffee because of my blood pressure.",
     "Why did I give up coffee?"),
    ("Our trip to Japan is planned for October.",
     "We are planning to travel to Japan in October.",
     "Our trip to Peru is planned for October.",
     "When do we travel to Japan?"),
    ("He adopted a grey cat called Misty from a shelter.",
     "He got a gray cat named Misty from an animal shelter.",
     "He adopted a grey dog called Misty from a shelter.",
     "What is the name of his cat?"),
    ("The team decided to use PostgreSQL for the new project.",
     "For the new project, the team chose PostgreSQL.",
     "The team decided to use MongoDB for the new project.",
     "Which database did the team choose?"),
    ("She runs ten kilometres every Sunday morning.",
     "Every Sunday morning she goes for a 10 km run.",
     "She runs five kilometres every Sunday morning.",
     "How far does she run on Sundays?"),
    ("Their flat has two bedrooms and a small balcony.",
     "They live in a two-bedroom apartment with a little balcony.",
     "Their flat has one bedroom and a large garden.",
     "How many bedrooms does their flat have?"),
    ("I finished reading the novel about the lighthouse keeper.",
     "I have read the lighthouse keeper novel to the end.",
     "I gave up reading the novel about the lighthouse keeper.",
     "Which book did I finish?"),
    ("The invoice from the printer was paid twice by mistake.",
     "By mistake the printer's invoice got paid two times.",
     "The invoice from the plumber was paid twice by mistake.",
     "Which invoice was paid twice?"),
    ("My brother is getting married in a vineyard in June.",
     "My brother's wedding will take place in June at a vineyard.",
     "My brother is getting married in a castle in June.",
     "Where is my brother's wedding?"),
    ("The staging server runs out of memory at night.",
     "At night the staging server has no memory left.",
     "The staging server runs out of disk at night.",
     "What is wrong with the staging server?"),
    ("Please never call me before nine in the morning.",
     "Do not phone me earlier than 9 a.m., please.",
     "Please never call me after nine in the evening.",
     "When may I be called?"),
    ("Grandma taught me how to bake sourdough bread.",
     "I learned to bake sourdough bread from my grandmother.",
     "Grandma taught me how to knit woollen socks.",
     "Who taught me to bake bread?"),
    ("The gym membership costs forty euros a month.",
     "I pay 40 euros monthly for the gym.",
     "The gym membership costs sixty euros a month.",
     "How much is the gym?"),
)  # fmt: skip
"""A sentence, a paraphrase of it, the sentence with its fact changed, and a question."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["hashing", *LOCAL_MODELS])
    parser.add_argument("--one", action="store_true", help="print one model's figures as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(asyncio.run(measure(given.models[0]))))
        return
    print(" | ".join(COLUMNS))
    for name in given.models:
        print(" | ".join(map(str, in_a_process_of_its_own(name))), flush=True)


def in_a_process_of_its_own(name: str) -> Sequence[Any]:
    command = [sys.executable, __file__, "--one", name]
    # The bare computation runs on the main thread, which no model has told to stay alone.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 — this very file
        command, capture_output=True, text=True, check=False, env=environment
    )
    row: Sequence[Any] = json.loads(done.stdout) if done.returncode == 0 else (name, done.stderr)
    return row


async def measure(name: str) -> Sequence[Any]:
    embedder, bare = prepared(name)
    started = time.perf_counter()
    try:
        await embedder.check()
    except ProviderMissing as missing:
        return (name, str(missing))
    load = time.perf_counter() - started
    rss = psutil.Process().memory_info().rss
    port_ms, bare_ms = await query_times(embedder, bare)
    busy_ms = await query_times_in_a_batch(embedder)
    port_rate, bare_rate = await rates(embedder, bare)
    peak = peak_bytes()
    cosines = await typical_cosines(embedder)
    await embedder.close()
    return (
        name,
        f"{load:.2f}",
        f"{rss / 1e6:.0f}",
        f"{peak / 1e6:.0f}",
        quantiles(port_ms),
        quantiles(bare_ms),
        quantiles(busy_ms),
        f"{port_rate:.0f}",
        f"{bare_rate:.0f}",
        *(f"{cosine:.2f}" for cosine in cosines),
    )


def prepared(name: str) -> tuple[Embedder, Callable[[str, Purpose], object]]:
    """Return an embedder, and the same computation without it."""
    if name == "hashing":
        hashing = HashingEmbedder()
        return hashing, lambda text, purpose: hashing._outcome(text)
    model = LOCAL_MODELS[name]()

    def bare(text: str, purpose: Purpose) -> object:
        return [model.numbers(piece, purpose) for piece in model.pieces(text)]

    return LocalEmbedder(model), bare


async def query_times(
    embedder: Embedder, bare: Callable[[str, Purpose], object]
) -> tuple[list[float], list[float]]:
    """Take turns, so that both meet the same neighbours on the machine."""
    port_ms, bare_ms = [], []
    for number in range(QUERIES + 10):
        query = f"{FACTS[number % len(FACTS)][3]} And {number}?"
        started = time.perf_counter()
        await embedder.embed([query], purpose=Purpose.QUERY)
        between = time.perf_counter()
        bare(query, Purpose.QUERY)
        port_ms.append((between - started) * 1e3)
        bare_ms.append((time.perf_counter() - between) * 1e3)
    return port_ms[10:], bare_ms[10:]


async def query_times_in_a_batch(embedder: Embedder) -> list[float]:
    """Time queries while a batch of documents is being embedded without end."""
    batch = asyncio.ensure_future(endless(embedder))
    times = []
    for number in range(QUERIES // 2):
        await asyncio.sleep(0.005)
        started = time.perf_counter()
        await embedder.embed([f"{FACTS[number % 20][3]}"], purpose=Purpose.QUERY)
        times.append((time.perf_counter() - started) * 1e3)
    batch.cancel()
    return times


async def endless(embedder: Embedder) -> None:
    while True:
        await embedder.embed(list(documents()), purpose=Purpose.DOCUMENT)
        await asyncio.sleep(0)


async def rates(embedder: Embedder, bare: Callable[[str, Purpose], object]) -> tuple[float, float]:
    """Take turns with batches of 32, so that both meet the same neighbours on the machine."""
    texts = list(documents())
    port = direct = 0.0
    for start in range(0, len(texts), 32):
        some = texts[start : start + 32]
        started = time.perf_counter()
        await embedder.embed(some, purpose=Purpose.DOCUMENT)
        between = time.perf_counter()
        for text in some:
            bare(text, Purpose.DOCUMENT)
        port += between - started
        direct += time.perf_counter() - between
    return len(texts) / port, len(texts) / direct


def documents() -> Iterator[str]:
    """Yield turns of about twenty words."""
    for number in range(TEXTS):
        first, second = FACTS[number % 20][0], FACTS[(number * 7 + 3) % 20][1]
        yield f"Speaker {number}: {first} {second}"


async def typical_cosines(embedder: Embedder) -> Sequence[float]:
    """Return medians: question to unrelated fact, question to its fact, and of facts the same."""
    *statements, asked_for = zip(*FACTS, strict=True)
    facts, paraphrases, changed = [
        stacked(await embedder.embed(column, purpose=Purpose.DOCUMENT)) for column in statements
    ]
    questions = stacked(await embedder.embed(asked_for, purpose=Purpose.QUERY))
    asked = questions @ facts.T
    unrelated = asked[~np.eye(len(FACTS), dtype=bool)]
    return [
        float(np.median(cosines))
        for cosines in (
            unrelated,
            np.diag(asked),
            np.sum(facts * paraphrases, axis=1),
            np.sum(facts * changed, axis=1),
        )
    ]


def stacked(answer: Embedded) -> Any:
    assert not any(answer.reasons)
    return np.stack([vector for vector in answer.vectors if vector is not None])


def quantiles(times: Sequence[float]) -> str:
    p50, p95 = np.percentile(times, [50, 95])
    return f"{p50:.2f} / {p95:.2f}"


def peak_bytes() -> int:
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


if __name__ == "__main__":
    main()
