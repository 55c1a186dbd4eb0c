"""Fixtures every test may ask for."""

import os
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.conformance")

from agentengine_cli.control import process  # noqa: E402 asserts are rewritten first
from memory_server.settings import SECRET_NAMES  # noqa: E402 asserts are rewritten first
from tests import mongo  # noqa: E402 asserts are rewritten first
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


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves when it is told to."""
    return ManualClock()


@pytest.fixture
def ids() -> CountingIds:
    """Ids in the order in which they are made."""
    return CountingIds()
