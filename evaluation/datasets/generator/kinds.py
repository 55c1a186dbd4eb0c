"""The six question types, and how each is drafted."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from evaluation.datasets.generator.drafts import MOST_DECOYS, Desk, Draft, Said
from evaluation.datasets.generator.grammar import Attribute
from evaluation.datasets.generator.temporal import draft_temporal

LISTED: Final = 7
"""Entries of a list that an assistant gives."""


class Drafting(Protocol):
    """Writes a question of one type; an abstention asks for what was never said."""

    def __call__(self, desk: Desk, *, is_abstention: bool) -> Draft: ...


def draft_single(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a question about a fact that the user said once."""
    attribute = desk.pen.pick(desk.pen.grammar.attributes)
    value = desk.pen.write(attribute.value)
    [days_ago] = desk.days_ago(1, 28)
    evidence = [(desk.moment(days_ago), _fact(desk, attribute, attribute.said, value))]
    question, answer = _asked(desk, attribute, value, is_abstention=is_abstention)
    decoys = _others(desk, attribute, {value})
    return desk.draft(question, answer, evidence, [attribute.key], decoys)


def draft_update(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a question about a fact that was said, and later said anew with another value."""
    attribute = desk.pen.pick(desk.pen.grammar.attributes)
    stale = desk.pen.write(attribute.value)
    fresh = desk.pen.another(attribute.value, {stale})
    [later] = desk.days_ago(2, 20)
    [between] = desk.days_ago(5, 60)
    evidence = [
        (desk.moment(later + between), _fact(desk, attribute, attribute.said, stale)),
        (desk.moment(later), _fact(desk, attribute, attribute.changed, fresh)),
    ]
    question, answer = _asked(desk, attribute, fresh, is_abstention=is_abstention)
    decoys = _others(desk, attribute, {stale, fresh})
    return desk.draft(question, answer, evidence, [attribute.key], decoys)


def draft_multiple(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a question that counts, or adds up, what several sessions told one by one."""
    tally = desk.pen.pick(desk.pen.grammar.tallies)
    topic = desk.pen.grammar.topics[tally.topic]
    times = desk.pen.chance.randint(2, 5)
    items: list[str] = []
    evidence, total = [], 0
    for days_ago in desk.days_ago(1, 55, times):
        item, amount = desk.counted(tally, items)
        items.append(item)
        total += amount
        fact = desk.pen.write(desk.pen.pick(tally.said), topic, item=item, amount=item)
        evidence.append(
            (desk.moment(days_ago), Said(topic=tally.topic, about=tally.about, fact=fact))
        )
    whole = desk.pen.write(tally.unit, amount=str(total)) if tally.sums else total
    decoys = []
    for _ in range(MOST_DECOYS):
        item, _ = desk.counted(tally, items)
        fact = desk.pen.write(desk.pen.pick(tally.others), topic, item=item, amount=item)
        decoys.append(Said(topic=tally.topic, about=tally.about, fact=fact))
    if is_abstention:
        absent = desk.absent(tally.label, tally.absent)
        return desk.draft(tally.absent_asked, absent, evidence[:2], [tally.key], decoys)
    return desk.draft(desk.pen.pick(tally.asked), whole, evidence, [tally.key], decoys)


def draft_listed(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a question about one entry of a list that the assistant gave."""
    listing = desk.pen.pick(desk.pen.grammar.listings)
    items: list[str] = []
    for _ in range(LISTED):
        items.append(desk.pen.another(listing.item, set(items)))
    chosen = desk.pen.pick(range(LISTED))
    reply = "\n".join(
        [
            desk.pen.phrase("listed_start"),
            *(f"{number}. {item}" for number, item in enumerate(items, start=1)),
            desk.pen.phrase("listed_end"),
        ]
    )
    said = Said(topic=listing.topic, ask=desk.pen.pick(listing.ask), reply=reply)
    ordinal = desk.pen.grammar.words["ordinals"][chosen]
    question = desk.pen.write(desk.pen.pick(listing.recalled), ordinal=ordinal)
    [days_ago] = desk.days_ago(1, 28)
    return desk.draft(question, items[chosen], [(desk.moment(days_ago), said)], [listing.key])


def draft_preference(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a request that a good answer meets with what it knows of the user's taste."""
    taste = desk.pen.pick(desk.pen.grammar.tastes)
    brand = desk.pen.write("{coined}")
    fact = desk.pen.write(desk.pen.pick(taste.said), coined=brand)
    rubric = desk.pen.write(
        desk.phrases["preference_answer"],
        wants=desk.pen.write(taste.wants, coined=brand),
        avoids=taste.avoids,
    )
    [days_ago] = desk.days_ago(1, 28)
    evidence = [(desk.moment(days_ago), Said(topic=taste.topic, about=taste.about, fact=fact))]
    return desk.draft(desk.pen.pick(taste.asked), rubric, evidence, [taste.key])


def _fact(desk: Desk, attribute: Attribute, forms: Sequence[str], value: str) -> Said:
    fact = desk.pen.write(desk.pen.pick(forms), value=value)
    return Said(topic=attribute.topic, about=attribute.about, fact=fact)


def _asked(desk: Desk, attribute: Attribute, value: str, *, is_abstention: bool) -> tuple[str, str]:
    if is_abstention:
        return attribute.absent_asked, desk.absent(attribute.label, attribute.absent)
    return desk.pen.pick(attribute.asked), value


def _others(desk: Desk, attribute: Attribute, values: set[str]) -> Sequence[Said]:
    return [
        Said(
            topic=attribute.topic,
            about=attribute.about,
            fact=desk.pen.write(
                desk.pen.pick(attribute.others), value=desk.pen.another(attribute.value, values)
            ),
        )
        for _ in range(MOST_DECOYS)
    ]


SHARES: Final[Sequence[tuple[str, Drafting, int, int]]] = (
    ("single-session-user", draft_single, 64, 6),
    ("single-session-assistant", draft_listed, 56, 0),
    ("single-session-preference", draft_preference, 30, 0),
    ("multi-session", draft_multiple, 121, 12),
    ("knowledge-update", draft_update, 72, 6),
    ("temporal-reasoning", draft_temporal, 127, 6),
)
"""Question types, and how many of 500 have an answer and how many have none, as in LongMemEval."""

DRAFTING: Final[Mapping[str, Drafting]] = {name: drafting for name, drafting, _, _ in SHARES}
