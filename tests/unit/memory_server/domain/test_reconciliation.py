from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.identity import identity_of
from memory_server.domain.memory import (
    Body,
    Claim,
    Episode,
    Evidence,
    ExtractedBody,
    Fact,
    Memory,
    Procedure,
    Term,
)
from memory_server.domain.reconciliation import Action, Decision, Known, Neighbour, decide
from memory_server.domain.scope import Visibility

MARCH = datetime(2030, 3, 1, tzinfo=UTC)
JUNE = datetime(2030, 6, 1, tzinfo=UTC)
SAME_FROM = 0.92


def known(body: Body, *, claim: Claim | None = None, said: datetime = MARCH) -> Memory:
    evidence = Evidence(
        snapshot_id="s1",
        session_id="one",
        turn_ids=("t1",),
        extractor="rules/1",
        learned_at=said,
        event_time=said,
    )
    return Memory(
        id="m1",
        project_id="p",
        user_id="ana",
        visibility=Visibility.PRIVATE,
        body=body,
        claim=claim,
        created_at=said,
        updated_at=said,
        valid_from=said,
        evidence=(evidence,),
    )


def fact(text: str) -> Fact:
    return Fact(label="a_fact", text=text)


def candidate(
    body: ExtractedBody, claim: Claim | None = None, *, retracts: bool = False
) -> Candidate:
    return Candidate(body=body, turn_ids=("t2",), claim=claim, retracts=retracts)


def claim(attribute: str, value: str, *, exclusive: bool = True, subject: str = "user") -> Claim:
    return Claim(subject=subject, attribute=attribute, value=value, exclusive=exclusive)


BOSTON = known(fact("The user flies out of Boston."), claim=claim("home airport", "Boston"))
LIKES_TEA = known(fact("The user likes tea."), claim=claim("likes", "tea", exclusive=False))


@dataclass(frozen=True)
class Case:
    name: str
    candidate: Candidate
    known: Memory
    similarity: float
    action: Action


SWIMS = known(fact("The user swims 40 lengths."), claim=claim("swims 40 lengths a visit", "yes"))
OWNS = known(fact("The user owns a Pixel 7."), claim=claim("owns pixel 7", "yes"))

CASES = [
    Case(
        "the same habit by another number",
        candidate(fact("I swim 60 lengths"), claim("swims 60 lengths a visit", "yes")),
        SWIMS,
        0.9,
        Action.UPDATE,
    ),
    Case(
        "another habit by the same number",
        candidate(fact("I run 40 laps"), claim("runs 40 laps a visit", "yes")),
        SWIMS,
        0.9,
        Action.ADD,
    ),
    Case(
        "a thing of another number",
        candidate(fact("I own a Pixel 8"), claim("owns pixel 8", "yes")),
        OWNS,
        0.9,
        Action.ADD,
    ),
    Case(
        "the same value again",
        candidate(fact("I fly from boston"), claim("home airport", "boston")),
        BOSTON,
        0.8,
        Action.REINFORCE,
    ),
    Case(
        "another value of an exclusive attribute",
        candidate(fact("I fly out of Denver now"), claim("home airport", "Denver")),
        BOSTON,
        0.95,
        Action.UPDATE,
    ),
    Case(
        "another value of an attribute that may have many",
        candidate(fact("I like coffee"), claim("likes", "coffee", exclusive=False)),
        LIKES_TEA,
        0.97,
        Action.ADD,
    ),
    Case(
        "the same attribute of somebody else",
        candidate(fact("Bob flies out of Denver"), claim("home airport", "Denver", subject="bob")),
        BOSTON,
        0.95,
        Action.ADD,
    ),
    Case(
        "the same in other words",
        candidate(fact("Tea is liked by the user.")),
        LIKES_TEA,
        0.95,
        Action.REINFORCE,
    ),
    Case(
        "near in meaning but denied",
        candidate(fact("The user does not like tea.")),
        LIKES_TEA,
        0.95,
        Action.ADD,
    ),
    Case(
        "near in meaning with another number",
        candidate(fact("The user has 3 cats.")),
        known(fact("The user has 2 cats.")),
        0.98,
        Action.ADD,
    ),
    Case(
        "not near enough",
        candidate(fact("Tea is liked by the user.")),
        LIKES_TEA,
        0.80,
        Action.ADD,
    ),
    Case(
        "a term defined anew",
        candidate(Term(domain="Sales", term="lead", definition="A company that asked.")),
        known(Term(domain="sales", term="Lead", definition="A person who asked.")),
        0.5,
        Action.UPDATE,
    ),
    Case(
        "a term defined as before",
        candidate(Term(domain="sales", term="lead", definition="a person who asked")),
        known(Term(domain="sales", term="Lead", definition="A person who asked.")),
        0.5,
        Action.REINFORCE,
    ),
    Case(
        "a procedure with other steps",
        candidate(Procedure(procedure="deploy", description="d", content="1. push")),
        known(Procedure(procedure="Deploy", description="d", content="1. build 2. push")),
        0.5,
        Action.UPDATE,
    ),
    Case(
        "another episode",
        candidate(Episode(title="Trip", content="To Rome", snapshot_ref_id="s2")),
        known(Episode(title="Trip", content="To Rome", snapshot_ref_id="s1")),
        0.99,
        Action.ADD,
    ),
    Case(
        "a retraction of what is known",
        candidate(fact("Forget it"), claim("home airport", ""), retracts=True),
        BOSTON,
        0.4,
        Action.RETRACT,
    ),
    Case(
        "a retraction of another value beside it",
        candidate(
            fact("Forget that I like coffee"),
            claim("likes", "coffee", exclusive=False),
            retracts=True,
        ),
        LIKES_TEA,
        0.9,
        Action.SKIP,
    ),
    Case(
        "a retraction of this very value",
        candidate(
            fact("Forget that I like tea"), claim("likes", "tea", exclusive=False), retracts=True
        ),
        LIKES_TEA,
        0.9,
        Action.RETRACT,
    ),
    Case(
        "a retraction of what is not known",
        candidate(fact("Forget it"), claim("smokes", "yes"), retracts=True),
        BOSTON,
        0.4,
        Action.SKIP,
    ),
]


def decision_on(
    one: Candidate,
    *live: Memory,
    said_at: datetime = JUNE,
    similarity: float = 0.9,
    ended: tuple[Memory, ...] = (),
) -> Decision:
    return decide(
        one,
        Known(neighbours=[Neighbour(memory, similarity) for memory in live], ended=ended),
        identity=identity_of(one, snapshot_id="s2"),
        said_at=said_at,
        same_from=SAME_FROM,
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_decision(case: Case) -> None:
    decision = decision_on(case.candidate, case.known, similarity=case.similarity)

    assert decision.action is case.action
    assert decision.reason


def test_what_was_said_before_only_completes_the_history() -> None:
    late = replace(BOSTON, evidence=(replace(BOSTON.evidence[0], event_time=JUNE),))
    older = candidate(fact("I fly out of Denver"), claim("home airport", "Denver"))

    decision = decision_on(older, late, said_at=JUNE - timedelta(days=1))

    assert (decision.action, decision.is_past) == (Action.ADD, True)


def test_exclusive_claims_on_one_matter_have_one_identity() -> None:
    one = candidate(fact("a"), claim("home airport", "Boston"))
    other = candidate(fact("b"), claim("Home  Airport", "Denver"))

    assert identity_of(one, snapshot_id="s1") == identity_of(other, snapshot_id="s2")


def test_claims_that_may_stand_side_by_side_have_identities_of_their_own() -> None:
    one = candidate(fact("a"), claim("likes", "tea", exclusive=False))
    other = candidate(fact("b"), claim("likes", "coffee", exclusive=False))

    assert identity_of(one, snapshot_id="s") != identity_of(other, snapshot_id="s")


def test_same_episode_of_two_snapshots_is_two_memories() -> None:
    episode = candidate(Episode(title="Trip", content="To Rome"))

    assert identity_of(episode, snapshot_id="s1") != identity_of(episode, snapshot_id="s2")


def identified(memory: Memory, identity: str, **changes: object) -> Memory:
    return replace(memory, identity_key=identity, **changes)  # type: ignore[arg-type]


def test_memory_of_the_same_identity_is_met_before_one_that_is_nearer() -> None:
    globex = known(fact("Works at Globex"), claim=claim("workplace", "Globex", exclusive=False))
    acme = identified(
        known(fact("Works at Acme"), claim=claim("workplace", "Acme")), "claim:user|workplace"
    )
    initech = candidate(fact("Works at Initech"), claim("workplace", "Initech"))

    decision = decision_on(initech, globex, replace(acme, id="m2"))

    assert (decision.action, decision.target and decision.target.id) == (Action.UPDATE, "m2")


def test_identity_that_lives_is_never_added_again() -> None:
    changed_by_hand = identified(known(fact("Lives in Cambridge")), "claim:user|residence")
    denver = candidate(fact("Lives in Denver"), claim("residence", "Denver"))

    assert decision_on(denver, changed_by_hand).action is Action.UPDATE


def test_one_sided_exclusiveness_retires_nothing() -> None:
    flipped = candidate(fact("Likes coffee"), claim("likes", "coffee", exclusive=True))

    assert decision_on(flipped, LIKES_TEA).action is Action.ADD


def test_word_by_hand_is_newer_than_what_was_said_before_it() -> None:
    by_hand = replace(BOSTON, evidence=(), valid_from=JUNE)
    older = candidate(fact("Flies out of Denver"), claim("home airport", "Denver"))

    decision = decision_on(older, by_hand, said_at=JUNE - timedelta(minutes=1))

    assert decision.is_past


def test_retraction_of_another_value_leaves_what_is_known() -> None:
    globex = known(fact("Works at Globex"), claim=claim("workplace", "Globex"))
    no_longer = candidate(fact("No longer at Acme"), claim("workplace", "Acme"), retracts=True)

    assert decision_on(no_longer, globex).action is Action.SKIP


def test_retraction_said_before_the_statement_ends_nothing() -> None:
    taken_back = candidate(fact("Forget it"), claim("home airport", ""), retracts=True)

    decision = decision_on(taken_back, BOSTON, said_at=MARCH - timedelta(days=1))

    assert decision.action is Action.SKIP


def test_what_was_taken_back_later_does_not_come_back() -> None:
    gone = replace(BOSTON, is_latest=False, valid_to=JUNE)
    boston = candidate(fact("Flies out of Boston"), claim("home airport", "Boston"))

    before = decision_on(boston, said_at=JUNE - timedelta(days=1), ended=(gone,))
    after = decision_on(boston, said_at=JUNE + timedelta(days=1), ended=(gone,))

    assert (before.action, after.action) == (Action.SKIP, Action.ADD)


def test_what_was_deleted_by_hand_comes_back_only_when_said_again() -> None:
    deleted = replace(BOSTON, deleted=True, updated_at=JUNE)
    boston = candidate(fact("Flies out of Boston"), claim("home airport", "Boston"))

    before = decision_on(boston, said_at=JUNE - timedelta(days=1), ended=(deleted,))
    after = decision_on(boston, said_at=JUNE + timedelta(days=1), ended=(deleted,))

    assert (before.action, after.action) == (Action.SKIP, Action.ADD)


@pytest.mark.parametrize(
    "by_hand",
    [
        replace(known(Term(domain="d", term="t", definition="old")), visibility=Visibility.ORG),
        replace(known(Term(domain="d", term="t", definition="old")), evidence=()),
    ],
    ids=["for the project", "resting on no conversation"],
)
def test_term_saved_by_hand_is_changed_by_hand_only(by_hand: Memory) -> None:
    heard = candidate(Term(domain="d", term="t", definition="new"))

    assert decision_on(heard, by_hand).action is Action.SKIP
