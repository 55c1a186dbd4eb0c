"""Writes docs/reference/limits.md from the limits themselves.

Run `python -m tests.architecture.limits_docs` after one changed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_server.domain import limits
from memory_server.domain.limits import Limit

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "limits.md"

HEAD = """# Limits

Generated from `memory_server/domain/limits.py` by `python -m tests.architecture.limits_docs`; do
not edit.

Whatever passes a limit is refused whole: nothing of it is stored, and the answer's text has the
limit in it. Every refusal has the envelope of all errors, `{"code", "error", "detail",
"request_id"}`. Where waiting helps, `Retry-After` says how long.
"""

JSON = """
## What JSON may hold

One parser judges every body, so that every route answers the same:

| in a body | answer |
|---|---|
| text of any script, emoji, line breaks, the null character (`\\u0000`) | stored and given back as sent |
| control characters in the id of a user, session or agent, or in an idempotency key | 422 |
| whole numbers beyond 64 bits, up to 4300 digits, in metadata | stored and given back as sent |
| whole numbers of more digits | 422 |
| `NaN`, `Infinity`, and numbers too large for a 64-bit float, as `1e400` | 422 |
| half of a surrogate pair, as `\\ud800` | 422 |
| the same key twice in one object | the last one counts |
| a byte order mark, another encoding than UTF-8, comments, trailing commas | 422 |
"""  # noqa: E501 - rows of a table

FAIRNESS = """
## Shares

A user's requests are worked on a few at a time; what comes on top waits behind that user's own
requests and nobody else's. Background work goes round between users: whose last job lies furthest
back comes next. Searches are not writes and draw from no bucket.

The rate of writes is limited for service accounts and people. Callers on the server's own machine
that show no token, and whoever holds the owner token, are not limited, so that an import runs at
full speed. `AGENTENGINE_RATE_LIMIT` replaces the rate for one user by another number a second, for
every caller; `off` removes it. Holding writes back slows an import down and loses nothing, where a
refusal would: an official SDK raises `MemoryBadRequestError` for 429.

Where several servers share a database, what is under Load is of each server, but for the background
jobs, which are of all. How often a password or a client secret may be tried is counted over all.
"""


def document() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for title, rows in (
        ("Sizes", limits.SIZES),
        ("Numbers", limits.NUMBERS),
        ("Times", limits.TIMES),
        ("Load", limits.LOAD),
    ):
        parts += _table(title, rows)
    return "".join([*parts, FAIRNESS, JSON])


def _table(title: str, rows: Sequence[Limit]) -> Iterator[str]:
    yield f"\n## {title}\n\n| what | the most | beyond it |\n|---|---|---|\n"
    for row in rows:
        most = f"{row.value:,.12g} {row.unit}".strip()
        note = f" ({row.note})" if row.note else ""
        yield f"| {row.of}{note} | {most} | {row.answer} |\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
