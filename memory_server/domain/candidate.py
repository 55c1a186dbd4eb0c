"""What an extractor proposes to remember."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.memory import Claim, EventTime, ExtractedBody, MemoryType
from memory_server.domain.snapshot import Snapshot
from memory_server.domain.spending import Usage
from memory_server.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One proposed memory, with the turns it rests on."""

    body: ExtractedBody
    turn_ids: Sequence[str]
    claim: Claim | None = None
    event_time: EventTime | None = None
    confidence: float = 1.0
    """0 to 1, the extractor's own estimate."""
    retracts: bool = False
    """Whether it says that a known memory holds no longer and nothing takes its place."""
    corrects: Claim | None = None
    """The claim that it takes the place of, where the speaker corrects their own words."""
    is_remark: bool = False
    """Whether it only tells that something known is otherwise now, without naming it: it is
    remembered only as another value of what is known."""
    speakers: Sequence[str] = ()
    """Who said it: a name, else the role. Noted from its turns, whatever extracted it."""

    @property
    def type(self) -> MemoryType:
        """The kind of memory."""
        return self.body.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What an extractor reads: a snapshot and its turns in order."""

    snapshot: Snapshot
    turns: Sequence[Turn]

    def speakers(self, turn_ids: Sequence[str]) -> Sequence[str]:
        """Return who said these turns, each once: a name, else the role."""
        said = (turn.speaker for turn in self.turns if turn.id in turn_ids)
        return tuple(dict.fromkeys(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An item of the model's answer that could not be used, and why."""

    reason: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What came out of one conversation for one memory type."""

    candidates: Sequence[Candidate]
    rejected: Sequence[Rejected] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    @property
    def usage(self) -> Usage:
        """What it took of the model."""
        return Usage(
            calls=self.calls, input_tokens=self.input_tokens, output_tokens=self.output_tokens
        )
