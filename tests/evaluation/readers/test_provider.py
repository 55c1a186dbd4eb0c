from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from evaluation.chat import ChatModel
from evaluation.prompts import reader_prompts
from evaluation.readers.opening import open_model_reader
from evaluation.readers.reader import Reader
from evaluation.records import FoundItem
from evaluation.suite import ModelChoice
from memory_server.errors import InvalidRequest
from tests.chat_server import ChatServer, running, says

SAID = datetime(2023, 3, 15, 13, 56, tzinfo=UTC)
ITEM = FoundItem(id="1", source="stm", content="Ann: I like tea.", score=None, tokens=5, at=SAID)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with running() as chat:
        yield chat


@asynccontextmanager
async def reading(server: ChatServer, prompt: str) -> AsyncIterator[Reader]:
    choice = ModelChoice(provider="openai", model="tiny", base_url=server.url)
    reader = open_model_reader(ChatModel(choice, environment={}), prompt)
    try:
        yield reader
    finally:
        await reader.close()


async def test_the_model_reads_the_question_and_what_was_found(server: ChatServer) -> None:
    server.will(says("tea "))

    async with reading(server, "short") as reader:
        answered = await reader.read("What does Ann like?", [ITEM], asked_at=None)

    told = str(server.received[0].messages)
    assert answered.answer == "tea"
    assert (answered.tokens_in, answered.tokens_out) == (11, 7)
    assert "- [15 March 2023] Ann: I like tea." in told
    assert "What does Ann like?" in told
    assert server.received[0].body["temperature"] == 0.0
    assert reader.name == "openai:tiny"


async def test_notes_before_the_answer_are_left_out(server: ChatServer) -> None:
    server.will(says("Note 1: she likes tea.\n**Answer:** tea"))

    async with reading(server, "chain_of_note") as reader:
        answered = await reader.read("What does Ann like?", [ITEM], asked_at=SAID)

    assert answered.answer == "tea"
    assert "Today: Wednesday, 15 March 2023" in str(server.received[0].messages)


async def test_an_answer_without_its_mark_is_kept_whole(server: ChatServer) -> None:
    server.will(says("She likes tea."))

    async with reading(server, "chain_of_note") as reader:
        answered = await reader.read("What does Ann like?", [ITEM], asked_at=None)

    assert answered.answer == "She likes tea."


async def test_what_was_found_is_never_read_as_a_template(server: ChatServer) -> None:
    item = ITEM.model_copy(update={"content": "It costs $question or $5"})
    server.will(says("x"))

    async with reading(server, "short") as reader:
        await reader.read("How much?", [item], asked_at=None)

    assert "It costs $question or $5" in str(server.received[0].messages)


def test_prompts_differ_in_their_digests() -> None:
    choice = ModelChoice(provider="openai", model="tiny")
    readers = [open_model_reader(ChatModel(choice), prompt) for prompt in reader_prompts()]

    assert len({reader.digest for reader in readers}) == len(readers) == 3


def test_an_unknown_prompt_is_refused_with_those_there_are() -> None:
    choice = ModelChoice(provider="openai", model="tiny")

    with pytest.raises(InvalidRequest, match=r"no prompt 'long'; there are chain_of_note, direct"):
        open_model_reader(ChatModel(choice), "long")
