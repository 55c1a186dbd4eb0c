"""Sizes of a history, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evaluation.datasets.generator.talk import Length


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """How large one history is."""

    sessions: int
    """Some are dropped where `characters` would be passed; 0: evidence stands alone."""
    length: Length
    characters: int | None = None
    """Most of a history; about 4.3 are a token."""
    decoys: int = 0
    """Sessions in which somebody else says the same of themselves."""
    language: str = "english"


_LONG: Final = (15, 32)

VARIANTS: Final[Mapping[str, Variant]] = {
    "oracle": Variant(sessions=0, length=Length(exchanges=(3, 6), sentences=_LONG)),
    "small": Variant(sessions=8, length=Length(exchanges=(2, 3), sentences=(2, 5)), decoys=1),
    "small_es": Variant(
        sessions=8,
        length=Length(exchanges=(2, 3), sentences=(2, 5)),
        decoys=1,
        language="spanish",
    ),
    "s": Variant(
        sessions=49,
        length=Length(exchanges=(3, 6), sentences=_LONG),
        characters=515_000,
        decoys=2,
    ),
    "m": Variant(sessions=500, length=Length(exchanges=(3, 8), sentences=_LONG), decoys=6),
}
"""By name. `small` is for tests, `small_es` the same in Spanish; the others have the sizes of
LongMemEval's files.
"""
