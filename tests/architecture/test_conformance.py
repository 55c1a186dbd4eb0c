"""Every suite of promises runs on every adapter of its port, but for the reasons written here."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.conformance
import tests.integration.search
import tests.integration.storage
from tests.integration.search.atlas_stores import OnAtlas
from tests.integration.storage.mongo_stores import OnMongo
from tests.integration.storage.sqlite_stores import InFile, InMemory

STORES = (InFile, InMemory, OnMongo)
INDEXES = (*STORES, OnAtlas)
"""Where the adapters of the search index are; they come with a store each."""
INDEX_SUITES = (
    "BlocksContract",
    "FiltersContract",
    "SearchContract",
    "VectorsContract",
    "WordsContract",
)
NOT_ON = {("DurableStoreContract", InMemory): "it keeps nothing once it is closed"}


def modules_below(package: object, pattern: str) -> Iterator[object]:
    """Yield the modules of a package whose names match."""
    [folder] = package.__path__  # type: ignore[attr-defined]
    root = Path(folder)
    for path in sorted(root.rglob(pattern)):
        if path.stem != "__init__":
            dotted = ".".join(path.relative_to(root).with_suffix("").parts)
            yield importlib.import_module(f"{package.__name__}.{dotted}")  # type: ignore[attr-defined]


def classes_of(module: object) -> list[type]:
    """Return the classes that a module defines."""
    own = module.__name__  # type: ignore[attr-defined]
    return [cls for _, cls in inspect.getmembers(module, inspect.isclass) if cls.__module__ == own]


def asks_for_a_store(suite: type) -> bool:
    """Whether a suite is one of the promises of a store."""
    return "store: Store" in inspect.getsource(suite)


SUITES = [
    suite
    for module in modules_below(tests.conformance, "*.py")
    for suite in classes_of(module)
    if suite.__name__.endswith("Contract") and asks_for_a_store(suite)
]
RUN = [
    cls
    for package in (tests.integration.storage, tests.integration.search)
    for module in modules_below(package, "test_*.py")
    for cls in classes_of(module)
]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__)
def test_suite_runs_once_on_every_adapter(suite: type) -> None:
    adapters = INDEXES if suite.__name__ in INDEX_SUITES else STORES
    wanted = [one for one in adapters if (suite.__name__, one) not in NOT_ON]

    runs = [one for cls in RUN if issubclass(cls, suite) for one in INDEXES if issubclass(cls, one)]

    assert sorted(one.__name__ for one in runs) == sorted(one.__name__ for one in wanted)


def test_exceptions_and_suites_of_indexes_are_suites() -> None:
    names = {suite.__name__ for suite in SUITES}

    assert names.issuperset(INDEX_SUITES)
    assert names.issuperset(suite for suite, _ in NOT_ON)
