"""Decisions on one snapshot's candidates, carried out on paper before anything is stored.

Later candidates of a snapshot meet the outcome of the earlier ones, so that two statements
on the same matter in one conversation end as they would in two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Change, Outcome, Provenance
from memory_server.domain.embedding import Vector
from memory_server.domain.identity import identity_of
from memory_server.domain.memory import (
    Body,
    Episode,
    Evidence,
    Fact,
    Memory,
    Procedure,
)
from memory_server.domain.reconciliation import Action, Decision, Neighbour, says_the_same
from memory_server.domain.scope import Visibility
from memory_server.domain.withdrawal import without

_KNOWN_ALREADY = Decision(action=Action.SKIP, reason="known from these turns already")


@dataclass(slots=True, kw_only=True)
class Workbench:
    """Collects the changes of one snapshot."""

    provenance: Provenance
    now: datetime
    new_id: Callable[[], str]
    changes: list[Change] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    _current: dict[str, Memory] = field(default_factory=dict)
    _former: dict[str, dict[str, Memory]] = field(default_factory=dict)
    """Former versions that these changes made or cut, by the memory they are of."""
    _vectors: dict[str, Vector] = field(default_factory=dict)
    _withdrawn: list[tuple[Candidate, Memory]] = field(default_factory=list)
    """What the user took back, and by which words."""

    @property
    def withdrawn(self) -> Sequence[Memory]:
        """The facts that the user took back."""
        return [memory for _, memory in self._withdrawn]

    def overlay(
        self, candidate: Candidate, vector: Vector | None, stored: Sequence[Neighbour]
    ) -> Sequence[Neighbour]:
        """Return the neighbours as they are after the changes so far, the nearest first."""
        known = {n.memory.id: n for n in stored}
        for memory in self._current.values():
            if memory.type is candidate.type:
                near = known[memory.id].similarity if memory.id in known else 0.0
                own = self._vectors.get(memory.id)
                if vector is not None and own is not None:
                    near = float(vector @ own)
                known[memory.id] = Neighbour(memory, near)
        live = (n for n in known.values() if n.memory.is_live)
        return sorted(live, key=lambda n: (-n.similarity, n.memory.id))

    def identity(self, candidate: Candidate) -> str:
        """Return what makes the candidate the same as a live memory of its owner."""
        return identity_of(candidate, snapshot_id=self.provenance.snapshot_id)

    def carry_out(
        self,
        candidate: Candidate,
        decision: Decision,
        vector: Vector | None,
        *,
        history: Sequence[Memory] = (),
    ) -> None:
        """Note the change that the decision asks for, and its outcome.

        `history` has the stored versions of the decision's target where the candidate is past.
        """
        memory: Memory | None = None
        evidence = self._evidence(candidate, decision)
        match decision.action:
            case Action.ADD if decision.is_past:
                memory, decision = self._past(candidate, decision, vector, history)
            case Action.ADD:
                memory = self._added(candidate, evidence, vector)
            case Action.UPDATE:
                memory = self._updated(candidate, _target(decision), evidence, vector)
            case Action.REINFORCE:
                memory, decision = self._reinforced(candidate, decision, vector, history)
            case Action.RETRACT:
                memory = self._retracted(candidate, _target(decision), evidence)
            case Action.SKIP:
                self._bar(candidate, decision, evidence)
        previous = _shown(decision.target.body) if decision.target else None
        self.outcomes.append(
            Outcome(
                action=decision.action,
                type=candidate.type,
                text=_shown(candidate.body),
                reason=decision.reason,
                memory_id=memory.id if memory else None,
                previous=previous if decision.action is Action.UPDATE else None,
            )
        )
        for also in decision.also:
            self.carry_out(candidate, also, None)

    def withdraw_from(self, episodes: Sequence[Memory]) -> None:
        """Take what the user took back out of the episodes that tell it."""
        for memory in episodes:
            assert isinstance(memory.body, Episode), "facts are withdrawn from episodes"
            body = without(memory.body, self.withdrawn)
            if body is not memory.body:
                self._withdraw(memory, body)

    def _withdraw(self, memory: Memory, body: Episode | None) -> None:
        candidate, _ = self._withdrawn[0]
        reason = "tells what the user took back"
        action = Action.RETRACT if body is None else Action.UPDATE
        evidence = self._evidence(candidate, Decision(action=action, reason=reason))
        if body is None:
            self._retracted(candidate, memory, evidence)
        else:
            self._rewritten(memory, body, evidence)
        self.outcomes.append(
            Outcome(
                action=action,
                type=memory.type,
                text=_shown(body or memory.body),
                reason=reason,
                memory_id=memory.id,
                previous=_shown(memory.body) if body else None,
            )
        )

    def _rewritten(self, target: Memory, body: Body, evidence: Evidence) -> None:
        """Give a memory other words; it keeps what it rests on, and is embedded anew later."""
        memory = replace(
            target,
            body=body,
            evidence=(*target.evidence, evidence),
            version=target.version + 1,
            revision=target.revision + 1,
            supersedes=(former_id := self.new_id()),
            updated_at=self.now,
            valid_from=max(evidence.event_time or self.now, target.valid_from),
            has_embedding=False,
        )
        self._note(Change(memory=memory, is_new=False, former_id=former_id))

    def _added(self, candidate: Candidate, evidence: Evidence, vector: Vector | None) -> Memory:
        memory = self._made_of(candidate, evidence, vector)
        self._note(Change(memory=memory, is_new=True, vector=vector))
        return memory

    def _past(
        self,
        candidate: Candidate,
        decision: Decision,
        vector: Vector | None,
        history: Sequence[Memory],
    ) -> tuple[Memory, Decision]:
        """Fit what was said before into the history of what is known."""
        rival = _target(decision)
        memory = self._made_of(candidate, self._evidence(candidate, decision), vector)
        begin = memory.valid_from
        versions = {one.id: one for one in history} | self._former.get(rival.id, {})
        held = next((one for one in versions.values() if _held_at(one, begin)), None)
        if held is not None and says_the_same(candidate, held):
            return self._held_again(candidate, held, rival)
        later = (one.valid_from for one in (*versions.values(), rival) if one.valid_from > begin)
        until = (held.valid_to if held else None) or min(later, default=rival.valid_from)
        if held is not None:
            self._cut(held, begin, rival)
        memory = replace(
            memory,
            is_latest=False,
            identity_key=None,
            superseded_by=rival.id,
            valid_to=max(until, begin),
        )
        self._note_former(
            rival, Change(memory=memory, is_new=True, history_of=rival.id, vector=vector)
        )
        return memory, decision

    def _held_again(
        self, candidate: Candidate, held: Memory, rival: Memory
    ) -> tuple[Memory, Decision]:
        """Count what was said before for the former version that held then and says the same."""
        reason = "says what held at that time"
        decision = Decision(action=Action.REINFORCE, target=held, reason=reason)
        evidence = self._evidence(candidate, decision)
        if any(_same_source(evidence, known) for known in held.evidence):
            return held, _KNOWN_ALREADY
        memory = replace(
            held,
            evidence=(*held.evidence, evidence),
            reinforcement_count=held.reinforcement_count + 1,
            revision=held.revision + 1,
            updated_at=self.now,
        )
        self._note_former(rival, Change(memory=memory, is_new=False))
        return memory, decision

    def _cut(self, held: Memory, end: datetime, rival: Memory) -> None:
        """Let a former version end earlier than was known."""
        cut = replace(held, valid_to=end, revision=held.revision + 1)
        self._note_former(rival, Change(memory=cut, is_new=False))

    def _made_of(self, candidate: Candidate, evidence: Evidence, vector: Vector | None) -> Memory:
        is_episode = isinstance(candidate.body, Episode)
        return Memory(
            id=self.new_id(),
            project_id=self.provenance.project_id,
            user_id=self.provenance.user_id,
            agent_id=self.provenance.agent_id,
            session_id=self.provenance.session_id if is_episode else None,
            visibility=Visibility.PRIVATE,
            body=candidate.body,
            claim=candidate.claim,
            identity_key=self.identity(candidate),
            event_time=candidate.event_time,
            evidence=(evidence,),
            created_at=self.now,
            updated_at=self.now,
            valid_from=self._valid_from(candidate),
            has_embedding=vector is not None,
        )

    def _updated(
        self, candidate: Candidate, target: Memory, evidence: Evidence, vector: Vector | None
    ) -> Memory:
        former_id = self.new_id()
        memory = replace(
            target,
            body=_merged(target.body, candidate.body),
            claim=candidate.claim or target.claim,
            identity_key=self.identity(candidate),
            event_time=candidate.event_time,
            evidence=(evidence,),
            reinforcement_count=0,
            version=target.version + 1,
            revision=target.revision + 1,
            supersedes=former_id,
            updated_at=self.now,
            valid_from=max(self._valid_from(candidate), target.valid_from),
            has_embedding=vector is not None,
        )
        self._note(Change(memory=memory, is_new=False, former_id=former_id, vector=vector))
        self._former.setdefault(target.id, {})[former_id] = replace(
            target,
            id=former_id,
            is_latest=False,
            superseded_by=memory.id,
            valid_to=memory.valid_from,
        )
        return memory

    def _reinforced(
        self,
        candidate: Candidate,
        decision: Decision,
        vector: Vector | None,
        history: Sequence[Memory],
    ) -> tuple[Memory, Decision]:
        target = _target(decision)
        evidence = self._evidence(candidate, decision)
        if any(_same_source(evidence, known) for known in target.evidence):
            return target, _KNOWN_ALREADY
        learns_claim = target.claim is None and candidate.claim is not None
        memory = replace(
            target,
            claim=candidate.claim if learns_claim else target.claim,
            identity_key=self.identity(candidate) if learns_claim else target.identity_key,
            evidence=(*target.evidence, evidence),
            reinforcement_count=target.reinforcement_count + 1,
            revision=target.revision + 1,
            updated_at=self.now,
            valid_from=self._known_since(candidate, target, history),
            has_embedding=target.has_embedding or vector is not None,
        )
        missing = None if target.has_embedding else vector
        self._note(Change(memory=memory, is_new=False, vector=missing))
        return memory, decision

    def _known_since(
        self, candidate: Candidate, target: Memory, history: Sequence[Memory]
    ) -> datetime:
        """Return from when the target holds: earlier, if it was said before and nothing between."""
        begin = self._valid_from(candidate)
        if begin >= target.valid_from or not isinstance(target.body, Fact):
            return target.valid_from
        versions = {one.id: one for one in history} | self._former.get(target.id, {})
        others = [one for one in versions.values() if one.id != target.id]
        if any(one.valid_from >= begin for one in others):
            return target.valid_from
        held = next((one for one in others if _held_at(one, begin)), None)
        if held is not None:
            self._cut(held, begin, target)
        return begin

    def _bar(self, candidate: Candidate, decision: Decision, evidence: Evidence) -> None:
        """Keep that something was taken back before it was known: a memory that never held."""
        if not decision.bars:
            return
        ended = self._made_of(candidate, evidence, None)
        moment = evidence.event_time or self.now
        ended = replace(ended, is_latest=False, valid_from=moment, valid_to=moment)
        self.changes.append(Change(memory=ended, is_new=True))

    def _retracted(self, candidate: Candidate, target: Memory, evidence: Evidence) -> Memory:
        memory = replace(
            target,
            is_latest=False,
            valid_to=max(evidence.event_time or self.now, target.valid_from),
            evidence=(*target.evidence, evidence),
            revision=target.revision + 1,
            updated_at=self.now,
        )
        self._note(Change(memory=memory, is_new=False))
        if candidate.retracts:
            self._withdrawn.append((candidate, memory))
        return memory

    def _note(self, change: Change) -> None:
        self.changes.append(change)
        self._current[change.memory.id] = change.memory
        if change.vector is not None:
            self._vectors[change.memory.id] = change.vector

    def _note_former(self, memory: Memory, change: Change) -> None:
        self.changes.append(change)
        self._former.setdefault(memory.id, {})[change.memory.id] = change.memory

    def _evidence(self, candidate: Candidate, decision: Decision) -> Evidence:
        return Evidence(
            snapshot_id=self.provenance.snapshot_id,
            session_id=self.provenance.session_id,
            turn_ids=tuple(candidate.turn_ids),
            extractor=self.provenance.extractor,
            learned_at=self.now,
            event_time=self.provenance.said_at(candidate),
            action=decision.action.value,
            reason="; ".join(filter(None, (decision.reason, self.provenance.approval))),
            speakers=tuple(candidate.speakers),
        )

    def _valid_from(self, candidate: Candidate) -> datetime:
        """Return from when it holds: a past event's own time, else when it was said."""
        said_at = self.provenance.said_at(candidate)
        event = candidate.event_time
        return min(event.start, said_at) if event else said_at


def _shown(body: Body) -> str:
    """Return one line by which an operator knows a memory."""
    return body.key if isinstance(body, Episode | Procedure) else body.chunk_text


def _target(decision: Decision) -> Memory:
    assert decision.target is not None, "update, reinforce and retract name their memory"
    return decision.target


def _held_at(memory: Memory, moment: datetime) -> bool:
    """Whether a former version held at that moment."""
    if memory.is_latest or memory.valid_to is None:
        return False
    return memory.valid_from <= moment < memory.valid_to


def _merged(known: Body, new: Body) -> Body:
    """Return the new body with what only the known one tells; a fact keeps its name."""
    if isinstance(known, Fact) and isinstance(new, Fact):
        return replace(new, label=known.label, source=known.source)
    if not isinstance(known, Procedure) or not isinstance(new, Procedure):
        return new
    kept = {
        field.name: getattr(known, field.name)
        for field in fields(Procedure)
        if not getattr(new, field.name)
    }
    return replace(new, **kept)


def _same_source(one: Evidence, other: Evidence) -> bool:
    return (one.snapshot_id, tuple(one.turn_ids)) == (other.snapshot_id, tuple(other.turn_ids))
