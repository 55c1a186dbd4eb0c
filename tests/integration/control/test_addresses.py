import os
import socket
from collections.abc import Iterator

import pytest

from agentengine_cli.control import addresses
from agentengine_cli.control.addresses import PortTaken
from tests.ports import free_port


@pytest.fixture
def taken() -> Iterator[int]:
    """A port this very process listens on."""
    with socket.create_server((addresses.HOST, 0)) as server:
        yield server.getsockname()[1]


def test_free_port_is_free() -> None:
    assert addresses.is_free(addresses.free_port())


def test_pinned_port_that_is_taken_is_refused_naming_the_owner(taken: int) -> None:
    with pytest.raises(PortTaken, match=rf"Port {taken} is in use by .*process {os.getpid()}"):
        addresses.choose(pinned=taken, recorded=None)


def test_first_server_takes_the_usual_port_if_it_can(usual_port: int) -> None:
    assert addresses.choose(pinned=None, recorded=None) == usual_port


def test_first_server_goes_elsewhere_when_the_usual_port_is_taken(
    taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "USUAL_PORT", taken)

    assert addresses.choose(pinned=None, recorded=None) != taken


def test_recorded_port_is_kept_while_it_is_free() -> None:
    port = free_port()

    assert addresses.choose(pinned=None, recorded=port) == port


def test_recorded_port_that_was_taken_meanwhile_is_given_up(taken: int) -> None:
    assert addresses.choose(pinned=None, recorded=taken) != taken


def test_who_has_the_usual_port_is_said_of_a_server_that_had_to_go_elsewhere(
    taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "USUAL_PORT", taken)

    assert addresses.in_the_way(taken) is None
    assert f"port 1, because {taken} is in use by" in str(addresses.in_the_way(1))
    assert f"process {os.getpid()}" in str(addresses.in_the_way(1))


def test_nobody_is_in_the_way_where_the_usual_port_is_free(usual_port: int) -> None:
    assert addresses.in_the_way(1) is None
