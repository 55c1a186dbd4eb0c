"""The index in the SQLite store keeps every promise of the port, in a file and in memory."""

from memory_server.domain.chunk import Source
from memory_server.ports.store import Store
from tests.conformance.filters import FiltersContract
from tests.conformance.search import SearchContract, a_selection, ids, say
from tests.conformance.search_vectors import VectorsContract
from tests.conformance.search_words import WordsContract
from tests.factories import a_turn
from tests.integration.storage.sqlite_stores import InFile, InMemory


class TestSearchInFile(InFile, SearchContract):
    pass


class TestSearchInMemory(InMemory, SearchContract):
    pass


class TestWordsInFile(InFile, WordsContract):
    pass


class TestWordsInMemory(InMemory, WordsContract):
    pass


class TestVectorsInFile(InFile, VectorsContract):
    pass


class TestVectorsInMemory(InMemory, VectorsContract):
    pass


class TestFiltersInFile(InFile, FiltersContract):
    pass


class TestFiltersInMemory(InMemory, FiltersContract):
    pass


class TestNeighbours(InFile):
    async def test_a_turn_is_found_by_the_two_that_followed_it(self, store: Store) -> None:
        await say(store, first := a_turn("Guess"), a_turn("Well?"), third := a_turn("A cello"))

        found = await ids(store, "text", a_selection(Source.STM), "cello")

        assert found == [third.id, first.id]
