"""Reading a question with the words of its users: the terms that memory has."""

from collections.abc import Sequence
from dataclasses import replace

from memory_server.domain.chunk import Source
from memory_server.domain.expansion import Expansion, expansion
from memory_server.domain.memory import Term
from memory_server.ports.search import Selection
from memory_server.ports.store import Store

MOST_TERMS = 32
"""Terms that are looked at for one question, those first that have the most of its words."""


class Glossary:
    """Looks terms up for searches."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def expansions(
        self, selection: Selection, query: str, words: Sequence[str]
    ) -> Sequence[Expansion]:
        """Return what else the question's words are called.

        Terms are read within the limits of the search they help, its filter too, so that nobody
        else's words reach it. Only the session is left out: terms have none.
        """
        if not words or selection.source is Source.TAXONOMIC:
            return ()
        own = replace(
            selection,
            source=Source.TAXONOMIC,
            custom_type=None,
            scope=replace(selection.scope, session_id=None),
            limit=MOST_TERMS,
        )
        hits = await self._store.search.text(own, words)
        if not hits:
            return ()
        found = await self._store.memories.get_many(own.scope, [hit.id for hit in hits])
        terms = [
            memory.body for memory in found if isinstance(memory.body, Term) and own.holds(memory)
        ]
        read = (expansion(query, term) for term in terms if term.query_expansion)
        return [one for one in read if one is not None]
