"""Warnings for requests that mean something else than they seem to."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from memory_server.domain.budget import RESERVE
from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.words import query_terms


def of_scope(scope: Scope, sources: Iterable[Source]) -> Iterator[str]:
    """Yield what the user and the visibility of a search do not mean.

    Terms are kept for the whole project, so that a search of terms needs no user.
    """
    if scope.user_id is not None and scope.visibility in (Visibility.ORG, Visibility.SHARED):
        yield (
            f"user_id and visibility={scope.visibility.value} together mean this user's "
            f"{scope.visibility.value} memories only; leave user_id out for everybody's"
        )
    unlimited = scope.user_id is None and scope.visibility is None and not scope.userless
    if unlimited and set(sources) - {Source.TAXONOMIC}:
        yield (
            "neither user_id nor visibility is given: the memories of every user of the project "
            "were searched, private ones too"
        )


def of_sources(scope: Scope, sources: Collection[Source]) -> Iterator[str]:
    """Yield which listed sources cannot give anything."""
    if not sources:
        yield "enabled_sources is empty: nothing was searched"
    if Source.STM in sources and scope.session_id is None:
        yield "'stm' is the recent turns of a session, and no session_id is given: it has none"


def of_query(query: str, modes: Iterable[RetrievalMode]) -> Iterator[str]:
    """Yield why a search by words cannot find anything."""
    if query.strip() and RetrievalMode.TEXT in modes and not query_terms(query):
        yield "the query holds no letter or digit: a search by words finds nothing for it"


def of_legs(asked: RetrievalMode, ran: RetrievalMode) -> Iterator[str]:
    """Yield that a filter kept a search from one of its legs."""
    if ran is not asked:
        yield (
            f"the search ran in mode {ran.value}: the filter's keys are indexed for that leg only "
            "(memory.metadata_partition_index)"
        )


def of_refused(turns: int) -> Iterator[str]:
    """Yield why a context with a filter has no recent turns; `turns` did not pass it."""
    if turns:
        yield (
            f"no recent turn of this session passes the metadata_filter (looked at: {turns}); "
            "turns are compared by the metadata they were recorded with"
        )


def of_waiting(turns: int) -> Iterator[str]:
    """Yield where turns are which a context without short-term memory lacks."""
    if turns:
        yield (
            f"{turns} recent turns of this session are in short-term memory only; add "
            "'stm' to enabled_sources to have them in the context"
        )


def of_budget(max_tokens: int, needed: Sequence[int], *, kept: int) -> Iterator[str]:
    """Yield why nothing fits; `needed` has the tokens of each find, `kept` how many were kept."""
    if kept or not needed:
        return
    if max_tokens <= RESERVE:
        yield (
            f"max_tokens is {max_tokens}, and {RESERVE} tokens are reserved: no memory fits; "
            f"ask for more than {RESERVE}"
        )
        return
    yield (
        f"none of {len(needed)} finds fits: {max_tokens - RESERVE} tokens are left after the "
        f"reserve of {RESERVE}, and the shortest find takes {min(needed)}"
    )


def of_degraded(reasons: Iterable[str | None]) -> Iterator[str]:
    """Yield each reason once why the leg of meaning is missing."""
    yield from sorted({f"words only: {reason}" for reason in reasons if reason})
