"""What nobody said is seen, and what is only told otherwise is not taken for it."""

from dataclasses import dataclass

import pytest

from evaluation.extraction.grounding import Grounds
from tests.evaluation.extraction.labelled import a_case, stored


@dataclass(frozen=True)
class Told:
    said: str
    remembered: str
    language: str = "en"


@pytest.mark.parametrize(
    "told",
    [
        Told("I live in Boston and I'm studying.", "The user lives in Boston and studies."),
        Told("I have two cats.", "The user has 2 cats."),
        Told("I have 3 kids.", "The user has three kids."),
        Told("My wife is Ana.", "Ana is the user's wife."),
        Told(
            "Tengo dos gatos y juego al tenis.", "El usuario tiene 2 gatos y juega al tenis.", "es"
        ),
        Told("Soy bibliotecaria, no médico.", "La usuaria es bibliotecaria y no medico.", "es"),
        Told("Ich fahre einen Käfer.", "Der Benutzer fährt einen Käfer.", "de"),
        Told("Moro em Lisboa.", "O usuário mora em Lisboa.", "pt"),
        Told("我住在北京。", "用户住在北京。", "zh"),
        Told("I never drink tea.", "The user doesn't drink tea."),
        Told("Uso doas.", "El usuario usa doas.", "es"),
        Told("I run at 6am.", "The user runs at 6 am."),
        Told("Since 2026 I swim.", "The user swims since 2026."),
    ],
    ids=lambda told: told.remembered,
)
def test_other_forms_of_what_was_said_are_borne(told: Told) -> None:
    grounds = Grounds.of(a_case(told.said, language=told.language))

    assert grounds.strange_in(stored(told.remembered)) == []


@pytest.mark.parametrize(
    ("told", "kind", "word"),
    [
        (Told("I have two cats.", "The user has 3 cats."), "number", "3"),
        (Told("I live in Boston.", "The user lives in Bostwick."), "name", "Bostwick"),
        (Told("I live in Boston.", "The user lives in Boston with a parrot."), "word", "parrot"),
        (Told("Vivo en Sevilla.", "El usuario vive en Segovia.", "es"), "name", "Segovia"),
        (Told("Ich mag Tee.", "Der Benutzer mag Kaffee.", "de"), "word", "Kaffee"),
        (Told("我住在北京。", "用户住在上海。", "zh"), "word", "上"),
        (Told("I smoke.", "Vacation is loved."), "word", "Vacation"),
        (Told("I have a vacuum.", "The user has a vaccine."), "word", "vaccine"),
    ],
    ids=lambda value: getattr(value, "remembered", str(value)),
)
def test_what_nobody_said_is_strange(told: Told, kind: str, word: str) -> None:
    grounds = Grounds.of(a_case(told.said, language=told.language))

    assert grounds.strange_in(stored(told.remembered))[0] == (kind, word)


def test_the_dates_of_an_event_may_be_told() -> None:
    grounds = Grounds.of(a_case("I moved house last week."))
    text = "The user moved house from 23 February 2026 to 1 March."
    event = {"start": "2026-02-23T00:00:00+01:00", "end": "2026-03-02T00:00:00+01:00"}

    assert grounds.strange_in(stored(text, **event)) == []
    assert grounds.strange_in(stored(text))[0] == ("number", "23")


def test_who_spoke_may_be_named() -> None:
    turns = [{"user": "I swim.", "name": "Ana"}]
    case = a_case(sessions=[{"turns": turns}])

    assert Grounds.of(case).strange_in(stored("Ana swims.")) == []
