from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Provenance
from memory_server.domain.memory import Claim, EventTime, Fact
from memory_server.domain.proposal import (
    Proposal,
    ProposalState,
    approved,
    edited,
    proposed,
    rejected,
)
from memory_server.errors import InvalidRequest, ProposalDecided, TooLarge
from tests.clock import START
from tests.factories import a_fact, a_procedure, a_proposal, a_term, an_episode

LATER = START + timedelta(hours=1)
HOME = Claim(subject="user", attribute="residence", value="Lisbon", exclusive=True)
LIKES = Claim(subject="user", attribute="likes cats", value="yes")
PEANUTS = Claim(subject="user", attribute="allergic_to_peanuts", value="yes", exclusive=True)
CATS = Claim(subject="user", attribute="number_of_cats", value="2", exclusive=True)


def a_candidate(**changes: Any) -> Candidate:
    given: Mapping[str, Any] = {"body": a_fact(), "turn_ids": ("t1",), **changes}
    return Candidate(**given)


def in_words(candidate: Candidate, **words: str) -> Proposal:
    return edited(a_proposal(candidate=candidate), words, by="owner", now=LATER)


def brought(candidate: Candidate, snapshot_id: str = "s1") -> str:
    """Return the key of a candidate that a snapshot brought."""
    provenance = Provenance(
        project_id="shop",
        user_id="ana",
        agent_id=None,
        session_id="monday",
        snapshot_id=snapshot_id,
        extractor="rules/1",
        said={"t1": START, "t2": LATER},
    )
    return proposed(candidate, provenance, proposal_id="p", now=LATER).key


def test_the_same_of_the_same_turns_has_one_key_whatever_brought_it() -> None:
    plain = a_candidate()
    louder = a_candidate(body=a_fact(text="ANA lives in Lisbon!"), confidence=0.5)

    assert brought(plain) == brought(louder, "s2")
    claimed = a_candidate(claim=HOME)
    assert brought(claimed) == brought(replace(claimed, body=a_fact(text="Her home is Lisbon")))


@pytest.mark.parametrize(
    "other",
    [
        {"body": a_fact(text="Ana lives in Faro")},
        {"turn_ids": ("t2",)},
        {"retracts": True},
        {"claim": LIKES},
        {"claim": HOME},
        {"claim": replace(HOME, value="Faro")},
    ],
)
def test_another_statement_or_other_turns_have_another_key(other: Mapping[str, Any]) -> None:
    assert brought(a_candidate(**other)) not in (
        brought(a_candidate()),
        brought(a_candidate(claim=replace(HOME, value="Porto"))),
    )


def test_an_approval_counts_as_said_when_it_was_said() -> None:
    provenance = a_proposal(said_at=LATER).provenance

    assert provenance.said_at(a_candidate()) == LATER
    assert provenance.said_at(a_candidate(turn_ids=())) == LATER


def test_what_was_decided_is_not_decided_otherwise() -> None:
    yes = approved(a_proposal(), [], by="owner", now=LATER)
    no = rejected(a_proposal(), by="person ben", now=LATER, reason="untrue")

    assert (no.state, no.reason, no.decided_by) == (ProposalState.REJECTED, "untrue", "person ben")
    with pytest.raises(ProposalDecided, match="approved by owner"):
        rejected(yes, by="ben", now=LATER)
    with pytest.raises(ProposalDecided, match="rejected by person ben"):
        approved(no, [], by="owner", now=LATER)
    with pytest.raises(ProposalDecided):
        edited(no, {"text": "x"}, by="owner", now=LATER)


def test_an_edit_keeps_the_words_that_were_extracted() -> None:
    proposal = a_proposal()
    first = edited(proposal, {"text": "Ana lives in Faro"}, by="owner", now=LATER)
    second = edited(first, {"text": "Ana lives in Porto"}, by="person ben", now=LATER)

    assert second.original == proposal.candidate
    assert second.candidate.body == a_fact(text="Ana lives in Porto")
    assert (second.edited_by, second.revision, second.state) == (
        "person ben",
        3,
        ProposalState.PENDING,
    )
    same = {"text": "Ana lives in Porto"}
    assert edited(second, same, by="owner", now=LATER) is second


@pytest.mark.parametrize(
    ("claim", "text", "kept"),
    [
        (HOME, "ana lives at Lisbon.", HOME),
        (HOME, "Ana lives in Faro", replace(HOME, value="Ana lives in Faro")),
        (HOME, "Ana never lives in Lisbon", replace(HOME, value="Ana never lives in Lisbon")),
        (HOME, "Ana works in Faro", None),
        (LIKES, "Ana lives in Faro", None),
        (LIKES, "Ana lives in the Lisbon", LIKES),
        (None, "Ana lives in Faro", None),
    ],
)
def test_a_claim_is_kept_as_far_as_the_words_still_say_it(
    claim: Claim | None, text: str, kept: Claim | None
) -> None:
    assert in_words(a_candidate(claim=claim), text=text).candidate.claim == kept


@pytest.mark.parametrize(
    ("claim", "former", "text", "label"),
    [
        (PEANUTS, "Kai is allergic to peanuts", "Kai is allergic to hazelnuts", None),
        (PEANUTS, "Kai is allergic to peanuts", "Kai is not allergic to peanuts", "former"),
        (CATS, "Mia has two cats", "Mia has three cats", "former"),
        (CATS, "Mia has two cats", "Mia has three dogs", None),
    ],
)
def test_words_on_another_matter_get_a_name_of_their_own(
    claim: Claim, former: str, text: str, label: str | None
) -> None:
    candidate = a_candidate(body=a_fact(label="former", text=former), claim=claim)

    changed = in_words(candidate, text=text).candidate

    assert isinstance(changed.body, Fact)
    assert changed.body.label == (label or "_".join(text.casefold().split()))
    assert (changed.claim is None) is (label is None)


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Ana moved in 2022 to Porto", True),
        ("Ana moved in 2023 to Lisbon", False),
        ("Ana moved to Lisbon", False),
    ],
)
def test_an_event_time_goes_with_the_words_that_told_it(text: str, *, stays: bool) -> None:
    event = EventTime(start=START, end=LATER, words="in 2022")
    moved = a_candidate(body=a_fact(text="Ana moved in 2022 to Lisbon"), event_time=event)

    assert in_words(moved, text=text).candidate.event_time == (event if stays else None)


def test_what_told_the_former_words_goes_with_them() -> None:
    refund = a_candidate(body=a_procedure(steps=({"say": "press"},)))
    assert in_words(refund, content="Ask first").candidate.body == a_procedure(content="Ask first")
    episode = a_candidate(body=an_episode(summary_text="Ana moved"))
    renamed = in_words(episode, title="The move").candidate.body
    assert renamed == an_episode(title="The move", summary_text="Ana moved")
    told_anew = in_words(episode, content="Ana stayed").candidate.body
    assert told_anew == an_episode(content="Ana stayed")


@pytest.mark.parametrize(
    ("candidate", "words", "problem"),
    [
        (a_candidate(), {}, "^text: give"),
        (a_candidate(), {"title": "x"}, "^title: .*only text"),
        (a_candidate(), {"text": " \n"}, "^text: .*blank"),
        (a_candidate(body=an_episode()), {"definition": "x"}, "only title and content"),
        (a_candidate(body=a_term()), {"text": "x"}, "only definition"),
        (a_candidate(retracts=True), {"text": "x"}, "takes back"),
    ],
)
def test_words_that_cannot_be_taken_are_refused_with_their_field(
    candidate: Candidate, words: Mapping[str, str], problem: str
) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        edited(a_proposal(candidate=candidate), words, by="owner", now=LATER)


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(TooLarge, match=r"^text: "):
        in_words(a_candidate(), text="x" * 300_000)
