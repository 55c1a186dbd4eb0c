"""The index in the SQLite store keeps every promise of the port, in a file and in memory."""

from tests.conformance.filters import FiltersContract
from tests.conformance.search import SearchContract
from tests.integration.storage.sqlite_stores import InFile, InMemory


class TestSearchInFile(InFile, SearchContract):
    pass


class TestSearchInMemory(InMemory, SearchContract):
    pass


class TestFiltersInFile(InFile, FiltersContract):
    pass


class TestFiltersInMemory(InMemory, FiltersContract):
    pass
