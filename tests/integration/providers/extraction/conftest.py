"""The chat server for each test."""

from collections.abc import Iterator

import pytest

from tests.chat_server import ChatServer, running


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    with running() as server:
        yield server
