"""What people say in earnest: no jokes, no games, no stories, nothing that cannot be."""

from collections.abc import Iterator, Sequence

from memory_server.domain.candidate import Conversation
from memory_server.domain.turn import Role
from memory_server.providers.extraction.rules import guards, reading
from memory_server.providers.extraction.rules.reading import Utterance

_MAX_SENTENCE = 500
"""Longer ones are no plain statements, and would take the expressions long to read."""


Meant = tuple[Utterance, Sequence[str]]
"""What somebody said in one turn, and those of its sentences that are meant."""


def in_earnest(conversation: Conversation) -> Iterator[Meant]:
    """Yield each utterance of a person with those of its sentences that are meant.

    A turn counts for nothing when its speaker takes it back as a joke in their next one, when
    it tells what cannot be, or when the answer laughs and the speaker does not stand by it. A
    game with parts to play lasts until somebody is serious again.
    """
    said = list(reading.by_people(conversation))
    answers = _answers(conversation)
    is_game = False
    for utterance, later in zip(said, _nexts(said), strict=True):
        sentences = _plain(utterance)
        is_game = is_game and not any(map(guards.is_serious, sentences))
        is_play = is_game or _is_play(utterance, answers.get(utterance.turn.id, ""), later)
        yield utterance, () if is_play else tuple(_meant(utterance))
        is_game = is_game or any(map(guards.begins_game, sentences))


def _answers(conversation: Conversation) -> dict[str, str]:
    """Return what the assistant answered, by the turn it answers."""
    answers: dict[str, str] = {}
    asked = None
    for turn in conversation.turns:
        if turn.role is Role.ASSISTANT and asked is not None:
            answers.setdefault(asked, turn.content)
        asked = turn.id if turn.role is Role.USER else asked
    return answers


def _nexts(said: Sequence[Utterance]) -> Sequence[str]:
    """Return for each utterance how its speaker begins their next one, or nothing."""
    begins: dict[str, str] = {}
    nexts: list[str] = []
    for utterance in reversed(said):
        nexts.append(begins.get(utterance.subject, ""))
        begins[utterance.subject] = " ".join(utterance.sentences[:2])[:_MAX_SENTENCE]
    return nexts[::-1]


def _is_play(utterance: Utterance, answer: str, later: str) -> bool:
    if guards.is_override(utterance.turn.content):
        return True
    first = later.partition(". ")[0]
    if first and (guards.was_joking(first) or guards.denies_joking(first)):
        return True
    if any(map(guards.is_absurd, _plain(utterance))):
        return True
    answer = answer[:_MAX_SENTENCE]
    if guards.is_affirmed(later):
        return False
    is_odd = any(map(guards.is_unlikely, _plain(utterance)))
    return guards.laughs(answer) or (is_odd and guards.is_amused(answer))


def _meant(utterance: Utterance) -> Iterator[str]:
    said = _plain(utterance)
    start = max((at for at, one in enumerate(said) if guards.is_serious(one)), default=0)
    sentences = [guards.without_laughter(sentence) for sentence in said]
    following = (*sentences[1:], "")
    for place, (sentence, after) in enumerate(zip(sentences, following, strict=False)):
        if guards.is_fiction(sentence):
            return
        if guards.is_task(sentence) or place < start:
            continue
        if not (guards.is_joke(sentence) or guards.takes_back(after)):
            yield sentence


def _plain(utterance: Utterance) -> Sequence[str]:
    return [sentence for sentence in utterance.sentences if len(sentence) <= _MAX_SENTENCE]
