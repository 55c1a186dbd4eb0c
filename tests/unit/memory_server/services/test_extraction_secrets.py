"""What becomes of secrets that a conversation tells."""

from datetime import timedelta

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.job import JobKind
from memory_server.domain.memory import MemoryType
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.promotion import Promotion
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.turns import TurnRecording
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, ScriptedExtractor, a_fact, a_turn


async def _work_off(
    store: Store,
    recording: TurnRecording,
    extractor: ScriptedExtractor,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> None:
    reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
    extraction = ExtractionOfSnapshots(
        store=store, extractor=extractor, reconciliation=reconciliation
    )
    promotion = Promotion(
        store=store,
        embedder=embedder,
        clock=clock,
        ids=ids,
        policy=PromotionPolicy(max_messages=20, stale_after=timedelta(minutes=3)),
        enabled=(MemoryType.SEMANTIC,),
        on_queued=lambda: None,
    )
    await recording.record(ANA, a_turn("I live in Porto. The wifi key is bluefin22.", session="s"))
    await promotion.flush("p", session_id="s")
    await Runner(
        jobs=store.jobs,
        handlers={JobKind.EXTRACT: extraction.work_off},
        clock=clock,
        worker="w",
        retry=RetryPolicy(),
    ).run_until_idle()


async def test_secret_reaches_no_extractor_no_memory_and_no_job_and_stays_in_its_turn(
    store: Store,
    recording: TurnRecording,
    extractor: ScriptedExtractor,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> None:
    shown: list[str] = []

    def script(conversation: Conversation, _: MemoryType) -> list[Candidate]:
        shown.extend(turn.content for turn in conversation.turns)
        return [
            a_fact("The user lives in Porto with bluefin22.", conversation),
            a_fact("The key is it.", conversation, claim=("wifi_key", "[secret]")),
        ]

    extractor.script = script
    await _work_off(store, recording, extractor, embedder, clock, ids)

    found = await store.memories.find(ANA, MemoryQuery(type=MemoryType.SEMANTIC))
    (job,) = await store.jobs.list("p", limit=1)
    (turn,) = await store.turns.run("p", "s", first_seq=1, last_seq=1)
    assert shown == ["I live in Porto. The wifi key is [secret]."]
    assert [memory.body.chunk_text for memory in found] == [
        "The user lives in Porto with [secret]."
    ]
    assert "bluefin22" not in f"{job}"
    assert turn.content.endswith("bluefin22.")
