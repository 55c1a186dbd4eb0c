"""What makes two live memories of one owner and type the same one.

The store allows one live memory for each identity, so that equal memories arriving at the same
moment end in one.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from memory_server.domain.candidate import Candidate
from memory_server.domain.claims import matter_of
from memory_server.domain.memory import (
    Block,
    Body,
    Claim,
    Episode,
    Fact,
    Memory,
    Procedure,
    Record,
    Term,
)
from memory_server.domain.wording import normalised


def identity_of(candidate: Candidate, *, snapshot_id: str) -> str:
    """Return the identity of a candidate from a snapshot."""
    body = candidate.body
    match body:
        case Term():
            return _of_term(body)
        case Procedure():
            return f"procedure:{normalised(body.procedure)}"
        case Episode():
            return f"episode:{snapshot_id}|{normalised(body.title)}"
        case Fact():
            return of_claim(candidate.claim) or f"text:{normalised(body.text)}"


def of_claim(claim: Claim | None) -> str | None:
    """Return the identity a claim gives: its slot, and the value where many may hold."""
    if claim is None:
        return None
    matter = matter_of(claim)
    slot = f"claim:{matter.subject}|{' '.join(matter.attribute)}"
    return slot if claim.exclusive else f"{slot}|{matter.value}"


def of_saved(body: Body, metadata: Mapping[str, Any], *, by_label: bool) -> str | None:
    """Return the identity of a memory that a client saves; None: each save is a memory of its own.

    `by_label`: the owner has one fact of a label. Otherwise only what is equal in everything,
    metadata included, is the same.
    """
    match body:
        case Procedure() | Record() | Block():
            return None
        case Term():
            return _of_term(body)
        case Fact() if by_label:
            return f"label:{body.label}"
        case Fact() | Episode():
            content = {field.name: getattr(body, field.name) for field in fields(body)}
            text = json.dumps([content, dict(metadata)], sort_keys=True, default=str)
            return f"content:{hashlib.sha256(text.encode()).hexdigest()}"


def after_change(memory: Memory) -> str | None:
    """Return the identity of a memory whose content was changed by hand."""
    if memory.identity_key is None or memory.claim is not None:
        return of_claim(memory.claim)
    kind, _, _ = memory.identity_key.partition(":")
    if isinstance(memory.body, Procedure):
        return f"procedure:{normalised(memory.body.procedure)}"
    return of_saved(memory.body, memory.metadata, by_label=kind == "label")


def _of_term(term: Term) -> str:
    return f"term:{normalised(term.domain)}|{normalised(term.term)}"
