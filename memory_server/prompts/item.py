"""What every prompt asks for beside its own: evidence, and when it took place."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory_server.domain.memory import Claim, ExtractedBody, MemoryType
from memory_server.prompts.conversation import HOW_TO_READ

KEY = "memories"
"""The name of the list in the model's answer."""
_COMMON = f"""\
Answer with one JSON object and nothing else: {{"{KEY}": [ ... ]}}. An empty list is a good answer
when there is nothing worth remembering; never invent an item to fill it. Every item has
"evidence": the numbers of the turns it rests on, and "confidence": 0 to 1. Write in the language
of the conversation. Keep names, numbers, units, negations and links exactly as they were said.
When an item took place at a time that the words tell, copy those words as they stand ("yesterday",
"last May") into "event_words" and the turn's number into "event_turn"; do not work out dates and
do not write dates that nobody said.
"""
_CORRECTION = """\
Your answer cannot be used as it is:
{problems}
Send the corrected items only, as one JSON object {{"{key}": [ ... ]}} and nothing else. Leave out
what you cannot correct from the conversation.
"""


def _the_only(value: object) -> object:
    """Return what stands alone in a list, None for an empty one: small models write lists."""
    if isinstance(value, list) and len(value) < 2:
        return value[0] if value else None
    return value


class Item(BaseModel):
    """What items of all types have in common."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    evidence: list[int] = Field(min_length=1, description="turn numbers it rests on")
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    event_words: Annotated[str | None, BeforeValidator(_the_only)] = Field(
        default=None, description="words that tell when, as said"
    )
    event_turn: Annotated[int | None, BeforeValidator(_the_only)] = Field(
        default=None, description="number of the turn with those words"
    )

    @abstractmethod
    def body(self, *, snapshot_id: str) -> ExtractedBody:
        """Return what is to be remembered."""
        ...

    @abstractmethod
    def prose(self) -> Sequence[str]:
        """Return its sentences, which must say what was said and in its language."""
        ...

    @abstractmethod
    def labels(self) -> Sequence[str]:
        """Return its titles, values and other short texts, which write capitals as they like."""
        ...

    def names(self) -> Sequence[str]:
        """Return what must stand in the conversation as it is: terms, people."""
        return ()

    def claim(self) -> Claim | None:
        """Return what it says in comparable form, if the type has one."""
        return None

    def is_retraction(self) -> bool:
        """Whether it only takes back what is known."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The prompt of one memory type and the form of its answer's items."""

    kind: MemoryType
    task: str
    item: type[Item]

    @property
    def instructions(self) -> str:
        """The whole system message."""
        schema = json.dumps(_bare_schema(self.item), ensure_ascii=False)
        return f"{self.task}\n{_COMMON}\n{HOW_TO_READ}\nJSON schema of one item:\n{schema}\n"

    @property
    def answer_schema(self) -> Mapping[str, Any]:
        """The JSON schema of a whole answer."""
        return {
            "type": "object",
            "properties": {KEY: {"type": "array", "items": _bare_schema(self.item)}},
            "required": [KEY],
            "additionalProperties": False,
        }

    @property
    def digest(self) -> str:
        """Eight hex digits that change with the prompt and the form of its answer."""
        return hashlib.sha256(f"{self.instructions}\n{_CORRECTION}".encode()).hexdigest()[:8]


def correction(problems: str) -> str:
    """Return the message that asks the model for another try."""
    return _CORRECTION.format(problems=problems, key=KEY)


def _bare_schema(item: type[Item]) -> object:
    schema = item.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    for described in schema["properties"].values():
        described.pop("title", None)
    return schema
