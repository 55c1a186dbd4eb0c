"""Fixtures every test may ask for."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.conformance")

from agentengine_cli.control import process  # noqa: E402 asserts are rewritten first
from memory_server.settings import SECRET_NAMES  # noqa: E402 asserts are rewritten first
from tests import homes, mongo  # noqa: E402 asserts are rewritten first
from tests.clock import CountingIds, ManualClock  # noqa: E402 asserts are rewritten first

_OURS = ("AGENTENGINE_", "MONGOMEM_")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take out what the developer's own environment would change: keys, addresses, projects."""
    for name in list(os.environ):
        if name in (*SECRET_NAMES, "PROJECT_ID", "ORG_ID") or name.startswith(_OURS):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _collected() -> Iterator[None]:
    """Collect the processes that tests started and ended from outside, as their parent must."""
    yield
    for child in process._children.values():
        child.poll()


@pytest.fixture(scope="session")
def mongodb() -> Iterator[str]:
    """The address of a MongoDB deployment that all tests of the run share."""
    with mongo.deployment() as uri:
        yield uri


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run one worker more than there are processors: each waits for processes most of the time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Let a worker tell of text that is no UTF-8, which tests log and print."""
    return _told((yield))


def _told(told: Any) -> Any:
    if isinstance(told, str):
        return told.encode("utf-8", "backslashreplace").decode()
    if isinstance(told, dict):
        return {_told(name): _told(value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return type(told)(map(_told, told))
    return told


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run on both stores what is marked so."""
    if "store_kind" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_stores") is not None
        if len(kinds := homes.kinds(both=both)) > 1:
            metafunc.parametrize("store_kind", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def store_kind(request: pytest.FixtureRequest) -> str:
    """Which store a test is on."""
    [alone] = homes.kinds(both=False)
    kind: str = getattr(request, "param", alone)
    return kind


@pytest.fixture(scope="session")
def a_home(
    store_kind: str, request: pytest.FixtureRequest
) -> Callable[[], AbstractContextManager[homes.Home]]:
    """Make homes of that kind."""
    if store_kind == homes.SQLITE:
        return homes.in_sqlite
    return partial(homes.in_mongodb, request.getfixturevalue("mongodb"))


@pytest.fixture
def home(a_home: Callable[[], AbstractContextManager[homes.Home]]) -> Iterator[homes.Home]:
    """Where the servers of one test keep memory."""
    with a_home() as home:
        yield home


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves when it is told to."""
    return ManualClock()


@pytest.fixture
def ids() -> CountingIds:
    """Ids in the order in which they are made."""
    return CountingIds()
