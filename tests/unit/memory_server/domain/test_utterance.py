from datetime import UTC, datetime

from memory_server.domain.exchange import Viewpoint
from memory_server.domain.utterance import Dialogue, Line, one_of_each, seen_by_each

NOW = datetime(2026, 4, 1, tzinfo=UTC)
LINES = [
    Line("user", "Ana", "hi"),
    Line("assistant", "Bot", "HELLO"),
    Line("assistant", "Bot", "BYE"),
]
DIALOGUE = Dialogue("s", Viewpoint.USER, LINES, NOW)


def test_one_block_of_an_exchange_tells_what_each_of_the_others_sees() -> None:
    reply = DIALOGUE.seen_by("x.assistant")
    assert (reply.id, reply.session, reply.said_at) == ("x.assistant", "s", NOW)
    assert (reply.role, reply.speaker, reply.text) == ("assistant", "Bot", "HELLO\nBYE")
    asked = DIALOGUE.seen_by("x.user")
    assert (asked.role, asked.speaker, asked.text) == ("user", "Ana", "hi")
    whole = DIALOGUE.seen_by("x.sequential")
    assert (whole.speaker, whole.text) == ("Ana and Bot", "hi\nHELLO\nBYE")


def test_a_block_whose_id_tells_no_viewpoint_is_seen_by_its_own() -> None:
    assert DIALOGUE.seen_by("taken.from.elsewhere").text == "hi"


def test_of_each_exchange_one_block_is_read() -> None:
    ids = ["a.user", "b.assistant", "a.assistant", "b.user"]
    read_for = one_of_each(ids)
    assert read_for == {
        "a.user": "a.user",
        "b.assistant": "b.assistant",
        "a.assistant": "a.user",
        "b.user": "b.assistant",
    }
    gone = seen_by_each(read_for, {"a.user": DIALOGUE})
    assert [one.id for one in gone] == ["a.user", "a.assistant"]
