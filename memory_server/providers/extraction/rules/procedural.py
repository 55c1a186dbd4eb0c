"""How something is done, where somebody spells it out step by step."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.memory import Procedure
from memory_server.domain.source_times import without_header
from memory_server.providers.extraction.rules import cleaning, guards
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import Utterance, by_anyone, is_named
from memory_server.providers.extraction.rules.rulebook import rulebook

_ITEM = re.compile(r"^\s*(?:step |paso )?(?P<number>\d{1,2})[.):]\s+(?P<text>\S.*)$", re.IGNORECASE)
_INDENTED = re.compile(r"^(?:\s{2,}|\t)\S")
_GOAL = re.compile(
    r"(?:\bhow (?:to|we|I|you)\b|\b(?:steps|procedure|process|instructions|checklist|recipe"
    r"|routine|workflow|way|method"
    r"|rule)(?: (?:to|for|when|of))?\b|^(?:in order )?to\b|\bcómo\b|\bpasos(?: para)?\b"
    r"|\b(?:procedimiento|proceso|receta)(?: (?:para|de))?\b|^para\b)(?P<goal>[^:.\n]*)",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    r"^(?:(?:and|so|also|ok|okay|y),? )?(?:in order to|to|para) (?P<goal>[^,;:]{3,80})[,:] "
    r"(?:you |we |I |just )?(?:first|primero|start by|begin by|empieza por)[,:]? (?P<steps>\S.*)$"
    r"|^(?P<goal2>(?:before|after|antes de|después de) (?:every |each |any |cada )?[^,;:]{3,60}), "
    r"(?P<steps2>\S.*\b(?:then|luego|después)\b.*)$",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"^(?:the )?steps (?:to|for) (?P<goal>[^,;:]{3,80}) are:? (?:first,? )?(?P<steps>\S.*)$"
    r"|^los pasos para (?P<goal2>[^,;:]{3,80}) son:? (?:primero,? )?(?P<steps2>\S.*)$",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"[,;.]?\s*\b(?:and |y )?(?:then|next|after that|afterwards|finally|lastly|luego|después"
    r"|a continuación|finalmente|por último)\b,?\s+",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^(?:and |y )?(?:then|next|after that|afterwards|finally|lastly|luego|después|finalmente"
    r"|por último)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"^(?:first|primero|lo primero)\b[,:]?\s*", re.IGNORECASE)
_WHENEVER = re.compile(
    r"^(?:whenever|every time|each time|siempre que|cada vez que) (?P<trigger>[^,]{3,120}), "
    r"(?:please |then |por favor )?(?P<action>(?!(?:I|I'm|it|it's|he|she|they|you're|that|there"
    r"|my|the"
    r"|this|yo|me|es)\b)\S.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guide:
    goal: str
    steps: Sequence[str]
    trigger: str | None = None


def extract(conversation: Conversation) -> list[Candidate]:
    """Return one procedure for each set of steps that somebody spelled out."""
    return [
        Candidate(body=_procedure(guide, utterance), turn_ids=(utterance.turn.id,))
        for utterance in by_anyone(conversation)
        if not guards.is_override(utterance.turn.content)
        for guide in (*_numbered(utterance), *_told(utterance))
    ]


def _numbered(utterance: Utterance) -> Iterator[_Guide]:
    """Find numbered lists whose heading says that they are about how to do something."""
    text = cleaning.without_injected(without_header(utterance.turn.content))
    heading, steps = "", list[str]()
    for line in [*text.splitlines(), ""]:
        item = _ITEM.match(line)
        if item and int(item["number"]) == len(steps) + 1:
            steps.append(item["text"].strip())
        elif steps and _INDENTED.match(line):
            steps[-1] += "\n" + line.strip()
        elif line.strip() or not steps:
            yield from _guide(heading, steps)
            heading, steps = line.strip() or heading, []
    yield from _guide(heading, steps)


def _guide(heading: str, steps: Sequence[str]) -> Iterator[_Guide]:
    goal = _GOAL.search(heading) if len(steps) > 1 else None
    if goal is not None:
        named = _tidy(goal["goal"]) or _tidy(heading[: goal.end()])
        yield _Guide(goal=named, steps=tuple(steps))


def _told(utterance: Utterance) -> Iterator[_Guide]:
    sentences = utterance.sentences
    for position, sentence in enumerate(sentences):
        if guards.is_question(sentence) or guards.is_joke(sentence):
            continue
        sentence = rulebook(utterance.language).prelude.sub("", sentence)
        told = _SPELLED.match(sentence) or _ROUTINE.match(sentence)
        if told is None:
            yield from _narrated(sentence, sentences[position + 1 :])
        else:
            yield from _spelled(told, sentences[position + 1 :])
            continue
        rule = None if is_named(utterance.turn) else _WHENEVER.match(sentence)
        if rule is not None:
            action = _tidy(rule["action"])
            yield _Guide(goal=action, steps=(action,), trigger=_tidy(rule["trigger"]))


def _narrated(heading: str, following: Sequence[str]) -> Iterator[_Guide]:
    """Find `how we close:` and after it `First ...`, `Then ...`, a sentence each."""
    goal = _GOAL.search(heading)
    if goal is None or not heading.endswith(":") or not following:
        return
    first = _FIRST.match(following[0])
    if first is None:
        return
    steps = [following[0][first.end() :]]
    for sentence in following[1:]:
        if not _CONTINUES.match(sentence):
            break
        steps.append(_CONTINUES.sub("", sentence))
    if len(steps) > 1:
        yield _Guide(goal=_tidy(goal["goal"]), steps=tuple(map(_tidy, steps)))


def _spelled(told: re.Match[str], following: Sequence[str]) -> Iterator[_Guide]:
    groups = told.groupdict()
    text = groups["steps"] or groups.get("steps2") or ""
    for sentence in following:
        if not _CONTINUES.match(sentence):
            break
        text = f"{text.rstrip('.')}, {sentence}"
    steps = tuple(_tidy(step) for step in _NEXT.split(text) if _tidy(step))
    if len(steps) == 1:
        steps = tuple(_tidy(step) for step in re.split(r",? and |, ", text) if _tidy(step))
    if len(steps) > 1:
        yield _Guide(goal=_tidy(groups["goal"] or groups.get("goal2") or ""), steps=steps)


def _procedure(guide: _Guide, utterance: Utterance) -> Procedure:
    is_spanish = utterance.language == "es"
    heading = f"Cómo {guide.goal}" if is_spanish else f"How to {guide.goal}"
    if guide.trigger:
        heading = f"{'Siempre que' if is_spanish else 'Whenever'} {guide.trigger}: {guide.goal}"
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(guide.steps, 1))
    return Procedure(
        procedure=slug(guide.goal, words=8),
        description=f"{heading}.",
        content=f"{heading}:\n{listed}" if len(guide.steps) > 1 else f"{heading}.",
        steps=tuple(_step(step) for step in guide.steps),
        trigger_conditions=(guide.trigger or guide.goal,),
        extraction_source="rules",
    )


def _step(text: str) -> Mapping[str, Any]:
    return {
        "step_type": "instruction",
        "description": text.partition("\n")[0],
        "content": text,
        "expected_output": None,
        "timeout_ms": None,
    }


def _tidy(text: str) -> str:
    return text.strip(" \t*_#`\"'.,;:!")
