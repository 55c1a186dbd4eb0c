"""Every limit of the server: the numbers, and what passing them is answered with.

`docs/reference/limits.md` is written from `LIMITS`.
"""

from dataclasses import dataclass

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_PORTION_BYTES = 8 * 1024 * 1024
"""Of an archive; one memory with all its evidence may be larger than any other body."""
MAX_HELD_BYTES = 512 * 1024 * 1024
"""Of bodies of all requests together, from their first byte until they are answered."""
MAX_URL_BYTES = 8 * 1024
MAX_HEADER_BYTES = 32 * 1024
MAX_CUSTOM_HEADERS = 50
MAX_CUSTOM_HEADER_BYTES = 8 * 1024
MAX_JSON_DEPTH = 201
"""What the parser takes; a deeper body is refused before it is built."""

MAX_CONTENT_BYTES = 256 * 1024
MAX_TEXT_BYTES = 256 * 1024
MAX_QUERY_CHARACTERS = 16 * 1024
MAX_ID = 512
MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 32
MAX_METADATA_KEYS = 512
"""Counted through all levels of one object."""
MAX_LIST_BYTES = 512 * 1024
"""Lists of objects, as tool calls, steps and resources are."""

MAX_NAME = 200
"""Of a project or a service account."""
MAX_DESCRIPTION = 1000
MAX_PROJECT_ID = 128
MAX_CREDENTIAL = 512
MAX_SECRET_CHARACTERS = 64 * 1024

MAX_FILTER_DEPTH = 8
"""Nested $and, $or and $nor."""
MAX_FILTER_COMPARISONS = 100
MAX_FILTER_VALUES = 1000
"""Of one $in or $nin."""
MAX_FILTER_TEXT = 4096
"""Characters of one value."""

MAX_TOP_K = 1000
MAX_SOURCE_TOP_K = 200
MAX_CUSTOM_TOP_K = 100
MAX_LISTED = 1000
MAX_PROPOSALS = 200
"""Of one listing: each comes with the words it rests on."""
MAX_DECIDED = 100
"""Proposals that are decided at once."""
MAX_MESSAGES = 200
"""Of one conversation that are recorded as blocks at once."""
MAX_READ_OF_TURN = 20_000
"""Characters of one turn that rules read; what is pasted beyond is found as a turn."""
MAX_READ_OF_CONVERSATION = 1_000_000
"""Characters of one conversation that rules read; reading them takes seconds, whatever they say."""
MAX_SECRETS = 100
MAX_ADDRESSES = 200
"""Of one access list."""

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
REQUEST_SECONDS = 60.0
KEEP_ALIVE_SECONDS = 30
TAKING_SECONDS = 30.0
MIN_TAKEN_BYTES = 64 * 1024
"""What a caller has to take of a waiting answer in that time."""

MAX_CONNECTIONS = 1024
MAX_CONCURRENT = 512
MAX_CONCURRENT_OF_CALLER = 384
"""Three quarters, so that one caller cannot have every place, whoever they ask for."""
MAX_CONCURRENT_OF_ONE = 128
"""A quarter, so that one user cannot have every place."""
WORKING_OF_ONE = 8
"""How many of these are worked on at a time; the others wait their turn."""

MAX_WAITING_CALLS = 256
MAX_WAITING_CALLS_OF_ONE = 128
"""Half, so that the calls of others find room."""

WRITES_A_SECOND = 200.0
WRITE_BURST_SECONDS = 10.0
"""How many seconds' worth of writes may come at once."""
WRITE_PATIENCE_SECONDS = 1.0
"""How long a write beyond the rate is held back; one that had to wait longer is refused."""
CALLER_FACTOR = 4
"""How much more a caller may write in all than for one user."""

MAX_QUEUED_JOBS = 400
"""About; the snapshot that reaches it is queued whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One row of the documentation."""

    of: str
    value: float
    unit: str
    answer: str
    note: str = ""


_REFUSED = "422 `VALIDATION_ERROR`"
_NO_FILTER = "400 `INVALID_FILTER`"
_TOO_LARGE = "413 `TOO_LARGE`"
_LEFT_OUT = "none: it stays recorded and found, and `agentengine memory jobs` tells"
_RATE_LIMITED = "429 `RATE_LIMITED`"

SIZES = (
    Limit(of="a request body", value=MAX_BODY_BYTES, unit="bytes", answer=_TOO_LARGE),
    Limit(
        of="a portion of an archive that is imported",
        value=MAX_PORTION_BYTES,
        unit="bytes",
        answer=_TOO_LARGE,
    ),
    Limit(
        of="the bodies of all requests that are open",
        value=MAX_HELD_BYTES,
        unit="bytes",
        answer="503 `OVERLOADED`",
    ),
    Limit(of="a path with its query", value=MAX_URL_BYTES, unit="bytes", answer="414"),
    Limit(
        of="all headers of a request",
        value=MAX_HEADER_BYTES,
        unit="bytes",
        answer="431",
        note="names and values; the values of the next are counted apart",
    ),
    Limit(
        of="one header `X-Mdb-Agent-Engine-Custom-*`",
        value=MAX_CUSTOM_HEADER_BYTES,
        unit="bytes of its value",
        answer=_TOO_LARGE,
    ),
    Limit(of="nesting of a body", value=MAX_JSON_DEPTH, unit="levels", answer=_REFUSED),
    Limit(
        of="the content of a turn",
        value=MAX_CONTENT_BYTES,
        unit="bytes of UTF-8",
        answer=_TOO_LARGE,
        note="what is long is embedded in pieces",
    ),
    Limit(
        of="the text of a memory", value=MAX_TEXT_BYTES, unit="bytes of UTF-8", answer=_TOO_LARGE
    ),
    Limit(of="a query", value=MAX_QUERY_CHARACTERS, unit="characters", answer=_REFUSED),
    Limit(
        of="an id of a user, session or agent, an idempotency key",
        value=MAX_ID,
        unit="characters",
        answer=_REFUSED,
        note="any characters but control characters",
    ),
    Limit(
        of="a metadata object",
        value=MAX_METADATA_BYTES,
        unit="bytes of JSON",
        answer=_REFUSED,
        note="also a filter, tags and contextual metadata of custom types",
    ),
    Limit(
        of="nesting of a metadata object or list",
        value=MAX_METADATA_DEPTH,
        unit="levels",
        answer=_REFUSED,
    ),
    Limit(of="keys of a metadata object", value=MAX_METADATA_KEYS, unit="in all", answer=_REFUSED),
    Limit(
        of="tool calls, steps or resources",
        value=MAX_LIST_BYTES,
        unit="bytes of JSON",
        answer=_REFUSED,
    ),
    Limit(of="one text in a filter", value=MAX_FILTER_TEXT, unit="characters", answer=_NO_FILTER),
    Limit(
        of="nesting of `$and`, `$or` and `$nor` in a filter",
        value=MAX_FILTER_DEPTH,
        unit="levels",
        answer=_NO_FILTER,
    ),
    Limit(
        of="the name of a project or a service account",
        value=MAX_NAME,
        unit="characters",
        answer=_REFUSED,
    ),
    Limit(of="a description", value=MAX_DESCRIPTION, unit="characters", answer=_REFUSED),
    Limit(of="the id of a project", value=MAX_PROJECT_ID, unit="characters", answer=_REFUSED),
    Limit(
        of="a password or refresh token", value=MAX_CREDENTIAL, unit="characters", answer=_REFUSED
    ),
    Limit(
        of="the value of a secret",
        value=MAX_SECRET_CHARACTERS,
        unit="characters",
        answer=_REFUSED,
    ),
)

NUMBERS = (
    Limit(
        of="headers `X-Mdb-Agent-Engine-Custom-*`",
        value=MAX_CUSTOM_HEADERS,
        unit="of an invocation",
        answer="400 `INVALID_REQUEST`",
    ),
    Limit(of="`top_k` of a search or a context", value=MAX_TOP_K, unit="", answer=_REFUSED),
    Limit(of="`top_k` of one source", value=MAX_SOURCE_TOP_K, unit="", answer=_REFUSED),
    Limit(of="`top_k` of a custom type", value=MAX_CUSTOM_TOP_K, unit="", answer=_REFUSED),
    Limit(of="`limit` of a listing", value=MAX_LISTED, unit="entries", answer=_REFUSED),
    Limit(
        of="`limit` of a listing of proposals",
        value=MAX_PROPOSALS,
        unit="entries",
        answer=_REFUSED,
    ),
    Limit(
        of="a turn, as the built-in rules read it",
        value=MAX_READ_OF_TURN,
        unit="characters",
        answer=_LEFT_OUT,
    ),
    Limit(
        of="a conversation, as the built-in rules read it",
        value=MAX_READ_OF_CONVERSATION,
        unit="characters",
        answer=_LEFT_OUT,
    ),
    Limit(of="proposals that are decided at once", value=MAX_DECIDED, unit="", answer=_REFUSED),
    Limit(
        of="messages that are recorded as blocks at once",
        value=MAX_MESSAGES,
        unit="",
        answer=_REFUSED,
    ),
    Limit(of="comparisons in a filter", value=MAX_FILTER_COMPARISONS, unit="", answer=_NO_FILTER),
    Limit(of="values of one `$in` or `$nin`", value=MAX_FILTER_VALUES, unit="", answer=_NO_FILTER),
    Limit(
        of="secrets of a project",
        value=MAX_SECRETS,
        unit="",
        answer="409 `RESOURCE_LIMIT_EXCEEDED`",
    ),
    Limit(
        of="addresses and networks of one access list",
        value=MAX_ADDRESSES,
        unit="",
        answer=_REFUSED,
    ),
)

TIMES = (
    Limit(
        of="for a request's head to arrive",
        value=HEAD_SECONDS,
        unit="seconds",
        answer="408, then the connection is closed",
    ),
    Limit(
        of="for a request's body to arrive",
        value=BODY_SECONDS,
        unit="seconds",
        answer="408 `REQUEST_TIMEOUT`",
    ),
    Limit(
        of="for an answer to begin",
        value=REQUEST_SECONDS,
        unit="seconds",
        answer="504 `DEADLINE_EXCEEDED`",
        note="the work is cancelled; administration and invocations have limits of their own",
    ),
    Limit(
        of=f"for {MIN_TAKEN_BYTES} bytes of a waiting answer to be taken",
        value=TAKING_SECONDS,
        unit="seconds",
        answer="the connection is closed",
        note="a smaller rest is kept as long once the connection has rested",
    ),
    Limit(
        of="a connection may rest between requests",
        value=KEEP_ALIVE_SECONDS,
        unit="seconds",
        answer="the connection is closed",
    ),
)

LOAD = (
    Limit(
        of="connections at a time",
        value=MAX_CONNECTIONS,
        unit="",
        answer="503 `OVERLOADED`, then the connection is closed",
    ),
    Limit(
        of="requests waiting or in work at a time",
        value=MAX_CONCURRENT,
        unit="",
        answer="503 `OVERLOADED`",
        note="`/health` is always answered",
    ),
    Limit(
        of="requests of one caller at a time",
        value=MAX_CONCURRENT_OF_CALLER,
        unit="",
        answer=_RATE_LIMITED,
        note="a credential, or an address that shows none",
    ),
    Limit(
        of="requests of one user at a time, or of a caller who names none",
        value=MAX_CONCURRENT_OF_ONE,
        unit="",
        answer=_RATE_LIMITED,
        note=f"{WORKING_OF_ONE} are worked on, the others wait their turn; invocations do not "
        "count here",
    ),
    Limit(
        of="invocations waiting for an agent of your own",
        value=MAX_WAITING_CALLS,
        unit="",
        answer="503 `AGENT_BUSY`",
        note="users come in turn; each waits for half of the time an invocation has, at most",
    ),
    Limit(
        of="of these, for one user",
        value=MAX_WAITING_CALLS_OF_ONE,
        unit="",
        answer="503 `AGENT_BUSY`",
    ),
    Limit(
        of="writes for one user",
        value=WRITES_A_SECOND,
        unit="a second",
        answer=_RATE_LIMITED,
        note=f"with {WRITES_A_SECOND * WRITE_BURST_SECONDS:g} at once; what comes faster is held "
        f"back for up to {WRITE_PATIENCE_SECONDS:g} second before it is refused; "
        "`AGENTENGINE_RATE_LIMIT` sets another",
    ),
    Limit(
        of="writes of one caller, whoever they are for",
        value=WRITES_A_SECOND * CALLER_FACTOR,
        unit="a second",
        answer=_RATE_LIMITED,
        note=f"with {WRITES_A_SECOND * WRITE_BURST_SECONDS * CALLER_FACTOR:g} at once",
    ),
    Limit(
        of="background jobs waiting or running for one user, about",
        value=MAX_QUEUED_JOBS,
        unit="",
        answer="none: turns stay recorded and are promoted later",
    ),
)

LIMITS = (*SIZES, *NUMBERS, *TIMES, *LOAD)
