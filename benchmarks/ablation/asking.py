"""Questions put to both legs once, and what each step makes of the answers."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.ablation.steps import (
    SHIPPED,
    TOP,
    Meaning,
    Step,
    Stored,
    Unit,
    Words,
    found_by,
)
from benchmarks.ablation.world import PROJECT, SOURCES, Recorded, World
from evaluation.conversations import Question
from evaluation.metrics.retrieval import Ranking, recall, reciprocal_rank
from memory_server.domain.chunk import Chunk
from memory_server.domain.expansion import answered
from memory_server.domain.ranking import Legs, asks_for_present, coverage, fuse
from memory_server.domain.relevance import CANDIDATES, asked_about, telling_of
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.domain.utterance import Utterance
from memory_server.domain.words import query_terms
from memory_server.ports.search import Hit
from memory_server.services.reranking import Reranking
from memory_server.services.search import SearchRequest

PATIENCE = 120.0
"""Seconds for a rerank: what it takes is told beside what it is worth."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well one step does by one question."""

    recall: Mapping[int, float]
    """By the number of finds: 5, 10, 20."""
    reciprocal: float
    milliseconds: float
    """From the question to the order, one part of it after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one question."""

    category: str
    wants_present: bool
    scores: Mapping[str, Score]
    """By step."""
    ceiling: float
    """Recall of the candidates whose evidence is weighed."""
    is_as_served: bool
    """Whether the shipped order measured here is that of the server's own search."""
    spent: Mapping[str, float]
    """Milliseconds by stage."""


@dataclass(slots=True)
class _Answers:
    """What the legs say of one question, asked in each way."""

    text: dict[Words, Mapping[str, float]] = field(default_factory=dict)
    covered: dict[Words, float] = field(default_factory=dict)
    vector: dict[Meaning, Mapping[str, float]] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)


class Asking:
    """Asks one question after the other."""

    def __init__(self, world: World, steps: Sequence[Step]) -> None:
        self._world = world
        self._steps = steps
        self._embedder = world.app.providers.embedder
        self._reranking = Reranking(world.app.providers.reranker, seconds=PATIENCE)

    async def ask(self, questions: Sequence[Question]) -> AsyncIterator[Outcome]:
        """Yield what comes of each question; the first is asked twice, to warm up."""
        for question in questions[:1]:
            await self._asked(question)
        for question in questions:
            yield await self._asked(question)

    async def _asked(self, question: Question) -> Outcome:
        recorded = self._world.recorded[question.conversation]
        request = SearchRequest(
            scope=Scope(project_id=PROJECT, user_id=recorded.user_id),
            source=SOURCES[self._world.unit],
            query=question.text,
            top_k=TOP,
        )
        answers = await self._legs(request, recorded)
        orders: dict[str, tuple[Sequence[Chunk], float]] = {}
        for step in self._steps:
            orders[step.name] = await self._order(step, question.text, answers, recorded)
        found, answers.spent["whole search"] = await _timed(
            self._world.app.retrieval.search(request)
        )
        fused = [one.id for one in fuse(self._joined(SHIPPED, answers))][:CANDIDATES]
        self._time_parts(question.text, answers, [recorded.said[name] for name in fused])
        shipped = [chunk.id for chunk in orders[SHIPPED.name][0]]
        return Outcome(
            category=question.category,
            wants_present=asks_for_present(question.text),
            scores={
                name: _score([recorded.brings[chunk.id] for chunk in chunks], question, spent)
                for name, (chunks, spent) in orders.items()
            },
            ceiling=recall(
                [recorded.brings[name] for name in fused], question.evidence, CANDIDATES
            ),
            is_as_served=[chunk.id for chunk in found.chunks] == shipped,
            spent=answers.spent,
        )

    async def _legs(self, request: SearchRequest, recorded: Recorded) -> _Answers:
        """Ask every index that a step needs; what the question names is read once."""
        answers = _Answers()
        question = self._world.app.retrieval.question(request.query)
        vector, answers.spent["question embedded"] = await _timed(question.vector())
        assert vector is not None
        for words in dict.fromkeys(step.words for step in self._steps if step.words):
            terms = terms_of(request.query, words)
            store = self._world.words[words]
            answers.text[words], answers.spent[f"words: {words}"] = await _timed(
                _scores(store.search.text(request.selection, terms))
            )
            answers.covered[words] = _covered(terms, answers.text[words], recorded.stored)
        for meaning in dict.fromkeys(step.meaning for step in self._steps if step.meaning):
            index = self._world.meaning[meaning].search
            answers.vector[meaning], answers.spent[f"meaning: {meaning}"] = await _timed(
                _scores(index.vector(request.selection, vector, self._embedder.space))
            )
        ids = [one.id for one in fuse(self._joined(SHIPPED, answers))]
        store = self._world.words[Words.SHIPPED]
        reads_memories = self._world.unit is Unit.BLOCKS
        _, answers.spent["candidates read"] = await _timed(
            store.memories.utterances(request.scope, ids[:CANDIDATES])
            if reads_memories
            else store.turns.utterances(PROJECT, ids[:CANDIDATES])
        )
        _, answers.spent["shown read"] = await _timed(
            store.memories.get_many(request.scope, ids[:TOP])
            if reads_memories
            else store.turns.get_many(PROJECT, ids[:TOP])
        )
        return answers

    def _joined(self, step: Step, answers: _Answers) -> Legs:
        return Legs(
            text=None if step.words is None else answers.text[step.words],
            vector=None if step.meaning is None else answers.vector[step.meaning],
            covered=1.0 if step.words is None else answers.covered[step.words],
            space=self._embedder.space,
        )

    async def _order(
        self, step: Step, query: str, answers: _Answers, recorded: Recorded
    ) -> tuple[Sequence[Chunk], float]:
        """Return a step's finds, and the milliseconds to there from the question."""
        legs = self._joined(step, answers)
        chunks, spent = _computed(
            lambda: found_by(step, query, legs, recorded.stored, recorded.said)
        )
        if step is SHIPPED:
            answers.spent["order made"] = spent
        if step.reranks:
            reordered, took = await _timed(self._reranking.order(query, chunks))
            if reordered.failure:
                raise SystemExit(f"nothing was reranked: {reordered.failure}")
            chunks, spent = reordered.chunks, spent + took
            answers.spent["rerank"] = took
        spent += answers.spent["shown read"]
        if step.parts is not None and legs.are_both:
            spent += answers.spent["candidates read"]
        if step.words is not None:
            spent += answers.spent[f"words: {step.words}"]
        if step.meaning is not None:
            spent += answers.spent["question embedded"] + answers.spent[f"meaning: {step.meaning}"]
        return chunks, spent

    def _time_parts(self, query: str, answers: _Answers, said: Sequence[Utterance]) -> None:
        """Note what the parts of the score by evidence take that read anything."""
        legs = self._joined(SHIPPED, answers)
        speakers = {one.speaker: one.role for one in said}
        spent = answers.spent
        _, spent["fusion"] = _computed(lambda: fuse(legs))
        _, spent["evidence: what is told"] = _computed(
            lambda: [telling_of.__wrapped__(one.text) for one in said]
        )
        _, spent["evidence: who is asked about"] = _computed(lambda: asked_about(query, speakers))


def terms_of(query: str, words: Words) -> Sequence[str]:
    """Return what the index is asked for: the telling terms, or every word."""
    if words is not Words.EVERY_WORD:
        return query_terms(query)
    # A word that stands alone is what is asked for, whichever it is.
    return list(dict.fromkeys(term for word in query.split() for term in query_terms(word)))


def _covered(
    terms: Sequence[str], found: Mapping[str, float], stored: Mapping[str, Stored]
) -> float:
    """Return how much of the question the best find by words covers."""
    if not found:
        return 0.0
    best = stored[max(found, key=found.__getitem__)]
    text = f"{best.speaker}: {best.content}" if isinstance(best, Turn) else best.body.index_text
    return coverage(terms, answered(terms, text, ()))


def _score(ranking: Ranking, question: Question, spent: float) -> Score:
    gold = question.evidence
    return Score(
        recall={k: recall(ranking, gold, k) for k in (5, 10, 20)},
        reciprocal=reciprocal_rank(ranking, gold),
        milliseconds=spent,
    )


async def _scores(hits: Awaitable[Sequence[Hit]]) -> Mapping[str, float]:
    return {hit.id: hit.score for hit in await hits}


async def _timed(work: Awaitable[T]) -> tuple[T, float]:
    started = time.perf_counter()
    done = await work
    return done, (time.perf_counter() - started) * 1000


def _computed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what work brings, and its milliseconds without those of whoever else works."""
    started = time.thread_time()
    done = work()
    return done, (time.thread_time() - started) * 1000
