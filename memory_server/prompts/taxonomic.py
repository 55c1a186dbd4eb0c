"""Words of the user's own world."""

from collections.abc import Sequence

from pydantic import Field

from memory_server.domain.memory import MemoryType, Term
from memory_server.prompts.item import Item, Prompt

_TASK = """\
You read a conversation and note terms that the people in it define or use in a meaning of their
own: abbreviations, code names, names of products, teams, roles and processes, and ordinary words
with a special sense. Note a term only when the conversation itself tells what it means; leave out
words that any dictionary explains in the same way.

"domain": one or two lower-case words for the field it belongs to (a team, a company, a subject),
or "general". "term": as it is written. "definition": one or two sentences, from the conversation
only. "related_terms": other such terms that belong to it.
"""


class TaxonomicItem(Item):
    """One term of the model's answer."""

    domain: str = Field(default="general", min_length=1, max_length=100)
    term: str = Field(min_length=1, max_length=200)
    definition: str = Field(min_length=2, max_length=4000)
    related_terms: list[str] = Field(default_factory=list, max_length=50)

    def body(self, *, snapshot_id: str) -> Term:
        del snapshot_id
        return Term(
            domain=self.domain,
            term=self.term,
            definition=self.definition,
            related_terms=tuple(self.related_terms),
        )

    def prose(self) -> Sequence[str]:
        return (self.definition,)

    def labels(self) -> Sequence[str]:
        return (self.domain, *self.related_terms)

    def names(self) -> Sequence[str]:
        return (self.term,)


PROMPT = Prompt(kind=MemoryType.TAXONOMIC, task=_TASK, item=TaxonomicItem)
