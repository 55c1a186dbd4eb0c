"""What ends a transaction that was only to say what would become of items."""

from collections.abc import Sequence

from memory_server.domain.archive import Outcome


class Judged(Exception):
    """Undoes a dry run, and carries its outcomes past the transaction's end."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes
