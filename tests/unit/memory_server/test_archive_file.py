"""Archives are checked whole, in whatever pieces they come, and cut into requests."""

import hashlib
import io
from collections.abc import Sequence

import pytest

from memory_server.client import ArchiveCheck, check, is_head, portions
from memory_server.client.archive_file import MOST_ITEMS
from memory_server.domain.archive import ArchivedTurn, End, Head, Item
from memory_server.domain.archive_lines import broken_line, end_line, head_line, item_line
from memory_server.domain.turn import Role, Turn
from memory_server.errors import InvalidArchive
from tests.clock import START


def a_turn(number: int, content: str = "said") -> ArchivedTurn:
    return ArchivedTurn(
        turn=Turn(
            id=f"t-{number}",
            project_id="shop",
            session_id="s",
            turn_seq=number,
            role=Role.USER,
            content=content,
            created_at=START,
        )
    )


def an_archive(items: Sequence[Item]) -> bytes:
    lines = head_line(Head(project_id="shop", exported_at=START))
    lines += b"".join(item_line(item) for item in items)
    digest = hashlib.sha256(lines).hexdigest()
    return lines + end_line(End(counts={"turn": len(items), "memory": 0}, digest=digest))


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_an_archive_is_whole_in_whatever_pieces_it_comes(size: int) -> None:
    archive = an_archive([a_turn(number) for number in range(1, 4)])
    checking = ArchiveCheck()

    for start in range(0, len(archive), size):
        checking.feed(archive[start : start + size])

    assert checking.finish().items == 3


def test_an_archive_without_the_last_line_feed_is_whole() -> None:
    assert check(io.BytesIO(an_archive([a_turn(1)]).rstrip())).items == 1


@pytest.mark.parametrize(
    ("archive", "told"),
    [
        (b"", "line 1: it is empty"),
        (b"{}\n", "does not begin an archive"),
        (an_archive([a_turn(1)]) + b"{}\n", "line 4: there is something after the end"),
        (an_archive([a_turn(1)]).replace(b"said", b"sang"), "digest is another one"),
        (an_archive([]).replace(b'"turn":0', b'"turn":9'), "lines were lost or added"),
        (head_line(Head(project_id="s", exported_at=START)), "cut short after 0 items"),
        (
            head_line(Head(project_id="s", exported_at=START)) + broken_line("the disk is full"),
            "line 2: the export broke off there: 'the disk is full'",
        ),
    ],
    ids=["empty", "foreign", "longer", "changed", "miscounted", "cut", "broken"],
)
def test_what_is_wrong_with_an_archive_is_told_with_its_place(archive: bytes, told: str) -> None:
    with pytest.raises(InvalidArchive, match=told):
        check(io.BytesIO(archive))


def test_a_request_carries_so_many_items_after_the_first_line() -> None:
    archive = an_archive([a_turn(number) for number in range(1, MOST_ITEMS + 2)])

    first, second = portions(io.BytesIO(archive))

    assert (first.items, first.first_line) == (MOST_ITEMS, 2)
    assert (second.items, second.first_line) == (1, MOST_ITEMS + 2)
    assert first.lines.splitlines()[0] == second.lines.splitlines()[0]
    assert len(first.lines.splitlines()) == MOST_ITEMS + 1


def test_large_items_are_sent_in_smaller_requests_each_item_once() -> None:
    large = [a_turn(number, "x" * 200_000) for number in range(1, 8)]
    archive = an_archive([*large, a_turn(8, "x" * 1_000_000)])

    sent = list(portions(io.BytesIO(archive)))

    assert [portion.items for portion in sent] == [2, 2, 2, 1, 1]
    assert b"".join(b"".join(one.lines.splitlines(keepends=True)[1:]) for one in sent) == b"".join(
        archive.splitlines(keepends=True)[1:-1]
    )


@pytest.mark.parametrize("line", [b"", b"[]", b'"x"', b'{"role": "user"}', b"[" * 100_000])
def test_conversations_are_no_archive(line: bytes) -> None:
    assert not is_head(line)
    assert is_head(an_archive([]).splitlines()[0])
