"""An answer without a language model: the words found that answer what was asked."""

from collections.abc import Sequence
from datetime import datetime

from evaluation.readers.reader import NOT_MENTIONED, Reader, Reading
from evaluation.records import FoundItem

VERSION = "1"
"""Of its rules; raised where they answer differently."""


class ExtractiveReader(Reader):
    """Picks what answers from the items found, by rules that are the same for all data."""

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def prompt(self) -> str:
        return ""

    @property
    def digest(self) -> str:
        return f"extractive-{VERSION}"

    async def read(
        self, question: str, found: Sequence[FoundItem], *, asked_at: datetime | None
    ) -> Reading:
        return Reading(answer=found[0].content if found else NOT_MENTIONED)

    async def close(self) -> None:
        """Nothing is open."""
