"""The index in the SQLite store keeps every promise of the port, in a file and in memory."""

from tests.conformance.filters import FiltersContract
from tests.conformance.search import SearchContract
from tests.conformance.search_vectors import VectorsContract
from tests.conformance.search_words import WordsContract
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
