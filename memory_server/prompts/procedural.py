"""How something is done."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from memory_server.domain.memory import MemoryType, Procedure
from memory_server.prompts.item import Item, Prompt

_TASK = """\
You read a conversation and note procedures: ways of doing something that somebody spelled out in
steps or as a standing rule ("whenever the build fails, rerun it once"), and that could be followed
again. Note only what was actually laid out, with its steps in order; a single action, a plan, an
opinion or a list of options is no procedure.

"procedure": a short snake_case name. "description": one sentence that tells what it achieves.
"content": the whole procedure as readable text, commands verbatim. "steps": in order, each with
"description" (one line), "content" (all of it) and, if it was said, "expected_output".
"trigger_conditions": when it applies, in the speaker's words. "tags": up to eight.
"""


class ProceduralStep(BaseModel):
    """One step of a procedure."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    step_type: str = "instruction"
    description: str = Field(min_length=1, max_length=2000)
    content: str | None = None
    expected_output: str | None = None
    timeout_ms: int | None = Field(default=None, ge=0)


class ProceduralItem(Item):
    """One procedure of the model's answer."""

    procedure: str = Field(min_length=1, max_length=200)
    description: str = Field(min_length=1, max_length=4000)
    content: str = Field(min_length=1, max_length=20_000)
    steps: list[ProceduralStep] = Field(min_length=1, max_length=100)
    trigger_conditions: list[str] = Field(default_factory=list, max_length=20)
    tags: list[str] = Field(default_factory=list, max_length=50)

    def body(self, *, snapshot_id: str) -> Procedure:
        del snapshot_id
        return Procedure(
            procedure=self.procedure,
            description=self.description,
            content=self.content,
            steps=tuple(_step(step) for step in self.steps),
            trigger_conditions=tuple(self.trigger_conditions),
            tags=tuple(self.tags[:8]),
            extraction_source="llm",
        )

    def prose(self) -> Sequence[str]:
        told = ((step.description, step.content, step.expected_output) for step in self.steps)
        return (self.description, self.content, *(text for step in told for text in step if text))

    def labels(self) -> Sequence[str]:
        return (self.procedure, *self.trigger_conditions, *self.tags)


def _step(step: ProceduralStep) -> dict[str, object]:
    written = step.model_dump()
    return {**written, "content": step.content or step.description}


PROMPT = Prompt(kind=MemoryType.PROCEDURAL, task=_TASK, item=ProceduralItem)
