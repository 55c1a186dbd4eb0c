"""Whose memory it is, as conditions that a document must match."""

import pytest

from memory_server.domain.scope import Visibility
from tests.factories import PROJECT, a_scope


def test_a_scope_is_the_and_of_what_it_names() -> None:
    scope = a_scope(session_id="monday", visibility=Visibility.ORG)

    assert list(scope.conditions()) == [
        ("project_id", PROJECT),
        ("user_id", "ana"),
        ("session_id", "monday"),
        ("visibility", "org"),
    ]


def test_without_a_user_a_scope_is_everybodys() -> None:
    assert list(a_scope(user_id=None).conditions()) == [("project_id", PROJECT)]


def test_a_userless_scope_demands_that_there_is_no_user() -> None:
    scope = a_scope(user_id=None, userless=True)

    assert list(scope.conditions()) == [("project_id", PROJECT), ("user_id", None)]


def test_the_owner_of_a_userless_scope_stays_nobody() -> None:
    scope = a_scope(user_id=None, userless=True, session_id="monday", agent_id="planner")

    assert scope.of_user() == a_scope(user_id=None, userless=True)


@pytest.mark.parametrize("user_id", ["ana", ""])
def test_a_scope_cannot_be_of_a_user_and_of_none(user_id: str) -> None:
    with pytest.raises(ValueError, match="userless"):
        a_scope(user_id=user_id, userless=True)
