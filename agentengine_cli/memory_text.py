"""What is remembered, for a reader."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_server.client import MemoryDocument

HEADINGS = {
    "semantic": "Facts",
    "episodic": "Episodes",
    "taxonomic": "Terms",
    "procedural": "Procedures",
    "block": "Exchanges",
}
OF_OWN_TYPES = "Records"
"""The heading of every type that the project declares itself."""
FLUSH_HINT = "agentengine memory flush{options} promotes the turns that still wait"
"""What to do where nothing is remembered; `options` name the same project."""
Wrap = Callable[..., str]
SHOWN_CHARACTERS = 200
"""Of a turn that is evidence."""
SHOWN_TURNS = 3
"""Turns of one piece of evidence that a reader is shown; `--json` has them all."""


def reduced(memory: "MemoryDocument", *, evidence: bool, history: bool) -> dict[str, Any]:
    """Return the memory without what was not asked for."""
    left_out = {name for name, asked in (("evidence", evidence), ("history", history)) if not asked}
    kept: dict[str, Any] = {name: value for name, value in memory.items() if name not in left_out}
    if "history" in kept and not evidence:
        kept["history"] = [
            {name: value for name, value in version.items() if name != "evidence"}
            for version in kept["history"]
        ]
    return kept


def whole(memory: Mapping[str, Any], wrapped: Wrap) -> str:
    """Return one memory as text, with every word it rests on."""
    return "\n".join(_lines(memory, wrapped, is_whole=True))


def paragraphs(memories: Sequence[Mapping[str, Any]], wrapped: Wrap) -> Iterator[str]:
    """Yield the memories as text, type by type."""
    for kind in [*HEADINGS, *sorted({memory["type"] for memory in memories} - set(HEADINGS))]:
        same = [memory for memory in memories if memory["type"] == kind]
        if same:
            yield f"{HEADINGS.get(kind, OF_OWN_TYPES)} ({kind}): {len(same)}\n"
        for memory in same:
            yield "\n".join(_lines(memory, wrapped)) + "\n"


def _lines(memory: Mapping[str, Any], wrapped: Wrap, *, is_whole: bool = False) -> Iterator[str]:
    yield wrapped(_name(memory), indent="  ")
    yield wrapped(str(memory["content"]), indent="    ")
    yield wrapped(_standing(memory), indent="    ")
    for version in memory.get("history") or ():
        until = f"{_day(version['valid_from'])} to {_day(version['valid_to'])}"
        text = f"was: {version['content']} (version {version['version']}, {until})"
        yield wrapped(text, first="    ", indent="      ")
        for evidence in version.get("evidence") or () if is_whole else ():
            yield from _evidence(evidence, wrapped, is_whole=is_whole)
    for evidence in memory.get("evidence") or ():
        yield from _evidence(evidence, wrapped, is_whole=is_whole)
    yield wrapped(f"id {memory['id']}", indent="    ")


def _name(memory: Mapping[str, Any]) -> str:
    if memory.get("term"):
        return f"{memory.get('domain')}/{memory['term']}"
    if memory.get("viewpoint"):
        place = f"session {memory.get('conversation_id')}, exchange {memory.get('position')}"
        return f"{place}, as the {memory['viewpoint']} sees it"
    names = (memory.get(key) for key in ("label", "title", "procedure"))
    tags = (f"{name} {value}" for name, value in (memory.get("tags") or {}).items())
    return next((str(name) for name in names if name), ", ".join(tags) or str(memory["type"]))


def _standing(memory: Mapping[str, Any]) -> str:
    """Return when it took place or since when it holds, how often it was confirmed, and more."""
    event = memory.get("event_time")
    when = _took_place(event) if event else f"since {_day(memory['valid_from'])}"
    parts = [f"version {memory['version']}", when]
    times = memory.get("reinforcement_count") or 0
    if times:
        parts.append("confirmed once" if times == 1 else f"confirmed {times} times")
    if memory.get("visibility") not in (None, "private"):
        parts.append(f"visible to {memory['visibility']}")
    if memory.get("deleted"):
        parts.append("deleted")
    elif not memory.get("is_latest", True):
        parts.append("superseded" if memory.get("superseded_by") else "taken back")
    return ", ".join(parts)


def _took_place(event: Mapping[str, Any]) -> str:
    """Return when it took place, and as what that was said where the words are others."""
    told = f"took place {event['in_words']}"
    words = event.get("words") or ""
    return told if _bare(words) in ("", _bare(event["in_words"])) else f"{told}, said as {words!r}"


def _bare(words: str) -> str:
    """Return a time without the words that lead to it."""
    flat = " ".join(words.casefold().split())
    return re.sub(r"^(?:(?:on|in|from|during) )?(?:the )?", "", flat)


def _day(moment: str | None) -> str:
    return moment[:10] if moment else "now"


def _shortened(text: str) -> str:
    """Return the beginning of a long text, cut between two words where there are some."""
    flat = " ".join(text.split())
    if len(flat) <= SHOWN_CHARACTERS:
        return flat
    kept, _, rest = flat[:SHOWN_CHARACTERS].rpartition(" ")
    return f"{kept if len(rest) < SHOWN_CHARACTERS // 4 and kept else flat[:SHOWN_CHARACTERS]}…"


def _evidence(evidence: Mapping[str, Any], wrapped: Wrap, *, is_whole: bool) -> Iterator[str]:
    source = (
        f"from session {evidence['session_id']}, by {evidence['extractor']}, "
        f"learned {_day(evidence['learned_at'])}"
    )
    if is_whole and evidence.get("action"):
        source += f", {evidence['action']}: {evidence['reason'] or 'no reason noted'}"
    yield wrapped(source, first="    ", indent="      ")
    turns = evidence.get("turns") or ()
    shown = turns if is_whole else turns[:SHOWN_TURNS]
    for turn in shown:
        words = turn["content"] if is_whole else _shortened(turn["content"])
        said = f"[{turn['turn_seq']}] {turn['speaker']}, {_minute(turn['said_at'])}: {words}"
        yield wrapped(said, first="      ", indent="        ")
    if len(turns) > len(shown):
        yield wrapped(f"and {len(turns) - len(shown)} more turns", indent="      ")
    if evidence.get("missing_turns"):
        yield wrapped(_gone(evidence), first="      ", indent="        ")


def _gone(evidence: Mapping[str, Any]) -> str:
    """Return what is left of turns whose words are gone."""
    number = evidence["missing_turns"]
    turns = "1 turn" if number == 1 else f"{number} turns"
    speakers = ", ".join(evidence.get("speakers") or ())
    by = f" by {speakers}" if speakers else ""
    said_at = evidence.get("said_at")
    when = f", last said {_minute(said_at)}{by}" if said_at else by
    return f"the words of {turns} are gone{when}"


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
