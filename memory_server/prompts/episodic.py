"""What happened."""

from collections.abc import Sequence

from pydantic import Field

from memory_server.domain.memory import Episode, MemoryType
from memory_server.prompts.item import Item, Prompt

_TASK = """\
You read a conversation and write down what happened in it, as an episode that can be found and
understood months later by somebody who was not there.

Make one item for the whole conversation; make several only when it clearly has unrelated topics.
Make none when nothing but greetings was exchanged. "title": at most twelve words that name the
topic and the people. "content": a faithful account of who said, did, decided or felt what, with
the names of people, places and things, numbers and the words they used for dates; no judgement,
nothing that was not said; up to two hundred words. "summary_text": two or three sentences.
"participants": the speakers' names, or User and Assistant. "tags": up to eight lower-case topics.
"""


class EpisodicItem(Item):
    """One episode of the model's answer."""

    title: str = Field(min_length=1, max_length=300)
    content: str = Field(min_length=1, max_length=20_000)
    summary_text: str = Field(default="", max_length=4000)
    participants: list[str] = Field(default_factory=list, max_length=50)
    tags: list[str] = Field(default_factory=list, max_length=50)

    def body(self, *, snapshot_id: str) -> Episode:
        return Episode(
            title=self.title,
            content=self.content,
            summary_text=self.summary_text,
            participants=tuple(self.participants),
            tags=tuple(self.tags[:8]),
            snapshot_ref_id=snapshot_id,
            summary_type="llm",
            extraction_source="llm",
        )

    def prose(self) -> Sequence[str]:
        return (self.content, self.summary_text)

    def labels(self) -> Sequence[str]:
        return (self.title, *self.tags)

    def names(self) -> Sequence[str]:
        return self.participants


PROMPT = Prompt(kind=MemoryType.EPISODIC, task=_TASK, item=EpisodicItem)
