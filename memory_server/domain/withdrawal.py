"""What was taken back, out of the episodes that still tell it.

An episode says what was talked about. Once its speaker takes a statement back, the sentence that
makes it goes: in front of a reader it would stand as if it still held. The former version of the
episode keeps it, as the history of the fact does.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_server.domain.memory import Episode, Fact, Memory
from memory_server.domain.wording import content

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?…]+[\"')\]»”]*(?=\s|$)|(?=\n|$))(?:[ \t]+|\n|$)")
_SPEAKER = re.compile(r"^(?:[^\s:.!?]+(?: [^\s:.!?]+){0,2}: )")
_MAX_TITLE = 90


def tells(sentence: str, statement: str) -> bool:
    """Whether a sentence has every word of content that a statement has."""
    words = content(statement)
    return bool(words) and words <= content(sentence)


def without(episode: Episode, withdrawn: Sequence[Memory]) -> Episode | None:
    """Return an episode without the sentences that tell facts which were taken back.

    None if nothing but them was told. The same object if it tells none of them.
    """
    statements = [memory.body.text for memory in withdrawn if isinstance(memory.body, Fact)]
    told = _kept(episode.content, statements)
    if told == episode.content and not any(tells(episode.title, one) for one in statements):
        return episode
    lines = [line for line in told.splitlines() if _says_something(line)]
    if not lines:
        return None
    title = episode.title
    if any(tells(title, one) for one in statements):
        title = _shortened(_SPEAKER.sub("", lines[0]))
    return replace(
        episode,
        title=title,
        content=told,
        summary_text=_kept(episode.summary_text, statements),
    )


def _kept(text: str, statements: Sequence[str]) -> str:
    lines = [(line, _kept_of_line(line, statements)) for line in text.splitlines()]
    return "\n".join(kept for line, kept in lines if kept or not line)


def _kept_of_line(line: str, statements: Sequence[str]) -> str:
    label = _SPEAKER.match(line)
    head = label.group() if label else ""
    sentences = _SENTENCE.findall(line[len(head) :])
    kept = [one for one in sentences if not any(tells(one, each) for each in statements)]
    if len(kept) == len(sentences):
        return line
    return f"{head}{''.join(kept).strip()}" if "".join(kept).strip() else ""


def _says_something(line: str) -> bool:
    """Whether a line is more than the heading of others."""
    return bool(line.strip()) and not line.rstrip().endswith(":")


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TITLE:
        return text.strip().rstrip(".")
    return text[: _MAX_TITLE - 1].rsplit(" ", 1)[0] + "…"
