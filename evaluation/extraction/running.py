"""All cases on a server: several users at once, each session after the other, none twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.digests import digest_of
from evaluation.extraction.cases import Labelled
from evaluation.extraction.living import Life, spoken_digest
from evaluation.extraction.records import CaseRecord
from evaluation.ledger import Ledger
from evaluation.progress import Progress, Watcher
from evaluation.together import together
from memory_server.client import MemoryServerClient

RECORDS = "cases.jsonl"
LIVED_AS = 1
"""Raised when cases are recorded or read in another way."""


def configuration_of(server: Mapping[str, Any], program: str | None) -> str:
    """Return the digest of what decides what a case leaves.

    `server` is what it says of itself, `program` a digest of its code where that is known.
    """
    return digest_of("extraction", LIVED_AS, server, program)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """Cases, and the directory in which is written down what came of each."""

    cases: Sequence[Labelled]
    directory: Path
    watcher: Watcher
    concurrency: int

    async def run(
        self,
        client: MemoryServerClient,
        configuration: str,
        *,
        anew: bool = False,
        is_own: bool = False,
    ) -> Sequence[CaseRecord]:
        """Return what came of each case, in their order; what is known already is not done again.

        `anew`: it is done again, on users that are erased first. `is_own`: nobody else remembers
        anything on the server, so that what other programs left there goes before a new one begins.
        """
        ledger = Ledger(
            self.directory / RECORDS,
            CaseRecord,
            key=lambda one: (one.configuration, one.digest),
            told=self.watcher.note,
        )
        keys = [(configuration, spoken_digest(one.case)) for one in self.cases]
        waiting = [
            one for one, key in zip(self.cases, keys, strict=True) if anew or key not in ledger
        ]
        if is_own and not any(one.configuration == configuration for one in ledger):
            await client.erase_everybody()
        if waiting:
            told = cache(self.watcher.note)  # each reason once
            lives = (
                Life(client=client, case=one.case, configuration=configuration, told=told)
                for one in waiting
            )
            with self.watcher.stage("extraction", len(waiting)) as progress:
                await together(
                    lambda: _work(lives, ledger, progress, anew=anew),
                    workers=min(self.concurrency, len(waiting)),
                )
        found = (ledger.get(key) for key in keys)
        return [record for record in found if record is not None]


async def _work(
    lives: Iterator[Life], ledger: Ledger[CaseRecord], progress: Progress, *, anew: bool
) -> None:
    """Live one case after the other until none is left."""
    for life in lives:
        if anew:
            await life.client.erase(life.user_id)
        ledger.append(await life.live())
        progress.advance()
