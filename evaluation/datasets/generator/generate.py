"""Items of a variant, one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from evaluation.datasets.errors import UnknownChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """How large one history is."""

    sessions: int
    """Of which some are dropped where `characters` would be passed; 0: evidence alone."""
    exchanges: tuple[int, int]
    """Fewest and most pairs of messages of a session."""
    characters: int | None = None
    """Most of a history, about 4.3 a token."""
    language: str = "english"


VARIANTS: Final[Mapping[str, Variant]] = {
    "oracle": Variant(sessions=0, exchanges=(3, 6)),
    "small": Variant(sessions=8, exchanges=(2, 3)),
    "s": Variant(sessions=48, exchanges=(3, 6), characters=512_000),
    "m": Variant(sessions=500, exchanges=(3, 8)),
}


def generate(variant: str, questions: int, seed: int) -> Iterator[dict[str, Any]]:
    """Make that many items of LongMemEval's schema, each with a history of its own.

    The same seed gives the same items; the first n of more questions are the n of fewer.
    """
    if variant not in VARIANTS:
        raise UnknownChoice(f"No variant is called {variant!r}; there are {', '.join(VARIANTS)}")
    raise NotImplementedError(questions, seed)
