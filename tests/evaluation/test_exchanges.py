import pytest

from evaluation.exchanges import exchanges_of
from tests.evaluation.talk import SAID, a_conversation


def grouped(roles: str, sessions: str | None = None) -> list[str]:
    """Return the exchanges of turns given by the letters of their roles and sessions."""
    said = [
        (session, "user" if role == "u" else "assistant", "text", SAID[0][3])
        for role, session in zip(roles, sessions or "s" * len(roles), strict=True)
    ]
    names = exchanges_of(a_conversation(said=said).turns)
    groups: dict[str, str] = {}
    for role, name in zip(roles, names.values(), strict=True):
        groups[name] = groups.get(name, "") + role
    return list(groups.values())


@pytest.mark.parametrize(
    ("roles", "exchanges"),
    [
        ("ua", ["ua"]),
        ("uaua", ["ua", "ua"]),
        ("uuaau", ["uuaa", "u"]),
        ("aua", ["a", "ua"]),
        ("", []),
    ],
)
def test_what_a_user_says_and_the_reply_are_one_exchange(roles: str, exchanges: list[str]) -> None:
    assert grouped(roles) == exchanges


def test_no_exchange_spans_sessions() -> None:
    assert grouped("uaua", "sstt") == ["ua", "ua"]
    assert grouped("ua", "st") == ["u", "a"]
