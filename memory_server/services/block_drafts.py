"""What is to be recorded as blocks: checked, paired, and placed in its conversation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memory_server.domain.block import (
    RESERVED,
    Exchange,
    Message,
    block_id,
    blocks_of,
    event_time,
)
from memory_server.domain.exchange import BOTH, Viewpoint
from memory_server.domain.limits import MAX_CONTENT_BYTES, MAX_TEXT_BYTES
from memory_server.domain.memory import Block, Memory
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.turn import Role
from memory_server.errors import InvalidRequest, TooLarge


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages of one conversation, in order, as a client records them."""

    conversation_id: str
    messages: Sequence[Message]
    viewpoints: Sequence[Viewpoint] = BOTH
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of every exchange, under what its first message says itself."""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    context_required: bool = False
    sync: bool = False
    """Whether to wait for summary and contexts."""
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be stored, but for its place in the conversation."""

    scope: Scope
    given: Conversation
    exchanges: Sequence[Exchange]
    exchange_ids: Sequence[str]
    begun: datetime

    @property
    def owner(self) -> Scope:
        """Whose conversation it is, of whatever agent."""
        return Scope(
            project_id=self.scope.project_id,
            user_id=self.scope.user_id,
            userless=self.scope.user_id is None,
        )

    @property
    def conversation(self) -> tuple[str | None, ...]:
        """What names the conversation among all others."""
        return (self.scope.project_id, self.scope.user_id, self.given.conversation_id)

    def ids(self) -> Sequence[str]:
        """Return the ids that the blocks have, in all viewpoints that there are."""
        return [block_id(one, view) for one in self.exchange_ids for view in Viewpoint]

    def bodies(self, first: int) -> Sequence[Block]:
        """Return the blocks, the first exchange in that place."""
        return [body for _, body in self._placed(first)]

    def memories(self, first: int) -> Sequence[Memory]:
        """Return the blocks as memories, the first exchange in that place.

        Their exchanges are a microsecond apart, so that lists have them in order.
        """
        return [self._memory(number, body) for number, body in self._placed(first)]

    def _placed(self, first: int) -> Iterable[tuple[int, Block]]:
        for number, exchange in enumerate(self.exchanges):
            blocks = blocks_of(
                exchange,
                exchange_id=self.exchange_ids[number],
                conversation_id=self.given.conversation_id,
                position=first + number,
                viewpoints=self.given.viewpoints,
                said_at=exchange.said_at(self.given.metadata),
                annotations=self.given.annotations,
                context_required=self.given.context_required,
            )
            yield from ((number, body) for body in blocks)

    def _memory(self, number: int, body: Block) -> Memory:
        exchange = self.exchanges[number]
        said_at = exchange.said_at(self.given.metadata)
        moment = self.begun + timedelta(microseconds=number)
        return Memory(
            id=block_id(body.exchange_id, body.viewpoint),
            project_id=self.scope.project_id,
            user_id=self.scope.user_id,
            agent_id=self.scope.agent_id,
            session_id=body.conversation_id,
            visibility=Visibility.PRIVATE,
            body=body,
            identity_key=f"block:{body.conversation_id}|{body.position}|{body.viewpoint}",
            metadata={**self.given.metadata, **exchange.metadata},
            event_time=event_time(said_at),
            created_at=moment,
            updated_at=moment,
            valid_from=said_at or moment,
        )


def check(given: Conversation) -> None:
    """Raise `InvalidRequest` or `TooLarge` for what cannot be recorded, naming the place."""
    if not given.conversation_id.strip():
        raise InvalidRequest("conversation_id: an exchange belongs to a conversation; give its id")
    if not given.messages:
        raise InvalidRequest("messages: give what was said, one message at least")
    for number, said in enumerate(given.messages):
        _validate_message(number, said)
    ids = [said.id for said in given.messages if said.id is not None]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise InvalidRequest(f"messages: the id {twice!r} is given twice; each message has its own")
    _validate_viewpoints(given.viewpoints)
    reserved = [name for name in RESERVED if name in given.annotations]
    if reserved:
        raise InvalidRequest(
            f"annotations.{reserved[0]}: the server writes it; for the time give metadata.date"
        )
    if given.sync and not given.context_required:
        raise InvalidRequest("sync: there is nothing to wait for without context_required")


def _validate_viewpoints(views: Sequence[Viewpoint]) -> None:
    if not views or len(set(views)) < len(views):
        raise InvalidRequest("viewpoints: give user, assistant or both, each once, or sequential")
    if Viewpoint.SEQUENTIAL in views and len(views) > 1:
        raise InvalidRequest("viewpoints: sequential is everybody's view and stands alone")


def _validate_message(number: int, said: Message) -> None:
    place = f"messages.{number}"
    if said.role not in (Role.USER, Role.ASSISTANT):
        raise InvalidRequest(f"{place}.role: an exchange is of user and assistant")
    if not said.content.strip():
        raise InvalidRequest(f"{place}.content: a message needs content that is not blank")
    size = len(said.content.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"{place}.content: {size} bytes; a message may have {MAX_CONTENT_BYTES} at most. "
            "Nothing was stored"
        )


def check_blocks(bodies: Sequence[Block], exchanges: int) -> None:
    """Refuse what is too large, and exchanges of which nothing would be stored."""
    seen = {body.position for body in bodies}
    for position in range(1, exchanges + 1):
        if position not in seen:
            raise InvalidRequest(
                f"viewpoints: nobody whose view is asked for spoke in exchange {position} of the "
                "request: ask for both views, or leave its messages out. Nothing was stored"
            )
    for body in bodies:
        size = len(body.index_text.encode())
        if size > MAX_TEXT_BYTES:
            raise TooLarge(
                f"messages: exchange {body.position} has {size} bytes; {MAX_TEXT_BYTES} are the "
                "most. Nothing was stored"
            )
