"""Archives, on the wire."""

from memory_server.api.schemas.common import Answer
from memory_server.services.archiving import TakenIn


class Imported(Answer):
    """What became of a portion of an archive: items by kind."""

    new: dict[str, int]
    known: dict[str, int]
    """There already, as it is or as it has become since."""
    conflict: dict[str, int]
    """Something else is in its place; it was left as it is."""
    erased: dict[str, int]
    """Older than the erasure of its user; not brought back."""
    conflicts: list[str]
    """Kind and id of the first ones."""

    @classmethod
    def of(cls, taken: TakenIn) -> "Imported":
        """Return an outcome as it travels."""
        counts = {
            outcome.value: {kind.value: count for kind, count in by_kind.items()}
            for outcome, by_kind in taken.counts.items()
        }
        return cls(**counts, conflicts=list(taken.conflicts))
