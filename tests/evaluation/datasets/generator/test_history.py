from collections import Counter
from collections.abc import Sequence
from random import Random

from evaluation.datasets.generator.drafts import Desk, Draft
from evaluation.datasets.generator.filling import POOL, Fillings
from evaluation.datasets.generator.grammar import read_grammar
from evaluation.datasets.generator.history import Session, write_history
from evaluation.datasets.generator.kinds import draft_multiple, draft_update
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.talk import Length
from evaluation.datasets.generator.variants import Variant

SHORT = Length(exchanges=(1, 1), sentences=(1, 1))
ENGLISH = read_grammar("english")
FILLINGS = Fillings(ENGLISH, SHORT, "history")


def a_draft(seed: int) -> Draft:
    desk = Desk(Pen(ENGLISH, Random(seed)))  # noqa: S311 no secret
    drafting = draft_update if seed % 2 else draft_multiple
    return drafting(desk, is_abstention=False)


def a_history(draft: Draft, seed: int, variant: Variant) -> Sequence[Session]:
    return write_history(draft, variant, FILLINGS, ENGLISH, Random(seed))  # noqa: S311 no secret


def test_the_user_says_nothing_of_themselves_twice_but_what_is_asked_for() -> None:
    by_id = {FILLINGS[number].id: FILLINGS[number] for number in range(POOL)}
    variant = Variant(sessions=300, length=SHORT)
    for seed in range(6):
        draft = a_draft(seed)

        sessions = a_history(draft, seed, variant)

        filled = [by_id[session.id] for session in sessions if not session.is_evidence]
        own = Counter(filling.key for filling in filled if filling.is_own)
        assert own
        assert max(own.values()) == 1
        assert not draft.keys & {filling.key for filling in filled}
        assert len(sessions) == 300


def test_others_say_the_same_of_themselves_as_often_as_the_variant_wants() -> None:
    draft = a_draft(1)
    variant = Variant(sessions=20, length=SHORT, decoys=4)

    told = [m["content"] for s in a_history(draft, 1, variant) for m in s.messages]

    # Without its first letter, which is a capital where a fact begins a sentence.
    facts = {said.fact[1:] for said in draft.decoys}
    assert sum(fact in text for fact in facts for text in told) == 4


def test_sessions_are_dropped_until_the_history_fits_and_evidence_never() -> None:
    draft = a_draft(2)
    variant = Variant(sessions=60, length=SHORT, characters=4000)

    sessions = a_history(draft, 2, variant)

    assert sum(session.size() for session in sessions) <= 4000
    assert len(sessions) < 60
    assert sum(session.is_evidence for session in sessions) == len(draft.evidence)
