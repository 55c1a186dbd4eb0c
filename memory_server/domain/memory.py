"""What is remembered for long: four built-in types, those a project declares, and exchange blocks.

A memory keeps its id for life. Each change of its content makes a new `version` under the
same id; the former version is kept under an id of its own with `superseded_by` and `valid_to`
set, so that history can be read and a search can be asked as of a past moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from memory_server.domain.custom_type import TagValue
from memory_server.domain.exchange import Said, Viewpoint
from memory_server.domain.precision import Precision, precision_of
from memory_server.domain.scope import Visibility


class MemoryType(StrEnum):
    """The kinds of long-term memory."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    TAXONOMIC = "taxonomic"
    PROCEDURAL = "procedural"
    CUSTOM = "custom"
    """A type that the project declares; its records say which."""
    BLOCK = "block"
    """Exchanges of a conversation, as they were said."""


BUILT_IN = (
    MemoryType.SEMANTIC,
    MemoryType.EPISODIC,
    MemoryType.TAXONOMIC,
    MemoryType.PROCEDURAL,
)
"""What is learned from conversations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A lasting statement."""

    type: ClassVar[MemoryType] = MemoryType.SEMANTIC
    label: str
    text: str
    source: str = "agent"

    @property
    def key(self) -> str:
        """The name it is saved and fetched by."""
        return self.label

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return self.text

    @property
    def index_text(self) -> str:
        """What search matches."""
        return f"{self.label.replace('_', ' ')}. {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Something that happened."""

    type: ClassVar[MemoryType] = MemoryType.EPISODIC
    title: str
    content: str
    summary_text: str = ""
    participants: Sequence[str] = ()
    tags: Sequence[str] = ()
    snapshot_ref_id: str | None = None
    summary_type: str | None = None
    source_agent: str | None = None
    extraction_source: str | None = None

    @property
    def key(self) -> str:
        """The name it is saved and fetched by."""
        return self.title

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return self.content

    @property
    def index_text(self) -> str:
        """What search matches."""
        return "\n".join(part for part in (self.title, self.summary_text, self.content) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of the user's domain and what it means there."""

    type: ClassVar[MemoryType] = MemoryType.TAXONOMIC
    domain: str
    term: str
    definition: str
    related_terms: Sequence[str] = ()
    query_expansion: bool = True

    @property
    def key(self) -> str:
        """The name it is saved and fetched by."""
        return f"{self.domain}/{self.term}"

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return f"{self.domain}/{self.term}: {self.definition}"

    @property
    def index_text(self) -> str:
        """What search matches."""
        return " ".join((self.chunk_text, *self.related_terms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """How something is done."""

    type: ClassVar[MemoryType] = MemoryType.PROCEDURAL
    procedure: str
    description: str
    content: str
    steps: Sequence[Mapping[str, Any]] = ()
    resources: Sequence[Any] = ()
    allowed_tools: Sequence[str] = ()
    compatibility: str | None = None
    license: str | None = None
    trigger_conditions: Sequence[str] = ()
    tags: Sequence[str] = ()
    extraction_source: str | None = None
    source_format: str | None = None
    source_path: str | None = None

    @property
    def key(self) -> str:
        """The name it is saved and fetched by."""
        return self.procedure

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return self.content

    @property
    def index_text(self) -> str:
        """What search matches."""
        return "\n".join(
            part
            for part in (
                self.procedure.replace("_", " "),
                self.description,
                self.content,
                " ".join(self.trigger_conditions),
                " ".join(self.tags),
            )
            if part
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An entry of a memory type that the project declares."""

    type: ClassVar[MemoryType] = MemoryType.CUSTOM
    custom_type: str
    """The declared type's name."""
    content: str
    tags: Mapping[str, TagValue] = field(default_factory=dict)
    """By dotted name, as `CustomType.checked` returns them."""

    @property
    def key(self) -> str:
        """The name it is fetched by: its type's, for records have none of their own."""
        return self.custom_type

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return self.content

    @property
    def index_text(self) -> str:
        """What search matches."""
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One exchange of a conversation, from the viewpoint of one who took part in it."""

    type: ClassVar[MemoryType] = MemoryType.BLOCK
    exchange_id: str
    """What the blocks of one exchange have in common."""
    viewpoint: Viewpoint
    speaker: str
    """The name of whom the block is bound to."""
    conversation_id: str
    position: int
    """The exchange's number among its user's of the conversation, from 1."""
    messages: Sequence[Said]
    """What was said, in order."""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """`time` in words, if it is known, `conversation_id`, and the caller's own."""
    context_required: bool = False
    """Whether summary and contexts are wanted."""
    extractor: str | None = None
    """Name and version of what made summary and contexts; None: nobody did, or not yet."""
    summary: str = ""
    contexts: Sequence[str] = ()
    """Facts in what the speaker said."""

    @property
    def key(self) -> str:
        """The name it is fetched by: its conversation's."""
        return self.conversation_id

    @property
    def message(self) -> str:
        """What was said, each time with who said it."""
        return "\n".join(f"{said.speaker}: {said.content}" for said in self.messages)

    @property
    def chunk_text(self) -> str:
        """What a reader is shown."""
        return self.message

    @property
    def index_text(self) -> str:
        """What search matches."""
        time = self.annotations.get("time")
        said = f"{time} {self.message}" if time else self.message
        return "\n".join(part for part in (said, self.summary, *self.contexts) if part)


ExtractedBody = Fact | Episode | Term | Procedure
"""What can be learned from conversations."""

Body = ExtractedBody | Record | Block

BODY_TYPES: Mapping[MemoryType, type[Body]] = {
    body.type: body for body in (Fact, Episode, Term, Procedure, Record, Block)
}


def embedded_text(body: Body) -> str:
    """Return what of a memory is embedded: what search matches, of a block what was said alone.

    What is read out of a block later leaves its vectors as they are.
    """
    return body.message if isinstance(body, Block) else body.index_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a memory says, in the form in which contradictions can be seen."""

    subject: str
    attribute: str
    value: str
    exclusive: bool = False
    """Whether the subject can have only one value of this attribute at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a memory comes from."""

    snapshot_id: str
    session_id: str
    turn_ids: Sequence[str]
    extractor: str
    """Name and version of what extracted it."""
    learned_at: datetime
    event_time: datetime | None = None
    action: str = ""
    """What became of the memory by it: ADD, UPDATE, REINFORCE, RETRACT; empty: not noted."""
    reason: str = ""
    """Why, in words."""
    speakers: Sequence[str] = ()
    """Who said it: a name, else the role; empty: not noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """When the thing remembered took place, which is not when it was written."""

    start: datetime
    end: datetime
    """Exclusive."""
    words: str
    """As it was said: "yesterday", "in 2022"."""

    @property
    def precision(self) -> Precision:
        """How exactly it is known."""
        return precision_of(self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory in one version."""

    id: str
    project_id: str
    user_id: str | None
    visibility: Visibility
    body: Body
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    """From when this version holds: its event time, else when it was learned."""
    valid_to: datetime | None = None
    """Until when this version held; None while it is the latest."""
    agent_id: str | None = None
    session_id: str | None = None
    identity_key: str | None = None
    """Unique among the live memories of one owner and type; None: copies may stand side by side."""
    claim: Claim | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    contextual_metadata: Mapping[str, Any] = field(default_factory=dict)
    event_time: EventTime | None = None
    evidence: Sequence[Evidence] = ()
    reinforcement_count: int = 0
    version: int = 1
    """Grows with each change of content."""
    revision: int = 1
    """Grows with each write; what optimistic updates check."""
    is_latest: bool = True
    supersedes: str | None = None
    superseded_by: str | None = None
    deleted: bool = False
    has_embedding: bool = False

    @property
    def type(self) -> MemoryType:
        """The kind of memory."""
        return self.body.type

    @property
    def type_name(self) -> str:
        """The type as people name it: of a record, the declared type."""
        return self.body.custom_type if isinstance(self.body, Record) else self.type.value

    @property
    def is_live(self) -> bool:
        """Whether ordinary reads see it."""
        return self.is_latest and not self.deleted
