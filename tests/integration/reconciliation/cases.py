"""Conversations that hurt when they are remembered wrongly, and what has to come of them.

A case is lived through by both adapters. `actions` is what the last conversation leads to, `live`
the words of each fact in the end, `gone` what none of them says.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.integration.reconciliation.life import MODEL, RULES, Heard, Item, noted

Z = "T12:00:00+00:00"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One user's conversations."""

    name: str
    heard: Sequence[Heard]
    actions: Sequence[str]
    live: Sequence[Sequence[str]]
    gone: Sequence[str] = ()
    as_of: tuple[str, str, str] | None = None
    """A day, a word to ask for, and what the answer says."""
    adapters: Sequence[str] = (RULES, MODEL)


def day(number: int) -> str:
    """Return noon of a day of spring 2025."""
    return f"2025-{3 + number // 31:02}-{number % 31 + 1:02}{Z}"


def heard(number: int, *said: str, model: Sequence[Item] = ()) -> Heard:
    """Return a conversation on that day."""
    return Heard(day=day(number), said=said, model=model)


def cats(count: str, word: str) -> Item:
    """Return how many cats a model notes."""
    return noted("number_of_cats", count, f"The user has {word} cats.")


def residence(place: str) -> Item:
    """Return where a model notes that the user lives."""
    return noted("residence", place, f"The user lives in {place}.")


SMOKES = noted("smokes", "yes", "The user smokes.")
NUTS = noted("allergic_to_nuts", "yes", "The user is allergic to nuts.")
SOY = noted("allergic_to_soy", "yes", "The user is allergic to soy.")
TUESDAY = noted("appointment", "Tuesday", "The user's appointment is on Tuesday.")
MONDAY = noted("appointment", "Monday", "The user's appointment is on Monday.")
PLAN = noted(
    "plan", "move to Porto in May", "The user is going to move to Porto in May.", exclusive=False
)

CASES = [
    Case(
        name="two cats in March, three in June",
        heard=[
            heard(0, "I have two cats.", model=[cats("2", "two")]),
            heard(93, "I have three cats.", model=[cats("3", "three")]),
        ],
        actions=["UPDATE"],
        live=[["three cats"]],
        as_of=(day(40), "cats", "two cats"),
    ),
    Case(
        name="corrected in the same turn",
        heard=[
            heard(
                0,
                "My appointment is on Monday. No, I meant Tuesday.",
                model=[TUESDAY],
            )
        ],
        actions=["ADD", "UPDATE"],
        live=[["Tuesday"]],
        gone=["Monday"],
        adapters=[RULES],
    ),
    Case(
        name="corrected in the next turn",
        heard=[
            heard(
                0,
                "My appointment is on Monday.",
                "assistant: Noted.",
                "No, I meant Tuesday.",
                model=[MONDAY, {**TUESDAY, "evidence": [1, 3]}],
            )
        ],
        actions=["ADD", "UPDATE"],
        live=[["Tuesday"]],
        gone=["Monday"],
    ),
    Case(
        name="corrected in the next conversation",
        heard=[
            heard(0, "My appointment is on Monday.", model=[MONDAY]),
            heard(1, "Correction: my appointment is on Tuesday, not Monday.", model=[TUESDAY]),
        ],
        actions=["UPDATE"],
        live=[["Tuesday"]],
    ),
    Case(
        name="another name than the one that was told",
        heard=[
            heard(0, "My dog is called Toby."),
            heard(1, "Sorry, my dog is called Tobias, not Toby."),
        ],
        actions=["UPDATE"],
        live=[["Tobias"]],
        adapters=(RULES,),
    ),
    Case(
        name="otro nombre",
        heard=[
            heard(0, "Mi perro se llama Toby."),
            heard(1, "Perdona, mi perro se llama Tobías, no Toby."),
        ],
        actions=["UPDATE"],
        live=[["Tobías"]],
        adapters=(RULES,),
    ),
    Case(
        name="asked to forget",
        heard=[
            heard(0, "I smoke.", model=[SMOKES]),
            heard(1, "Forget that I smoke.", model=[{**SMOKES, "retracts": True}]),
        ],
        actions=["RETRACT"],
        live=[],
        as_of=(day(0), "smokes", "smokes"),
    ),
    Case(
        name="no longer",
        heard=[
            heard(
                0,
                "I work at Acme.",
                model=[noted("workplace", "Acme", "The user works at Acme.")],
            ),
            heard(
                1,
                "I no longer work at Acme.",
                model=[
                    noted("workplace", "Acme", "The user no longer works at Acme.", retracts=True)
                ],
            ),
        ],
        actions=["RETRACT"],
        live=[],
    ),
    Case(
        name="a week somewhere else moves nobody",
        heard=[
            heard(0, "I live in Oslo.", model=[residence("Oslo")]),
            heard(1, "I'm in Rome this week.", "I'm on crutches until May."),
        ],
        actions=[],
        live=[["Oslo"]],
        gone=["Rome"],
    ),
    Case(
        name="a plan that came true",
        heard=[
            heard(0, "I live in Oslo.", model=[residence("Oslo")]),
            heard(1, "I'm going to move to Porto in May.", model=[PLAN]),
            heard(80, "I moved to Porto.", model=[residence("Porto")]),
        ],
        actions=["UPDATE", "RETRACT"],
        live=[["Porto"]],
        gone=["Oslo", "going to"],
        as_of=(day(40), "Oslo", "Oslo"),
    ),
    Case(
        name="a plan that is only spoken of again",
        heard=[
            heard(1, "I'm going to move to Porto in May.", model=[PLAN]),
            heard(
                2,
                "I love Porto.",
                model=[noted("likes_porto", "yes", "The user loves Porto.")],
            ),
        ],
        actions=["ADD"],
        live=[["move to Porto"], ["love", "Porto"]],
    ),
    Case(
        name="the same from another conversation",
        heard=[
            heard(0, "I live in Oslo.", model=[residence("Oslo")]),
            heard(1, "I live in Oslo, by the way.", model=[residence("Oslo")]),
        ],
        actions=["REINFORCE"],
        live=[["Oslo"]],
    ),
    Case(
        name="the same in other words",
        heard=[
            heard(0, "I live in Oslo.", model=[residence("Oslo")]),
            heard(
                1,
                "I'm based in Oslo.",
                model=[noted("home_city", "Oslo", "Oslo is where the user is based.")],
            ),
        ],
        actions=["REINFORCE"],
        live=[["lives in Oslo"]],
    ),
    Case(
        name="likes, then no longer",
        heard=[
            heard(
                0,
                "I like coffee.",
                model=[noted("likes_coffee", "yes", "The user likes coffee.")],
            ),
            heard(
                1,
                "I don't like coffee any more.",
                model=[noted("likes_coffee", "no", "The user no longer likes coffee.")],
            ),
        ],
        actions=["UPDATE"],
        live=[["coffee"]],
        gone=["The user likes coffee"],
        as_of=(day(0), "coffee", "likes coffee"),
    ),
    Case(
        name="likes, then hates, by another attribute",
        heard=[
            heard(0, "I love tea.", model=[noted("likes_tea", "yes", "The user loves tea.")]),
            heard(1, "I hate tea.", model=[noted("hates_tea", "yes", "The user hates tea.")]),
        ],
        actions=["UPDATE"],
        live=[["hates tea"]],
    ),
    Case(
        name="never liked",
        heard=[
            heard(0, "I like opera.", model=[noted("likes_opera", "yes", "The user likes opera.")]),
            heard(
                1,
                "I never liked opera.",
                model=[noted("likes_opera", "no", "The user never liked opera.")],
            ),
        ],
        actions=["UPDATE"],
        live=[["never liked opera"]],
    ),
    Case(
        name="two birthdays",
        heard=[
            heard(
                0,
                "My sister's birthday is May 4.",
                "My brother's birthday is June 1.",
                model=[
                    noted("sister_birthday", "May 4", "The user's sister's birthday is May 4."),
                    noted(
                        "brother_birthday",
                        "June 1",
                        "The user's brother's birthday is June 1.",
                        evidence=[2],
                    ),
                ],
            )
        ],
        actions=["ADD", "ADD"],
        live=[["sister", "May 4"], ["brother", "June 1"]],
    ),
    Case(
        name="two speakers",
        heard=[
            heard(
                0,
                "Ana| I live in Rome.",
                "Ben| I live in Oslo.",
                model=[
                    noted("residence", "Rome", "Ana lives in Rome.", subject="Ana"),
                    noted("residence", "Oslo", "Ben lives in Oslo.", subject="Ben", evidence=[2]),
                ],
            )
        ],
        actions=["ADD", "ADD"],
        live=[["Ana", "Rome"], ["Ben", "Oslo"]],
    ),
    Case(
        name="a joke and a supposition",
        heard=[
            heard(0, "I live in Oslo.", model=[residence("Oslo")]),
            heard(1, "I live on Mars. Just kidding!", "If I lived in Rome, I'd be happy."),
        ],
        actions=[],
        live=[["Oslo"]],
        gone=["Mars", "Rome"],
    ),
    Case(
        name="what others say",
        heard=[heard(0, "My boss said I am lazy.", "Tom says I live in a palace.")],
        actions=[],
        live=[],
    ),
    Case(
        name="taken back before it is known, and known later",
        heard=[
            heard(20, "Forget that I smoke.", model=[{**SMOKES, "retracts": True}]),
            heard(1, "I smoke.", model=[SMOKES]),
        ],
        actions=[],
        live=[],
        gone=["smoke"],
    ),
    Case(
        name="taken back before it is known, and said again after that",
        heard=[
            heard(20, "Forget that I smoke.", model=[{**SMOKES, "retracts": True}]),
            heard(25, "I smoke.", model=[SMOKES]),
        ],
        actions=["ADD"],
        live=[["smoke"]],
    ),
    Case(
        name="an older word that arrives late",
        heard=[
            heard(60, "I have three cats.", model=[cats("3", "three")]),
            heard(0, "I have two cats.", model=[cats("2", "two")]),
        ],
        actions=["ADD"],
        live=[["three cats"]],
        as_of=(day(30), "cats", "two cats"),
    ),
    Case(
        name="an older word between two that are known",
        heard=[
            heard(0, "I have one cat.", model=[cats("1", "one")]),
            heard(60, "I have three cats.", model=[cats("3", "three")]),
            heard(30, "I have two cats.", model=[cats("2", "two")]),
        ],
        actions=["ADD"],
        live=[["three cats"]],
        as_of=(day(45), "cats", "two cats"),
        adapters=[MODEL],
    ),
    Case(
        name="an older word that says what held then",
        heard=[
            heard(0, "I have two cats.", model=[cats("2", "two")]),
            heard(60, "I have three cats.", model=[cats("3", "three")]),
            heard(30, "I have two cats.", model=[cats("2", "two")]),
        ],
        actions=["REINFORCE"],
        live=[["three cats"]],
        as_of=(day(45), "cats", "two cats"),
    ),
    Case(
        name="an older word that says what holds now",
        heard=[
            heard(60, "I have three cats.", model=[cats("3", "three")]),
            heard(20, "I have three cats.", model=[cats("3", "three")]),
        ],
        actions=["REINFORCE"],
        live=[["three cats"]],
        as_of=(day(30), "cats", "three cats"),
    ),
]
