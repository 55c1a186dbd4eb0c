"""The index over a MongoDB database keeps every promise of the port, on a real server."""

from tests.conformance.filters import FiltersContract
from tests.conformance.search import SearchContract
from tests.conformance.search_vectors import VectorsContract
from tests.conformance.search_words import WordsContract
from tests.integration.storage.mongo_stores import OnMongo


class TestSearch(OnMongo, SearchContract):
    pass


class TestWords(OnMongo, WordsContract):
    pass


class TestVectors(OnMongo, VectorsContract):
    pass


class TestFilters(OnMongo, FiltersContract):
    pass
