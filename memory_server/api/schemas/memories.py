"""Long-term memories on the wire: bodies to save and change them, documents to read them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from memory_server.api.schemas.common import (
    Answer,
    Body,
    Flag,
    Id,
    JsonList,
    JsonObject,
    JsonObjects,
    Owned,
)
from memory_server.domain.memory import Episode, Fact, Memory, Procedure, Term
from memory_server.domain.reading import body_document, event_time_document
from memory_server.domain.scope import Visibility
from memory_server.services.memories import SaveRequest

Texts = tuple[str, ...]


class SemanticBody(Owned):
    """A fact. `upsert` replaces the owner's fact of the same label, under the same id."""

    label: str
    text: str
    source: str = "agent"
    session_id: Id | None = None
    upsert: Flag = False

    def request(self) -> SaveRequest:
        """Return what is to be saved."""
        body = Fact(label=self.label, text=self.text, source=self.source)
        return SaveRequest(
            body=body, visibility=self.visibility, metadata=self.metadata, upsert=self.upsert
        )


class EpisodicBody(Owned):
    """Something that happened."""

    title: str
    content: str
    summary_text: str = ""
    session_id: Id | None = None
    participants: Texts = ()
    tags: Texts = ()
    snapshot_ref_id: str | None = None
    summary_type: str | None = None
    source_agent: str | None = None
    extraction_source: str | None = None

    def request(self) -> SaveRequest:
        """Return what is to be saved."""
        body = Episode(
            title=self.title,
            content=self.content,
            summary_text=self.summary_text,
            participants=self.participants,
            tags=self.tags,
            snapshot_ref_id=self.snapshot_ref_id,
            summary_type=self.summary_type,
            source_agent=self.source_agent,
            extraction_source=self.extraction_source,
        )
        return SaveRequest(body=body, visibility=self.visibility, metadata=self.metadata)


class TaxonomicBody(Owned):
    """A term of a domain; saving the owner's term again replaces it."""

    domain: str
    term: str
    definition: str
    related_terms: Texts = ()
    query_expansion: Flag = True

    def request(self) -> SaveRequest:
        """Return what is to be saved."""
        body = Term(
            domain=self.domain,
            term=self.term,
            definition=self.definition,
            related_terms=self.related_terms,
            query_expansion=self.query_expansion,
        )
        return SaveRequest(body=body, visibility=self.visibility, metadata=self.metadata)


class ProceduralBody(Owned):
    """How something is done; always stored anew."""

    procedure: str
    description: str
    content: str
    steps: JsonObjects = ()
    resources: JsonList = ()
    allowed_tools: Texts = ()
    compatibility: str | None = None
    license: str | None = None
    trigger_conditions: Texts = ()
    tags: Texts = ()
    extraction_source: str | None = None
    source_format: str | None = None
    source_path: str | None = None

    def request(self) -> SaveRequest:
        """Return what is to be saved."""
        body = Procedure(
            procedure=self.procedure,
            description=self.description,
            content=self.content,
            steps=self.steps,
            resources=self.resources,
            allowed_tools=self.allowed_tools,
            compatibility=self.compatibility,
            license=self.license,
            trigger_conditions=self.trigger_conditions,
            tags=self.tags,
            extraction_source=self.extraction_source,
            source_format=self.source_format,
            source_path=self.source_path,
        )
        return SaveRequest(body=body, visibility=self.visibility, metadata=self.metadata)


class Patch(Body):
    """Changes to a memory; what is absent or null stays as it is."""

    not_changes: ClassVar[frozenset[str]] = frozenset(("user_id",))

    user_id: Id | None = None
    """The owner, if only theirs may be changed."""
    visibility: Visibility | None = None
    metadata: JsonObject | None = None

    def changes(self) -> Mapping[str, Any]:
        """Return the fields to change, by name."""
        named = self.model_fields_set - self.not_changes
        return {name: getattr(self, name) for name in type(self).model_fields if name in named}


class SemanticPatch(Patch):
    """Changes to a fact."""

    text: str | None = None
    source: str | None = None


class ProceduralPatch(Patch):
    """Changes to a procedure."""

    description: str | None = None
    content: str | None = None
    steps: JsonObjects | None = None
    resources: JsonList | None = None
    allowed_tools: Texts | None = None
    trigger_conditions: Texts | None = None
    tags: Texts | None = None


class Saved(Answer):
    """What every save answers."""

    id: str
    has_embedding: bool
    acknowledged: bool = True


class SemanticSaved(Saved):
    """A saved fact."""

    label: str


class EpisodicSaved(Saved):
    """A saved episode."""

    title: str


class TaxonomicSaved(Saved):
    """A saved term."""

    domain: str
    term: str


class ProceduralSaved(Saved):
    """A saved procedure."""

    procedure: str


class Entries(Answer):
    """Stored memories as documents; never the vectors."""

    entries: list[dict[str, Any]]


class Domains(Answer):
    """The domains that terms have."""

    domains: list[str]


class Deleted(Answer):
    """How many went."""

    deleted_count: int
    acknowledged: bool = True


def document(memory: Memory, org_id: str) -> dict[str, Any]:
    """Return a memory as it is listed: its own fields, whose it is, its times and versions."""
    shown = body_document(memory)
    if isinstance(memory.body, Episode):
        shown |= {"summary": memory.body.summary_text, "session_id": memory.session_id}
    return {
        "id": memory.id,
        "_id": memory.id,
        "type": memory.type_name,
        "org_id": org_id,
        "project_id": memory.project_id,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "visibility": memory.visibility.value,
        **shown,
        "metadata": dict(memory.metadata),
        "contextual_metadata": dict(memory.contextual_metadata) or None,
        "has_embedding": memory.has_embedding,
        "is_latest": memory.is_latest,
        "deleted": memory.deleted,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        **lineage(memory),
    }


def lineage(memory: Memory) -> dict[str, Any]:
    """Return which version of itself a memory is, and when it held."""
    return {
        "version": memory.version,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "reinforcement_count": memory.reinforcement_count,
        "valid_from": memory.valid_from.isoformat(),
        "valid_to": memory.valid_to.isoformat() if memory.valid_to else None,
        "event_time": event_time_document(memory.event_time) if memory.event_time else None,
    }
