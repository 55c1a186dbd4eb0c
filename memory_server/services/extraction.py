"""From a snapshot to memories: extract once, then reconcile until it is stored."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory_server.domain.candidate import Candidate, Conversation, Extraction, Rejected
from memory_server.domain.characters import whole
from memory_server.domain.job import Job, failed_attempt, usage_before
from memory_server.domain.memory import Claim, MemoryType
from memory_server.domain.secrets import Secrets, is_only_secret, without_secrets
from memory_server.domain.wording import normalised
from memory_server.errors import ProviderError, SnapshotNotFound
from memory_server.ports.extractor import Extractor
from memory_server.ports.jobs import Jobs
from memory_server.ports.store import Store
from memory_server.services.proposals import Proposing
from memory_server.services.reconciliation import Reconciliation

logger = logging.getLogger(__name__)

TURNS_ARE_GONE = "turns are gone"
MOST_CANDIDATES = 200
"""Of one snapshot and type; a conversation of ordinary length tells far less."""
MOST_REJECTED = 100
"""Rejected items that are shown one by one."""
MOST_RAW = 2000
"""Characters shown of a rejected item."""

_WORDS = ("body", "claim", "corrects", "raw")
"""Where a candidate or a rejected item tells something in words."""

_EXTRACTION: TypeAdapter[Extraction] = TypeAdapter(Extraction)


class ExtractionOfSnapshots:
    """Works off extraction jobs.

    No extractor sees a secret that a turn tells, and none is kept of what it proposes.
    """

    def __init__(
        self,
        *,
        store: Store,
        extractor: Extractor,
        reconciliation: Reconciliation,
        proposing: Proposing | None = None,
    ) -> None:
        """Join it; with `proposing`, what is extracted waits until somebody decides."""
        self._store = store
        self._jobs: Jobs = store.jobs
        self._extractor = extractor
        self._bring = reconciliation.reconcile if proposing is None else proposing.propose

    async def work_off(self, job: Job) -> None:
        """Extract, keep the answer with the job, reconcile or propose, and settle the job.

        A job whose turns were erased meanwhile has nothing to do, and is done.

        Running it again, after a crash at any point, has the same effect once: the answer is
        kept before it is applied, and applying it settles the job in the same transaction.
        """
        conversation = await self._conversation(job)
        if conversation is None:
            settling = replace(job, result={"outcome": TURNS_ARE_GONE})
            await self._store.memories.apply(job.project_id, [], settling=settling)
            return
        extraction, extractor = await self._extract(conversation, job)
        await self._bring(
            conversation,
            [_canonical(candidate, conversation) for candidate in extraction.candidates],
            extractor=extractor,
            settling=replace(job, result=_summary(extraction, extractor, job)),
        )

    async def _conversation(self, job: Job) -> Conversation | None:
        """Return the job's snapshot with its turns, None if they were erased meanwhile."""
        try:
            snapshot = await self._store.snapshots.get(job.project_id, job.payload["snapshot_id"])
        except SnapshotNotFound:
            return None
        turns = await self._store.turns.run(
            job.project_id,
            snapshot.session_id,
            first_seq=snapshot.first_seq,
            last_seq=snapshot.last_seq,
        )
        return Conversation(snapshot=snapshot, turns=turns) if turns else None

    async def _extract(self, conversation: Conversation, job: Job) -> tuple[Extraction, str]:
        kept = _kept(job.progress)
        if kept is not None:
            return kept
        kind = MemoryType(job.payload["type"])
        turns, secrets = await asyncio.to_thread(without_secrets, conversation.turns)
        try:
            answer = await self._extractor.extract(replace(conversation, turns=turns), kind)
        except ProviderError as error:
            await self._jobs.save_progress(job, failed_attempt(job, error.details))
            raise
        document = _document(_bounded(answer), secrets)
        name = self._extractor.version(kind)
        answered = {"extractor": name, "extraction": document}
        await self._jobs.save_progress(job, {**job.progress, **answered})
        extraction = _EXTRACTION.validate_python(document)
        for rejected in extraction.rejected:
            logger.warning("job %s: an item was rejected: %s", job.id, rejected.reason)
        return extraction, name


def _kept(progress: Mapping[str, Any]) -> tuple[Extraction, str] | None:
    """Return an earlier attempt's answer; one of another program version is asked for anew."""
    if "extraction" not in progress:
        return None
    try:
        return _EXTRACTION.validate_python(progress["extraction"]), progress["extractor"]
    except ValidationError:
        logger.warning("the kept answer of a job cannot be read and is asked for anew")
        return None


def _bounded(extraction: Extraction) -> Extraction:
    """Keep the first candidates and show the others as rejected, of these too only so many."""
    beyond = [
        Rejected(
            reason=f"beyond the {MOST_CANDIDATES} items that one conversation may give",
            raw=candidate.body.chunk_text[:MOST_RAW],
        )
        for candidate in extraction.candidates[MOST_CANDIDATES:]
    ]
    rejected = [*extraction.rejected, *beyond]
    more = len(rejected) - MOST_REJECTED
    if more > 0:
        last = Rejected(reason=f"{more} more items were rejected and are not shown", raw="")
        rejected = [*rejected[:MOST_REJECTED], last]
    return replace(
        extraction,
        candidates=tuple(extraction.candidates[:MOST_CANDIDATES]),
        rejected=tuple(rejected),
    )


def _document(extraction: Extraction, secrets: Secrets) -> Any:
    """Return what an extractor answered as JSON that can be kept: no secret, no half character."""
    told = [one for one in extraction.candidates if not _tells_only_a_secret(one)]
    document = _EXTRACTION.dump_python(replace(extraction, candidates=tuple(told)), mode="json")
    for item in (*document["candidates"], *document["rejected"]):
        item.update({name: _hidden(item[name], secrets) for name in _WORDS if item.get(name)})
    text = json.dumps(document, ensure_ascii=False)
    return document if whole(text) == text else json.loads(whole(text))


def _tells_only_a_secret(candidate: Candidate) -> bool:
    return candidate.claim is not None and is_only_secret(candidate.claim.value)


def _hidden(value: Any, secrets: Secrets) -> Any:
    """Return words with secrets taken out, at whatever depth they stand; ids stay."""
    match value:
        case str():
            return secrets.hidden(value)
        case list():
            return [_hidden(item, secrets) for item in value]
        case dict():
            return {
                key: item if key.endswith(("_id", "type")) else _hidden(item, secrets)
                for key, item in value.items()
            }
    return value


def _canonical(candidate: Candidate, conversation: Conversation) -> Candidate:
    """Note who said it, and spell claims the one way by which they are looked up."""
    return replace(
        candidate,
        claim=_spelled(candidate.claim),
        corrects=_spelled(candidate.corrects),
        speakers=conversation.speakers(candidate.turn_ids),
    )


def _spelled(claim: Claim | None) -> Claim | None:
    if claim is None:
        return None
    return Claim(
        subject=normalised(claim.subject),
        attribute=normalised(claim.attribute),
        value=claim.value,
        exclusive=claim.exclusive,
    )


def _summary(extraction: Extraction, extractor: str, job: Job) -> Mapping[str, Any]:
    return {
        "extractor": extractor,
        "candidates": len(extraction.candidates),
        "rejected": [
            {"reason": rejected.reason, "raw": rejected.raw} for rejected in extraction.rejected
        ],
        **asdict(extraction.usage + usage_before(job)),
    }
