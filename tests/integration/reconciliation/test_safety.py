"""What must not be lost, mixed up or said again."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.memory import Episode, Fact, MemoryType
from memory_server.domain.scope import Scope
from memory_server.ports.store import Store
from memory_server.services.memories import MemoryKeeping, SaveRequest
from tests.chat_server import ChatServer, running, says_items
from tests.clock import CountingIds, ManualClock
from tests.integration.reconciliation.cases import NUTS, SMOKES, heard
from tests.integration.reconciliation.life import ANA, MODEL, RULES, Life, noted
from tests.integration.storage.mongo_stores import OnMongo
from tests.integration.storage.sqlite_stores import InFile, InMemory

BOTH = (MemoryType.SEMANTIC, MemoryType.EPISODIC)
ADAPTERS = pytest.mark.parametrize("adapter", [RULES, MODEL])


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
def life(store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer) -> Life:
    return Life(store=store, clock=clock, ids=ids, adapter=RULES, chat=chat)


class TestKeepsWhatItShould(InMemory):
    async def test_update_keeps_name_metadata_and_visibility_of_a_saved_fact(
        self, store: Store, life: Life
    ) -> None:
        keeping = MemoryKeeping(store=store, embedder=life.embedder, clock=life.clock, ids=life.ids)
        body = Fact(label="where_i_live", text="The user lives in Oslo.")
        saved = await keeping.save(
            ANA, SaveRequest(body=body, metadata={"tier": "gold", "n": 2**70}, upsert=True)
        )
        life.clock.advance(by=timedelta(days=1))
        said = [
            replace(heard(0, f"I live in {place}."), day=life.clock.now().isoformat())
            for place in ("Oslo", "Porto")
        ]

        await life.live_through(*said)

        (memory,) = await life.live()
        former, _ = await store.memories.history(ANA, memory.id)
        assert isinstance(memory.body, Fact)
        assert (memory.id, memory.body.label) == (saved.id, "where_i_live")
        assert memory.body.text == "The user lives in Porto."
        assert memory.metadata == {"tier": "gold", "n": 2**70}
        assert memory.visibility is saved.visibility
        assert former.body.chunk_text == "The user lives in Oslo."

    async def test_reinforcing_leaves_the_words_and_adds_the_evidence(self, life: Life) -> None:
        await life.live_through(
            heard(0, "I live in Oslo."), heard(1, "I'm based in Oslo these days.")
        )

        (memory,) = await life.live()
        assert memory.body.chunk_text == "The user lives in Oslo."
        assert [one.action for one in memory.evidence] == ["ADD", "REINFORCE"]
        assert all(one.reason for one in memory.evidence)

    async def test_ids_and_owners_in_a_models_answer_reach_no_other_memory(
        self, store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer
    ) -> None:
        bob = Scope(project_id="p", user_id="bob")
        his = Life(store=store, clock=clock, ids=ids, adapter=RULES, chat=chat, scope=bob)
        await his.live_through(heard(0, "I live in Oslo."))
        (target,) = await his.live()
        forged = noted("residence", "Rome", "The user lives in Rome.")
        forged |= {"id": target.id, "memory_id": target.id, "user_id": "bob", "action": "DELETE"}
        hers = Life(store=store, clock=clock, ids=ids, adapter=MODEL, chat=chat)

        await hers.live_through(heard(1, "I live in Rome.", model=[forged]))

        assert await his.live() == [target]
        assert await hers.texts() == []  # an item that claims whose it is, is refused

    async def test_texts_that_are_near_in_a_chain_stay_apart(
        self, store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer
    ) -> None:
        life = Life(store=store, clock=clock, ids=ids, adapter=MODEL, chat=chat)
        chain = [
            noted("allergic_to_nuts", "yes", "The user is allergic to nuts."),
            noted("allergic_to_eggs", "yes", "The user is allergic to eggs."),
            noted("likes_eggs", "yes", "The user is fond of eggs."),
            noted("likes_nuts", "yes", "The user is fond of nuts."),
        ]

        await life.live_through(
            *(heard(day, item["text"], model=[item]) for day, item in enumerate(chain))
        )

        assert sorted(await life.texts()) == sorted(item["text"] for item in chain)


class TestTakesBackEverywhere(InMemory):
    @ADAPTERS
    async def test_what_is_to_be_forgotten_goes_out_of_episodes(
        self, adapter: str, store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer
    ) -> None:
        life = Life(store=store, clock=clock, ids=ids, adapter=adapter, chat=chat, kinds=BOTH)
        first = heard(0, "I smoke ten a day.", "We went to Bergen in the rain.", model=[SMOKES])
        told = {
            "title": "The user smokes ten a day",
            "content": "The user smokes ten a day. They went to Bergen in the rain.",
            "evidence": [1, 2],
        }
        second = heard(
            1,
            "Forget that I smoke.",
            "We saw a whale today.",
            model=[SMOKES | {"retracts": True}],
        )
        seen = {"title": "A whale", "content": "The user saw a whale.", "evidence": [2]}

        await life.live_through(replace(first, episode=told), replace(second, episode=seen))

        texts = await life.texts(MemoryType.EPISODIC)
        titles = [memory.body.key for memory in await life.live(MemoryType.EPISODIC)]
        assert len(texts) == 2
        assert not [text for text in (*texts, *titles) if "smoke" in text]
        assert any("Bergen" in text for text in texts)
        assert any("whale" in text for text in texts)

    async def test_episode_of_nothing_else_ends(self, store: Store, life: Life) -> None:
        life = replace(life, kinds=BOTH)

        await life.live_through(heard(0, "I smoke."), heard(1, "Forget that I smoke."))

        assert await life.texts(MemoryType.EPISODIC) == []

    async def test_one_conversation_that_says_it_and_takes_it_back_tells_neither(
        self, life: Life
    ) -> None:
        life = replace(life, kinds=BOTH)

        await life.live_through(
            heard(0, "I smoke.", "We went to Bergen.", "Please forget that I smoke.")
        )

        assert not [text for text in await life.texts() if "smoke" in text]
        (episode,) = await life.live(MemoryType.EPISODIC)
        assert isinstance(episode.body, Episode)
        assert "smoke" not in f"{episode.body.title} {episode.body.content}"

    async def test_former_words_of_an_episode_stay_in_its_history(
        self, store: Store, life: Life
    ) -> None:
        life = replace(life, kinds=BOTH)

        await life.live_through(
            heard(0, "I smoke.", "We went to Bergen."), heard(1, "Forget that I smoke.")
        )

        (episode,) = await life.live(MemoryType.EPISODIC)
        former, latest = await store.memories.history(ANA, episode.id)
        assert ("I smoke" in former.body.chunk_text, "smoke" in latest.body.chunk_text) == (
            True,
            False,
        )
        assert latest.evidence[-1].reason == "tells what the user took back"


class OneLiveVersion:
    """Two sessions of one user, worked off at once by two workers."""

    @ADAPTERS
    async def test_two_conversations_at_once_end_in_one_live_version(
        self, adapter: str, store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer
    ) -> None:
        life = Life(store=store, clock=clock, ids=ids, adapter=adapter, chat=chat)
        same = heard(0, "I'm allergic to nuts.", model=[NUTS])
        chat.default = says_items(*same.model)
        for session in ("s1", "s2", "s3"):
            await life.record(session, same)
        await life.promotion.flush("p")

        await asyncio.gather(*(life.runner(f"w{n}").run_until_idle() for n in range(2)))
        clock.advance(by=timedelta(hours=1))
        await life.runner().run_until_idle()

        (memory,) = await life.live()
        assert memory.body.chunk_text == "The user is allergic to nuts."
        assert sorted(one.session_id for one in memory.evidence) == ["s1", "s2", "s3"]

    async def test_other_values_at_once_end_in_one_live_version_and_one_history(
        self, store: Store, life: Life
    ) -> None:
        for session, place in (("s1", "Oslo"), ("s2", "Rome"), ("s3", "Porto")):
            await life.record(session, heard(int(session[1]), f"I live in {place}."))
        await life.promotion.flush("p")

        await asyncio.gather(*(life.runner(f"w{n}").run_until_idle() for n in range(2)))
        life.clock.advance(by=timedelta(hours=1))
        await life.runner().run_until_idle()

        (memory,) = await life.live()
        versions = await store.memories.history(ANA, memory.id)
        assert memory.body.chunk_text == "The user lives in Porto."
        assert {one.body.chunk_text for one in versions} == {
            f"The user lives in {place}." for place in ("Oslo", "Rome", "Porto")
        }


class TestOneLiveVersionInAFile(InFile, OneLiveVersion):
    pass


class TestOneLiveVersionInMongo(OnMongo, OneLiveVersion):
    pass
