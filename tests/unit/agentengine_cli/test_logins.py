from pathlib import Path

import pytest

from agentengine_cli.control.files import StateDamaged
from tests.unit.agentengine_cli.control.manual_clock import ManualClock
from tests.unit.agentengine_cli.logged_in import URL, a_login, keep

OTHER = "https://other.example.com"
NOW = "2026-05-04T03:02:01+00:00"


def test_a_login_takes_the_place_of_the_one_for_the_same_server_and_project(
    tmp_path: Path,
) -> None:
    file = keep(tmp_path, a_login(id="ana"), a_login(project_id="q"), a_login(id="bob"))

    assert sorted((login.project_id, login.id) for login in file.all()) == [
        ("p", "bob"),
        ("q", "ana"),
    ]


def test_the_login_of_the_project_is_found_else_one_that_is_tied_to_none(tmp_path: Path) -> None:
    own, any_project = a_login(), a_login(project_id=None, id="owner", kind="owner")
    file = keep(tmp_path, any_project, own)

    assert file.find(URL, "p") == own
    assert file.find(URL, "q") == any_project
    assert file.find(URL, None) == own
    assert file.find(OTHER, "p") is None


def test_a_login_for_another_project_is_not_shown_to_this_one(tmp_path: Path) -> None:
    assert keep(tmp_path, a_login()).find(URL, "q") is None


def test_what_is_forgotten_goes_though_it_was_renewed_and_the_others_stay(tmp_path: Path) -> None:
    ended = a_login()
    file = keep(tmp_path, ended, a_login(base_url=OTHER), a_login(access_token="renewed"))

    file.forget([ended])

    assert [login.base_url for login in file.all()] == [OTHER]


@pytest.mark.parametrize(
    ("place", "is_meant"),
    [((None, None), True), ((URL, "p"), True), ((URL, "q"), False), ((OTHER, None), False)],
)
def test_a_login_is_meant_by_its_server_and_project(
    place: tuple[str | None, str | None], is_meant: bool
) -> None:
    assert a_login().is_meant(*place) is is_meant


def test_a_damaged_file_is_told_without_what_it_holds(tmp_path: Path) -> None:
    file = keep(tmp_path, a_login())
    file.directory.auth.write_text('{"logins": {"u": [{"access_token": "the-access-token"}]}}')

    with pytest.raises(StateDamaged, match="auth login") as told:
        file.all()

    assert "the-access-token" not in str(told.value)


@pytest.mark.parametrize(
    ("expires_at", "expired", "due"),
    [
        (None, False, False),
        ("2026-05-04T03:02:00+00:00", True, True),
        ("2026-05-04T03:02:30+00:00", False, True),
        ("2026-05-04T03:12:00+00:00", False, False),
    ],
)
def test_a_token_is_renewed_a_little_before_it_ends(
    expires_at: str | None, expired: bool, due: bool
) -> None:
    login = a_login(expires_at=expires_at)

    assert (login.is_expired(ManualClock()), login.is_due(ManualClock())) == (expired, due)


def test_tokens_are_in_no_representation() -> None:
    shown = f"{a_login()!r} {a_login().public(ManualClock())}"

    assert "the-access-token" not in shown
    assert "the-refresh-token" not in shown
