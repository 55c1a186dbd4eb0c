"""One case on a server: said session by session, and read back when everything is done."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from evaluation.digests import digest_of
from evaluation.extraction.labels import Case, SaidSession, SaidTurn
from evaluation.extraction.records import CaseRecord, StoredMemory
from evaluation.pipelines.evidence import LISTED, TYPES
from evaluation.pipelines.recording import patiently
from evaluation.pipelines.waiting import MOST_JOBS, work_off
from memory_server.client import JobDocument, MemoryServerClient, PastDocument

AS_OF_DEPTH = 50
"""Facts that a search as of a moment is asked for: more than a case has."""
_NO_ACTION = "SKIP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One case's user on one server."""

    client: MemoryServerClient
    case: Case
    configuration: str
    told: Callable[[str], None] = lambda _: None
    """Hears why work that failed waits to be tried again."""

    @property
    def digest(self) -> str:
        """Of what is said and when, and what is asked: the labels decide nothing of it."""
        return spoken_digest(self.case)

    @property
    def user_id(self) -> str:
        """An opaque name, the same each time."""
        return digest_of("user", self.configuration, self.digest)

    async def live(self) -> CaseRecord:
        """Say everything that was not said yet, see all work done, and read what came of it."""
        began = time.perf_counter()
        for number, session in enumerate(self.case.sessions):
            await self._say(digest_of(self.user_id, number), session)
            await work_off(self.client, self.user_id, {}, told=self.told)
        jobs = await self._jobs("done")
        failed = await self._jobs("failed")
        results = [job.get("result", {}) for job in jobs]
        return CaseRecord(
            configuration=self.configuration,
            case=self.case.id,
            digest=self.digest,
            memories=await self._memories(_decisions(jobs)),
            as_of=[
                await self._found(asked.at.isoformat(), asked.says) for asked in self.case.as_of
            ],
            failed=[f"{job['error_code']}: {job['error']}" for job in failed],
            extractors=sorted({one["extractor"] for one in results if "extractor" in one}),
            calls=sum(one.get("calls", 0) for one in results),
            tokens=sum(one.get("input_tokens", 0) + one.get("output_tokens", 0) for one in results),
            seconds=round(time.perf_counter() - began, 3),
        )

    async def _say(self, session_id: str, session: SaidSession) -> None:
        for number, turn in enumerate(session.turns, start=1):
            await patiently(
                lambda number=number, turn=turn: self.client.record_turn(  # type: ignore[misc]
                    session_id=session_id,
                    user_id=self.user_id,
                    role=turn.role,
                    content=turn.text,
                    idempotency_key=str(number),
                    metadata=_metadata(session, turn) or None,
                    tool_call_id=f"call {number}" if turn.role == "tool" else None,
                )
            )

    async def _jobs(self, state: str) -> Sequence[JobDocument]:
        """Return the user's jobs, in the order in which they ended."""
        listed = await self.client.jobs(user_id=self.user_id, state=state, limit=MOST_JOBS)
        return sorted(listed["jobs"], key=lambda job: str(job.get("finished_at")))

    async def _memories(self, actions: Mapping[str, Sequence[str]]) -> Sequence[StoredMemory]:
        """Return live memories, then those that were taken back."""
        live = [
            memory
            for kind in TYPES
            for memory in await self.client.memories(user_id=self.user_id, type=kind)
        ]
        assert len(live) < LISTED, "a case is a short life"
        ids = dict.fromkeys(chain((memory["id"] for memory in live), actions))
        stored = []
        for memory_id in ids:
            versions = await self.client.history(memory_id)
            current = versions[-1]
            is_own = current["id"] == memory_id
            if is_own and (current["is_latest"] or current["superseded_by"] is None):
                stored.append(_stored(versions, actions.get(memory_id, ())))
        return stored

    async def _found(self, at: str, words: Sequence[str | Sequence[str]]) -> Sequence[str]:
        query = " ".join(one if isinstance(one, str) else one[0] for one in words)
        found = await self.client.search(
            query, type="semantic", user_id=self.user_id, top_k=AS_OF_DEPTH, as_of=at
        )
        return [memory["content"] for memory in found]


def spoken_digest(case: Case) -> str:
    """Return a digest of what decides what a case leaves: all but its labels."""
    document = case.model_dump(mode="json", include={"id", "sessions"})
    return digest_of(document, [asked.model_dump(mode="json") for asked in case.as_of])


def _metadata(session: SaidSession, turn: SaidTurn) -> dict[str, Any]:
    """Return what is recorded beside the text: who spoke, and when."""
    metadata: dict[str, Any] = {}
    moment = turn.date or session.date
    if moment is not None:
        metadata["timestamp"] = moment.isoformat()
    if turn.name is not None:
        metadata["speaker"] = turn.name
    return metadata


def _decisions(jobs: Sequence[JobDocument]) -> Mapping[str, Sequence[str]]:
    """Return what was decided on each memory, in order."""
    actions: dict[str, list[str]] = {}
    for decision in _each_decision(jobs):
        if decision["memory_id"] is not None and decision["action"] != _NO_ACTION:
            actions.setdefault(decision["memory_id"], []).append(decision["action"])
    return actions


def _each_decision(jobs: Sequence[JobDocument]) -> Iterator[Mapping[str, Any]]:
    for job in jobs:
        yield from job.get("result", {}).get("decisions", ())


def _stored(versions: Sequence[PastDocument], actions: Sequence[str]) -> StoredMemory:
    current = versions[-1]
    event = current["event_time"]
    return StoredMemory(
        id=current["id"],
        type=current["type"],
        text=_text(current),
        is_live=current["is_latest"],
        former=[_text(version) for version in versions[:-1]],
        actions=actions,
        start=datetime.fromisoformat(event["start"]) if event else None,
        end=datetime.fromisoformat(event["end"]) if event else None,
    )


def _text(version: PastDocument) -> str:
    """Return all that a version tells in words, its name included where it is no fact."""
    match version["type"]:
        case "semantic":
            return version["text"]
        case "episodic":
            return f"{version['title']}\n{version['content']}"
        case "taxonomic":
            return f"{version['domain']}/{version['term']}: {version['definition']}"
        case _:
            return f"{version['procedure']}\n{version['content']}"
