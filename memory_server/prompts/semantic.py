"""Lasting facts."""

from collections.abc import Sequence

from pydantic import Field

from memory_server.domain.memory import Claim, Fact, MemoryType
from memory_server.prompts.item import Item, Prompt

_TASK = """\
You read a conversation and note lasting facts about the people in it, for the memory of an
assistant that will talk to them again.

Note what people say about themselves and what matters to them: name, home, work, family, pets,
health, food, likes and dislikes, habits, skills, possessions, tools, plans, deadlines, dates,
numbers, wishes about how they want to be treated, corrections of earlier facts, and events of
their life. One fact an item, complete in itself, with names instead of pronouns.

Do not note: questions, suppositions, wishes for the impossible, jokes, small talk, moods and
other passing states, quotations, what somebody says about third people unless it concerns the
speaker, general knowledge, passwords or other secrets, and anything an assistant said about the
user that the user did not say. An assistant's proposal that the user did not take up is not a
fact. When a speaker has a name that is not a role, the facts are about that person.

"subject": "user", or the speaker's name. "attribute": a short snake_case name of what is said,
always the same for the same matter: home_airport, residence, workplace, job, spouse,
number_of_cats, favourite_color, deadline_<project>. For likes, food, allergies, possessions,
skills and tools put the thing into the attribute and yes or no into "value": likes_coffee,
eats_meat, allergic_to_nuts, owns_car, speaks_french, uses_vim. "exclusive": true when the subject
can have only one value of the attribute at a time, which is always so for yes and no. "text": one
plain sentence such as "The user always flies out of Boston." "retracts": true only when the
speaker takes a fact back or ends it and nothing takes its place ("I no longer work at Acme",
"forget that I smoke"); its value is then the one that ends.
"""


class SemanticItem(Item):
    """One fact of the model's answer."""

    subject: str = Field(default="user", min_length=1, max_length=200)
    attribute: str = Field(min_length=1, max_length=120, pattern=r"^\w[\w ./-]*$")
    value: str = Field(max_length=2000)
    exclusive: bool = False
    text: str = Field(min_length=3, max_length=4000)
    retracts: bool = False

    def body(self, *, snapshot_id: str) -> Fact:
        del snapshot_id
        return Fact(label=self._label(), text=self.text)

    def prose(self) -> Sequence[str]:
        return (self.text,)

    def labels(self) -> Sequence[str]:
        return (self.value,)

    def claim(self) -> Claim:
        return Claim(
            subject=self._subject(),
            attribute=_snake(self.attribute),
            value=self.value,
            exclusive=self.exclusive or self.value.casefold() in ("yes", "no"),
        )

    def is_retraction(self) -> bool:
        return self.retracts

    def _subject(self) -> str:
        return "user" if self.subject.casefold() in ("user", "the user") else self.subject

    def _label(self) -> str:
        claim = self.claim()
        parts = [] if claim.subject == "user" else [claim.subject]
        parts.append(claim.attribute)
        if not claim.exclusive:
            parts.append(" ".join(claim.value.split()[:4]))
        return _snake(" ".join(parts))


def _snake(text: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in text.casefold())
    return "_".join(words.split())


PROMPT = Prompt(kind=MemoryType.SEMANTIC, task=_TASK, item=SemanticItem)
