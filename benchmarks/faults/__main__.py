"""Bring faults about, and say what came of each.

    python -m benchmarks.faults [NAME ...] [--writers 12]

Without names every fault is tried, which takes some ten minutes:

server-killed     kill -9 of one of two servers while writers record by both, three times
database-killed   kill -9 of the database under load, started again on its files, three times
database-away     the database is away for a minute: what readiness and liveness say meanwhile
worker-paused     a server is stopped past its leases, and goes on when another did its jobs
two-starts        two servers start at the same moment on an empty database, five times
full-disk         an embedded store on a small disk that is filled up, then there is room (needs
                  mounting)
clock-skew        two servers whose clocks differ by five minutes share work (needs `faketime`)

Every line says how much was acknowledged, how much of that is lost, and whatever else the fault is
about. The database is a SecantusDB process on its own files. Exit status 1 if anything is lost,
stored twice, or not said.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks.faults.database import database_away, database_killed
from benchmarks.faults.disk import full_disk
from benchmarks.faults.servers import clock_skew, server_killed, two_starts, worker_paused
from benchmarks.faults.world import Outcome, Skipped

FAULTS: Mapping[str, Callable[[Path, ExitStack, int], Outcome]] = {
    "server-killed": server_killed,
    "database-killed": database_killed,
    "database-away": database_away,
    "worker-paused": worker_paused,
    "two-starts": two_starts,
    "full-disk": full_disk,
    "clock-skew": clock_skew,
}


def main() -> int:
    """Bring the faults about, print what came of each, and say whether all was well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("faults", nargs="*", metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--writers", type=int, default=12)
    given = parser.parse_args()
    sound = True
    for name in given.faults or FAULTS:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            try:
                well, said = FAULTS[name](Path(folder), stack, given.writers)
            except Skipped as reason:
                well, said = True, f"skipped: {reason}"
        sound = sound and well
        print(f"{name:<16} {'ok  ' if well else 'NOT '} {said}", flush=True)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
