"""Which of two finds is the later word on what is asked."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_server.domain.later_words import NEAR, RELATED, Told, later_word_first
from memory_server.domain.ranking import Ranked

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
ENGLISH = [
    ("What is my savings target?", "My savings target is $12,500.", "The sum is $14,000 instead."),
    ("How tall is my desk?", "My desk is 72 centimetres high.", "Now it is at 80 cm."),
    ("What is my blood pressure?", "It was 143 over 90.", "On tablets it is 128 over 80 now."),
    ("How often do I swim?", "I swim twice a week.", "I go to the pool every other day by now."),
    ("How many hens do I have?", "I have 9 hens.", "By now six hens are left."),
    ("What is my team's size?", "Our team counts 18 heads.", "Two left, we are 16 now."),
    ("Where is my spare key?", "It is behind the meter.", "Now it is inside the lantern."),
    ("Who is my dentist?", "My dentist is Dr. Veni.", "It closed, Dr. Hize has my file."),
    ("When is my class?", "My class is on Tuesday.", "The class has moved to Friday."),
    ("At what time do I get up?", "I get up at 6:30.", "My alarm is at 7:15 now."),
    ("What tyre pressure do I ride?", "I ride with 47 psi.", "I changed that, it is 91 psi."),
    ("What does my cat weigh?", "My cat weighs 5.2 kilos.", "Dieting, my cat is down to 4.8 kg."),
    ("What is our Wi-Fi called?", "Our Wi-Fi is called Toutras.", "I renamed it to Tadres."),
    ("Which locker is mine?", "My locker is number 12.", "It broke, they moved me to number 31."),
    ("How wet is my dough?", "I mix my dough at 79 percent.", "I went up to 83% for good."),
    ("How warm is my flat?", "I keep it at 21 degrees.", "These days it is at 19 degrees."),
    ("What is my rent?", "My rent is €900.", "They raised it: €980 since May."),
    ("How far do I run?", "I run 8 km.", "It has become 12 km by now."),
    ("Where do I bank?", "I bank with Nordia.", "I switched to Bankinter."),
    ("Who is my boss?", "I report to Clara Diaz.", "Clara left; since May I report to Ivo Ruiz."),
]  # fmt: skip
SPANISH = [
    ("¿Cuánto quiero ahorrar?", "Quiero ahorrar 5.000 euros.", "Al final quiero juntar 8.000 €."),
    ("¿Qué altura tiene mi mesa?", "Mi mesa mide 72 cm.", "La subí: ahora está a 80 centímetros."),
    ("¿Qué tensión tengo?", "Tengo 14 sobre 9.", "Con las pastillas ahora marca 12 sobre 8."),
    ("¿Cada cuánto nado?", "Nado una vez a la semana.", "Ahora voy a la piscina cada día."),
    ("¿Cuántas gallinas tengo?", "Tengo 9 gallinas.", "Vino el zorro y ya son seis gallinas."),
    ("¿Cuántos somos en mi equipo?", "Mi equipo es de 18.", "Se fueron dos y ahora somos 16."),
    ("¿Dónde está mi llave?", "Está detrás del contador.", "La cambié: está dentro del farol."),
    ("¿Quién es mi dentista?", "Voy con la Dra. Veni.", "Cerró, y ahora me lleva la Dra. Hize."),
    ("¿Qué día tengo clase?", "Mi clase es el martes.", "Han pasado a dar la clase el viernes."),
    ("¿A qué hora me levanto?", "Me levanto a las 6:30.", "Ahora pongo el despertador a las 7:15."),
    ("¿A qué presión llevo las ruedas?", "Las llevo a 47 psi.", "Ya no, las subí a 91 psi."),
    ("¿Cuánto pesa mi gata?", "Mi gata pesa 5,2 kilos.", "Con la dieta ha bajado a 4,8 kg."),
    ("¿Cómo se llama mi red?", "Mi red se llama Toutras.", "La renombré y se llama Tadres."),
    ("¿Qué taquilla tengo?", "Tengo la 12 de la piscina.", "Se rompió y me pasaron a la 31."),
    ("¿Qué humedad lleva mi pan?", "Mi pan lleva un 79 por ciento.", "Subí a un 83%."),
    ("¿A cuánto tengo la casa?", "La tengo a 21 grados.", "Desde enero la tengo a 19 grados."),
    ("¿Cuánto pago de alquiler?", "Pago 900 euros.", "Lo subieron: ahora son 980 euros."),
    ("¿Cuánto corro?", "Corro 8 km.", "Últimamente corro 12 km."),
    ("¿Dónde tengo el banco?", "Tengo el banco en Nordia.", "Me cambié a Bankinter."),
    ("¿Quién es mi jefa?", "Mi jefa es Clara Diaz.", "Clara se fue: ahora es Eva Ruiz."),
]  # fmt: skip
MORE = [
    ("What is my shoe size?", "My shoe size is 41 and a half.", "Now I take 42 and a half."),
    ("Where do I park?", "My car is on 2E-56.", "I swapped with a woman: I stand on 2C-43."),
    ("When does my choir meet?", "We sing every Monday.", "The hall is taken: Saturdays instead."),
    ("How big is my plot?", "It has 300 acres.", "A neighbour got some, now I have 90 acres."),
    ("¿Qué talla llevo?", "Llevo la 41 y media.", "Me midieron otra vez: llevo la 42 y media."),
]  # fmt: skip
LEFT = [
    ("When does my choir meet?", "We sing every Monday.", "My aunt sings on Saturday now."),
    ("How many hens do I have?", "I keep 9 hens.", "We have 3 cars now."),
    ("How many hens do I have?", "I keep 9 hens.", "I have 9 hens now, as before."),
    ("How many hens do I have?", "I keep 9 hens.", "My neighbour has 4 hens now."),
    ("How many hens do I have?", "I keep 9 hens.", "Should I get 12 hens now?"),
    ("How many hens do I have?", "I keep 9 hens.", "Assistant: 12 hens need more now."),
    ("What is my savings target?", "My savings target is $500.", "I paid $90 for new shoes."),
    ("What is my savings target?", "My savings target is $500.", "I swim twice a week now."),
    ("Where do I live?", "I live in Boston.", "I now live with a cat."),
    ("¿Cuántas gallinas tengo?", "Tengo 9 gallinas.", "Ahora tenemos 3 coches."),
    ("¿Cuántas gallinas tengo?", "Tengo 9 gallinas.", "Mi vecina ya tiene 4 gallinas."),
]  # fmt: skip


def told(**texts: str) -> dict[str, Told]:
    """Return what was said, a week apart."""
    return {
        name: Told(text=text, said_at=MARCH + timedelta(weeks=week))
        for week, (name, text) in enumerate(texts.items())
    }


def order(query: str, former: str, later: str, *, share: float = 0.6) -> list[str]:
    """Return which is first where the former is the nearer find."""
    ranked = [Ranked("former", 0.8), Ranked("later", 0.8 * share)]
    return [one.id for one in later_word_first(query, ranked, told(former=former, later=later))]


@pytest.mark.parametrize(("query", "former", "later"), [*ENGLISH, *SPANISH, *MORE])
def test_the_later_word_comes_first(query: str, former: str, later: str) -> None:
    assert order(query, former, later) == ["later", "former"]


@pytest.mark.parametrize(("query", "former", "later"), [*ENGLISH, *SPANISH, *MORE])
def test_what_was_said_before_stays_behind(query: str, former: str, later: str) -> None:
    ranked = [Ranked("later", 0.8), Ranked("former", 0.7)]
    said = told(former=former, later=later)
    assert later_word_first(query, ranked, said) == ranked


@pytest.mark.parametrize(("query", "former", "later"), LEFT)
def test_what_is_about_something_else_stays_behind(query: str, former: str, later: str) -> None:
    assert order(query, former, later) == ["former", "later"]


def test_finds_exchange_their_scores_and_nothing_else_moves() -> None:
    said = told(
        hens="I keep 9 hens.", coop="My coop is green.", more="By now I keep 12 hens.", x="Hello."
    )
    ranked = [Ranked("hens", 0.9), Ranked("coop", 0.7), Ranked("more", 0.5), Ranked("x", 0.1)]

    assert later_word_first("How many hens do I have?", ranked, said) == [
        Ranked("more", 0.9),
        Ranked("coop", 0.7),
        Ranked("hens", 0.5),
        Ranked("x", 0.1),
    ]


def test_of_several_the_latest_comes_first_and_the_others_by_their_time() -> None:
    said = told(a="I keep 9 hens.", b="By now I keep 12 hens.", c="I keep 7 hens now.")
    ranked = [Ranked("a", 0.9), Ranked("b", 0.8), Ranked("c", 0.7)]

    found = later_word_first("How many hens do I have?", ranked, said)

    assert [one.id for one in found] == ["c", "b", "a"]


def test_a_find_that_is_hardly_related_takes_no_place() -> None:
    query, former, later = ENGLISH[0]

    assert order(query, former, later, share=RELATED - 0.01) == ["former", "later"]


def test_without_change_or_common_words_it_has_to_be_about_as_near() -> None:
    asked = "How strong am I as a chess player?"
    said = ("1775 points, not bad.", "The list has me at 1295.")

    assert order(asked, *said, share=NEAR) == ["later", "former"]
    assert order(asked, *said, share=NEAR - 0.01) == ["former", "later"]


def test_an_episode_is_read_by_what_the_user_says_in_it() -> None:
    former = "1 March 2026, User and Assistant:\nUser: I keep 9 hens.\nAssistant: 20 hens are more."
    later = "8 March 2026, User and Assistant:\nUser: I keep 12 hens now.\nAssistant: Good."

    assert order("How many hens do I have?", former, later) == ["later", "former"]
