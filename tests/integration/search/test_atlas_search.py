"""The index over Atlas Search keeps every promise of the port, as far as a stand-in can tell."""

from tests.conformance.blocks import BlocksContract
from tests.conformance.filters import FiltersContract
from tests.conformance.search import SearchContract
from tests.conformance.search_vectors import VectorsContract
from tests.conformance.search_words import WordsContract
from tests.integration.search.atlas_stores import OnAtlas


class TestSearch(OnAtlas, SearchContract):
    pass


class TestWords(OnAtlas, WordsContract):
    pass


class TestVectors(OnAtlas, VectorsContract):
    pass


class TestBlocks(OnAtlas, BlocksContract):
    pass


class TestFilters(OnAtlas, FiltersContract):
    pass
