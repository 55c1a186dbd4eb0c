"""Proposals, for a reader who decides on them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_server.client import ProposalDocument

Wrap = Callable[..., str]
"""`Output.wrapped`."""

_WOULD = {
    "ADD": "would be remembered as new",
    "UPDATE": "would take the place of",
    "REINFORCE": "would confirm",
    "RETRACT": "would end",
    "SKIP": "would change nothing",
}
_DONE = {
    "ADD": "remembered as new",
    "UPDATE": "took the place of",
    "REINFORCE": "confirmed",
    "RETRACT": "ended",
    "SKIP": "changed nothing",
}


def shown(proposal: "ProposalDocument", wrapped: Wrap) -> Iterator[str]:
    """Yield the lines of a proposal: its words, what they rest on, and what came or would come."""
    verb = "takes back" if proposal["retracts"] else proposal["type"]
    yield wrapped(f"{verb}: {_words(proposal)}", indent="    ", first="")
    yield wrapped(_standing(proposal), indent="    ", first="  ")
    edited = proposal["edited"]
    if edited is not None:
        was = "; ".join(edited["original"].values())
        yield wrapped(
            f"in the words of {edited['by']}; extracted: {was}", first="  ", indent="    "
        )
    for turn in proposal.get("turns") or ():
        said = f"[{_minute(turn['said_at'])}] {turn['speaker']}: {turn['content']}"
        yield wrapped(said, first="  ", indent="    ")
    if not proposal.get("turns"):
        yield "  (its turns are not there any more)"
    decision = proposal["decision"]
    outcomes = decision["outcomes"] if decision else proposal.get("foreseen") or ()
    told = _DONE if decision else _WOULD
    yield from (_outcome(one, told, wrapped) for one in outcomes)
    if decision is not None:
        yield wrapped(decided(proposal), first="  ", indent="    ")
    yield f"  id {proposal['id']}"


def decided(proposal: "ProposalDocument") -> str:
    """Say what was decided on a proposal, by whom, when and why."""
    decision = proposal["decision"]
    if decision is None:
        return "waits"
    why = f": {decision['reason']}" if decision["reason"] else ""
    return f"{proposal['state']} by {decision['by']}, {_minute(decision['at'])}{why}"


def actions(proposal: "ProposalDocument") -> Sequence[str]:
    """Return what deciding did to memory: nothing where it was rejected."""
    decision = proposal["decision"]
    return [outcome["action"] for outcome in decision["outcomes"]] if decision else []


def row(proposal: "ProposalDocument") -> Mapping[str, Any]:
    """Return a proposal as one line of a list."""
    return {
        "id": proposal["id"],
        "state": proposal["state"],
        "type": proposal["type"],
        "user_id": proposal["user_id"],
        "said_at": _minute(proposal["said_at"]),
        "waits_since": _minute(proposal["created_at"]),
        "words": ("takes back: " if proposal["retracts"] else "") + _words(proposal),
    }


def _words(proposal: "ProposalDocument") -> str:
    words: Sequence[str] = list(proposal["words"].values())
    if proposal["type"] in ("taxonomic", "procedural"):
        words = [proposal["name"], *words]
    return ": ".join(words)


def _standing(proposal: "ProposalDocument") -> str:
    whose = proposal["user_id"] or "nobody"
    since = _minute(proposal["created_at"])
    session, extractor = proposal["session_id"], proposal["extractor"]
    return f"of {whose}, session {session}, by {extractor}, proposed {since}"


def _outcome(outcome: Mapping[str, Any], told: Mapping[str, str], wrapped: Wrap) -> str:
    what = told.get(outcome["action"], outcome["action"])
    about = outcome["previous"] or outcome["text"]
    named = f": {about!r}" if outcome["action"] in ("UPDATE", "REINFORCE", "RETRACT") else ""
    memory = f" ({outcome['memory_id']})" if outcome["memory_id"] else ""
    text = f"{outcome['action']}: {what}{named}{memory}; {outcome['reason']}"
    return wrapped(text, first="  ", indent="    ")


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
