"""Answers from memory alone, without a model."""

from collections.abc import AsyncIterator, Sequence

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn
from memory_server.ports.answerer import Answerer
from memory_server.providers.answering import forgetting, quoting
from memory_server.providers.answering.matching import Match, best
from memory_server.providers.answering.phrases import Phrases, phrases_for
from memory_server.providers.extraction.rules.acts import SMALL_TALK, Act, act_of
from memory_server.providers.extraction.rules.sentences import split

_MAX_CHARACTERS = 4000
"""Of the message; what it asks stands there."""


class LocalAnswerer(Answerer):
    """Quotes what is remembered; it reasons about nothing and says so by quoting."""

    @property
    def name(self) -> str:
        return "local"

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        then = past and _of_the_past(past)
        yield then or _answer(message[:_MAX_CHARACTERS], chunks, recent)


def _of_the_past(past: PastQuestion) -> str | None:
    """Quote what held at the time that is asked about, if it speaks to the question."""
    facts = best(past.rest, (c.content for c in past.chunks if c.source is not Source.EPISODIC))
    if not facts:
        return None
    return phrases_for(past.rest).known_then.format(past.words, _joined(facts))


def _answer(message: str, chunks: Sequence[Chunk], recent: Sequence[Turn]) -> str:
    phrases = phrases_for(message)
    said = split(message)
    forgotten = quoting.forget_requests(recent)
    told = list(quoting.told_of_late(recent, forgotten))
    for sentence in said:
        if act_of(sentence) is Act.FORGET:
            return _forgetting(sentence, chunks, told, phrases)
    question = " ".join(sentence for sentence in said if quoting.wants_answer(sentence))
    if question:
        kept = [
            chunk
            for chunk in chunks
            if not any(each.covers(chunk.content, chunk.timestamp) for each in forgotten)
        ]
        return _quoted(question, kept, [*quoting.stated(message), *told], phrases)
    return _acknowledged(said, phrases)


def _forgetting(
    request: str, chunks: Sequence[Chunk], told: Sequence[str], phrases: Phrases
) -> str:
    if forgetting.is_everything(request):
        return f"{phrases.forget_what} {phrases.erase}"
    facts = forgetting.named_facts(request, chunks, told)
    if not facts:
        return phrases.forget_what
    return phrases.will_forget.format(" ".join(_closed(fact) for fact in facts))


def _acknowledged(said: Sequence[str], phrases: Phrases) -> str:
    """Note what was stated; what only greets or thanks is answered in kind."""
    acts = [act_of(sentence) for sentence in said]
    if acts and all(act in SMALL_TALK for act in acts):
        return phrases.small_talk[acts[0]]
    return phrases.noted


def _quoted(question: str, chunks: Sequence[Chunk], told: Sequence[str], phrases: Phrases) -> str:
    facts = best(question, (c.content for c in chunks if c.source is not Source.EPISODIC))
    newest = best(question, told, limit=1)
    # What was said last has the last word: no memory may have been made of it yet.
    if newest and (not facts or newest[0].cover >= facts[0].cover):
        return phrases.you_said.format(newest[0].sentence)
    if facts:
        return phrases.known.format(_joined(facts))
    # An episode keeps what was said then; a fact is kept up to date.
    return _from_episodes(question, chunks, phrases)


def _from_episodes(question: str, chunks: Sequence[Chunk], phrases: Phrases) -> str:
    episodes = (chunk.content for chunk in chunks if chunk.source is Source.EPISODIC)
    quotes = {quote.text: quote for quote in quoting.of_episodes(episodes)}
    found = best(question, quotes, limit=1)
    if not found:
        return phrases.nothing_known
    quote = quotes[found[0].sentence]
    if quote.is_own:
        return phrases.you_said.format(quote.text)
    return phrases.known.format(_closed(quote.shown))


def _joined(matches: Sequence[Match]) -> str:
    return " ".join(_closed(match.sentence) for match in matches)


def _closed(sentence: str) -> str:
    return sentence if sentence[-1] in ".!?…\"'”»" else sentence + "."
