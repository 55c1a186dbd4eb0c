"""Whatever people paste, the rules read it without failing."""

import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.limits import MAX_READ_OF_TURN
from memory_server.domain.memory import BUILT_IN, MemoryType
from memory_server.errors import ProviderUnavailable
from memory_server.providers.extraction.rules import RuleExtractor, reading, semantic
from memory_server.providers.extraction.rules import extractor as extractor_module
from memory_server.providers.extraction.rules.language import guess
from memory_server.providers.extraction.rules.sentences import split
from tests.conversations import said

WORDS = st.sampled_from(
    "I I'm my we live work in at Boston love the a an not don't any more no longer named Rex two "
    "cats , . ? ! \" ' ( ) # > ``` : ; yo me llamo vivo en no soy remember forget that meant last "
    "week ago 2 3rd May yesterday to first then means \n 🥾 \u202e".split(" ")
)
PHRASES = st.lists(WORDS, max_size=30).map(" ".join)
HOSTILE = [
    "I live in " + "very " * 5000 + "Boston",
    '"I ' * 10_000,
    "\n" * 20_000,
    "<memory_context" * 3000,
    "[" * 20_000,
    "My " * 10_000,
    "I'm allergic to " + "nuts, " * 3000,
    "To do x, first a" + " then b" * 3000,
    "a" * 50_000,
]


@settings(max_examples=150, deadline=None)
@given(text=PHRASES | st.text(max_size=200), kind=st.sampled_from(BUILT_IN))
async def test_any_text_is_read_and_every_fact_has_a_value_and_evidence(
    text: str, kind: MemoryType
) -> None:
    talk = said(text, metadata={"date": "8 May 2023"})

    found = await RuleExtractor().extract(talk, kind)

    for candidate in found.candidates:
        assert candidate.turn_ids == ("t1",)
        assert candidate.body.key
        assert candidate.body.chunk_text.strip()


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", BUILT_IN)
async def test_text_made_to_be_slow_is_read_like_any_other(text: str, kind: MemoryType) -> None:
    found = await RuleExtractor().extract(said(text), kind)

    assert len(found.candidates) <= 1


@pytest.mark.parametrize("kind", [MemoryType.SEMANTIC, MemoryType.PROCEDURAL])
async def test_what_comes_after_the_bound_of_a_turn_is_not_read(kind: MemoryType) -> None:
    steps = "How to fix it:\n1. open the door\n2. look inside\n3. close the door\n"
    told = f"I live in Boston.\n{steps}"
    filler = "\n" * MAX_READ_OF_TURN

    assert (await RuleExtractor().extract(said(told + filler), kind)).candidates
    assert not (await RuleExtractor().extract(said(filler + told), kind)).candidates


async def test_what_is_longer_than_rules_read_is_reported_and_costs_no_half_sentence() -> None:
    told = (
        "I live in Rome. " * (MAX_READ_OF_TURN // 16 - 1) + "I live in New York. I have two cats."
    )

    found = await RuleExtractor().extract(said(told), MemoryType.SEMANTIC)

    assert {c.claim.value for c in found.candidates if c.claim} == {"Rome"}
    (rejected,) = found.rejected
    assert rejected.reason.startswith("longer than rules read: ")
    assert rejected.raw == "I live in New York. I have two cats."


async def test_conversation_is_read_up_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_READ_OF_CONVERSATION", 40)

    found = await RuleExtractor().extract(
        said("I live in Rome, by the river.", "I have two cats named Luna and Milo."),
        MemoryType.SEMANTIC,
    )

    assert [c.claim.attribute for c in found.candidates if c.claim] == ["residence"]
    assert [r.reason for r in found.rejected] == [
        "longer than rules read: 0 of 36 characters of turn 2 were read"
    ]


async def test_injected_context_takes_no_room_of_what_was_said() -> None:
    context = "<memory_context>" + "x" * MAX_READ_OF_TURN + "</memory_context>"

    found = await RuleExtractor().extract(said(f"{context} I live in Rome."), MemoryType.SEMANTIC)

    assert [c.claim.value for c in found.candidates if c.claim] == ["Rome"]
    assert found.rejected == ()


async def test_what_fits_is_read_whole_and_nothing_is_reported() -> None:
    assert (
        await RuleExtractor().extract(said("I live in Rome"), MemoryType.SEMANTIC)
    ).rejected == ()


async def test_closed_extractor_says_so() -> None:
    extractor = RuleExtractor()
    await extractor.close()

    with pytest.raises(ProviderUnavailable, match="closed"):
        await extractor.extract(said("I live in Boston."), MemoryType.SEMANTIC)


async def test_all_reading_of_an_extractor_shares_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: set[str] = set()
    read = semantic.extract

    def noting(conversation: Conversation) -> Sequence[Candidate]:
        seen.add(threading.current_thread().name)
        return read(conversation)

    monkeypatch.setitem(extractor_module._READERS, MemoryType.SEMANTIC, noting)
    extractor = RuleExtractor()
    talk = said("I live in Boston.")

    await asyncio.gather(*(extractor.extract(talk, MemoryType.SEMANTIC) for _ in range(8)))

    assert seen == {"rules_0"}


def test_sentences_end_where_they_end() -> None:
    text = "I met Dr. Lee at St. John's at 5 p.m. today. J. K. wrote 3.5 pages!\n- one\n2. two"

    assert split(text) == [
        "I met Dr. Lee at St. John's at 5 p.m. today.",
        "J. K. wrote 3.5 pages!",
        "one",
        "two",
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [("I live in Boston", "en"), ("Vivo en Madrid", "es"), ("No fumo", "es"), ("", "en")],
)
def test_language_is_told_by_small_words(text: str, language: str) -> None:
    assert guess(text) == language
