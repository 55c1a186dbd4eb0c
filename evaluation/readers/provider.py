"""A language model that reads what was found and answers by a prompt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.chat import ChatModel
from evaluation.prompts import Prompt
from evaluation.readers.reader import Reader, Reading
from evaluation.records import FoundItem

_FINAL = re.compile(r"(?im)^\W*answer\W*:\W*(.+)$")


@dataclass(frozen=True, slots=True)
class ProviderReader(Reader):
    """Asks a model once for each question, at temperature 0."""

    model: ChatModel
    template: Prompt

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def prompt(self) -> str:
        return self.template.name

    @property
    def digest(self) -> str:
        return self.template.digest

    async def read(
        self, question: str, found: Sequence[FoundItem], *, asked_at: datetime | None
    ) -> Reading:
        said = await self.model.complete(
            self.template.instructions,
            self.template.filled(
                question=question,
                memories="\n".join(map(_line, found)) or "(nothing was found)",
                today=f"{asked_at:%A, %d %B %Y}" if asked_at else "not known",
            ),
            max_tokens=self.template.max_tokens,
        )
        answer = _final(said.text) if self.template.reply == "final" else said.text
        return Reading(answer=answer.strip(), tokens_in=said.tokens_in, tokens_out=said.tokens_out)

    async def close(self) -> None:
        await self.model.close()


def _line(item: FoundItem) -> str:
    day = f"[{item.at:%d %B %Y}] " if item.at else ""
    return f"- {day}{item.content}"


def _final(text: str) -> str:
    """Return what follows the last `Answer:`; all of it where the model did not end with one."""
    found = _FINAL.findall(text)
    return found[-1] if found else text
