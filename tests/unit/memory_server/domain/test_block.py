from datetime import UTC, datetime
from typing import Any

import pytest

from memory_server.domain.block import (
    Exchange,
    Message,
    block_id,
    blocks_of,
    each_once,
    exchange_of,
    pair,
)
from memory_server.domain.exchange import BOTH, Viewpoint
from memory_server.domain.memory import embedded_text
from memory_server.domain.turn import Role


def said(text: str, **metadata: Any) -> Message:
    """Return a message: of the user in small letters, of the assistant in capitals."""
    role = Role.ASSISTANT if text.isupper() else Role.USER
    return Message(role=role, content=text, metadata=metadata)


@pytest.mark.parametrize(
    ("messages", "exchanges"),
    [
        ("a A", ["aA"]),
        ("a A b B", ["aA", "bB"]),
        ("A a B", ["A", "aB"]),
        ("a A b", ["aA", "b"]),
        ("a b A B c", ["abAB", "c"]),
        ("A", ["A"]),
        ("a", ["a"]),
    ],
)
def test_what_a_user_says_is_paired_with_the_replies_to_it(
    messages: str, exchanges: list[str]
) -> None:
    found = pair([said(text) for text in messages.split()])

    assert ["".join(one.content for one in exchange.messages) for exchange in found] == exchanges


def blocks(exchange: Exchange, *viewpoints: Viewpoint, **changes: Any) -> list[Any]:
    values: dict[str, Any] = {
        "exchange_id": "x",
        "conversation_id": "c",
        "position": 1,
        "viewpoints": viewpoints or BOTH,
        "said_at": None,
        "annotations": {},
        "context_required": False,
    }
    return list(blocks_of(exchange, **values | changes))


def test_a_block_is_bound_to_whoever_spoke() -> None:
    exchange = Exchange(messages=[said("hi", speaker="Ana"), said("HELLO", speaker="Ben")])

    assert [block.speaker for block in blocks(exchange)] == ["Ana", "Ben"]
    assert [block.speaker for block in blocks(exchange, Viewpoint.SEQUENTIAL)] == ["Ana and Ben"]
    assert {block.message for block in blocks(exchange)} == {"Ana: hi\nBen: HELLO"}


def test_whoever_said_nothing_has_no_view() -> None:
    assert [block.viewpoint for block in blocks(Exchange(messages=[said("hi")]))] == ["user"]


def test_the_time_is_told_in_words_and_found_but_not_embedded() -> None:
    (block,) = blocks(
        Exchange(messages=[said("hi")]),
        said_at=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        annotations={"mood": "glad"},
    )

    assert block.annotations == {"mood": "glad", "time": "8 May 2023", "conversation_id": "c"}
    assert block.index_text == "8 May 2023 user: hi"
    assert embedded_text(block) == "user: hi"


@pytest.mark.parametrize(
    ("messages", "otherwise", "year"),
    [
        ([said("hi", date="2021-01-01"), said("HI", date="2022-01-01")], {}, 2021),
        ([said("hi"), said("HI", date="2022-01-01")], {"date": "2023-01-01"}, 2022),
        ([said("hi")], {"timestamp": "2023-01-01T10:00:00Z"}, 2023),
        ([said("[2020-05-08] hi")], {}, 2020),
    ],
)
def test_an_exchange_began_when_its_messages_say_or_the_request_does(
    messages: list[Message], otherwise: dict[str, Any], year: int
) -> None:
    moment = Exchange(messages=messages).said_at(otherwise)

    assert moment is not None
    assert moment.year == year


def test_the_id_of_a_block_tells_its_exchange() -> None:
    ids = [block_id(one, view) for one in ("x", "y") for view in ("assistant", "user")]

    assert [exchange_of(one) for one in ids] == ["x", "x", "y", "y"]
    assert each_once([1, 2, 3, 4], ids) == [1, 3]
    assert exchange_of("taken-from-elsewhere") == "taken-from-elsewhere"
