"""Answers from memory alone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.memory import MemoryType
from memory_server.domain.past_questions import past_question
from memory_server.domain.turn import Turn
from memory_server.providers.answering.local import LocalAnswerer
from memory_server.providers.answering.matching import best
from memory_server.providers.answering.phrases import ENGLISH, SPANISH
from memory_server.providers.extraction.rules import RuleExtractor
from tests.conversations import NOW, said, turn

FACTS = (
    "The user always flies out of Boston.",
    "The user is allergic to shellfish.",
    "The user works at Acme as a nurse.",
    "El usuario vive en Madrid.",
)


def fact_chunk(text: str, *, label: str | None = None) -> Chunk:
    metadata = {} if label is None else {"label": label}
    return Chunk(
        id=text, content=text, source=Source.SEMANTIC, timestamp=NOW, score=0.5, metadata=metadata
    )


def episode_chunk(text: str) -> Chunk:
    return Chunk(id="e", content=text, source=Source.EPISODIC, timestamp=NOW, score=0.5)


def later(said: Turn, minutes: int) -> Turn:
    return replace(said, created_at=said.created_at + timedelta(minutes=minutes))


async def answer_from(message: str, chunks: Sequence[Chunk], recent: tuple[Turn, ...] = ()) -> str:
    pieces = LocalAnswerer().answer(message, context="", chunks=chunks, recent=recent)
    return "".join([piece async for piece in pieces])


async def answer(message: str, *facts: str, recent: tuple[Turn, ...] = ()) -> str:
    return await answer_from(message, [fact_chunk(fact) for fact in facts], recent)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which airport do I usually fly from?", FACTS[0]),
        ("where do I fly out of", FACTS[0]),
        ("Where do I fly from again, please?", FACTS[0]),
        ("What's my home airport?", FACTS[0]),
        ("Who did I go to Lisbon with?", "The user went to Lisbon with Tom."),
        ("What am I allergic to?", FACTS[1]),
        ("Do I have any allergies?", FACTS[1]),
        ("What is my job?", FACTS[2]),
        ("Tell me where I work", FACTS[2]),
        ("Where am I from?", "The user is from Spain."),
        ("Where do I come from?", "The user is from Spain."),
    ],
)
async def test_question_is_answered_with_the_sentence_that_fits(
    question: str, expected: str
) -> None:
    known = (*FACTS, "The user is from Spain.", "The user went to Lisbon with Tom.")

    assert await answer(question, *known) == f"From memory: {expected}"


# Each row: what was said of old, as the rules write it, and a question that it answers.
SPANISH_QUESTIONS = [
    ("El usuario vive en Sevilla.", "¿Dónde vivo ahora?"),
    ("El usuario vive en Sevilla.", "donde vivo"),
    ("El usuario vive en Sevilla.", "¿En qué ciudad vivo?"),
    ("El usuario vive en Sevilla.", "¿Sabes dónde vives o dónde vivo yo?"),
    ("El usuario se mudó a Lisboa la semana pasada.", "¿Dónde vivo?"),
    ("El usuario trabaja en Telefónica como ingeniera.", "¿En qué trabajo?"),
    ("El usuario trabaja en Telefónica como ingeniera.", "¿A qué me dedico?"),
    ("El usuario trabaja en Telefónica como ingeniera.", "¿Dónde trabajo actualmente?"),
    ("El usuario tiene dos gatos.", "¿Cuántos gatos tengo?"),
    ("El usuario tiene dos gatos.", "¿Tengo mascotas?"),
    ("El usuario tiene 34 años.", "¿Cuántos años tengo?"),
    ("El usuario tiene 34 años.", "¿Qué edad tengo?"),
    ("El usuario nació en 1990.", "¿Cuándo nací?"),
    ("El usuario es de Cádiz.", "¿De dónde soy?"),
    ("El usuario se llama Lucía.", "¿Cómo me llamo?"),
    ("El usuario se llama Lucía.", "¿Quién soy?"),
    ("El usuario dijo: «Mi hermana se llama Clara».", "¿Cómo se llama mi hermana?"),
    ("El usuario es alérgica a los mariscos.", "¿A qué soy alérgica?"),
    ("El usuario es alérgico a los mariscos.", "¿Tengo alguna alergia?"),
    ("El usuario es alérgico a los mariscos.", "a que soy alergico"),
    ("Al usuario le gusta el café.", "¿Me gusta el café?"),
    ("Al usuario le gusta el té.", "¿Qué me gusta?"),
    ("El usuario siempre vuela desde Barajas.", "¿Desde dónde vuelo?"),
    ("El usuario siempre vuela desde Barajas.", "¿Cuál es mi aeropuerto?"),
    ("El usuario habla español e inglés.", "¿Qué idiomas hablo?"),
    ("El usuario no fuma.", "¿Fumo?"),
    ("El usuario dijo: «Mi color favorito es el verde».", "¿Cuál es mi color favorito?"),
    ("El usuario dijo: «Mi dentista es Paz».", "¿Quién es mi dentista?"),
]


@pytest.mark.parametrize(("fact", "question"), SPANISH_QUESTIONS)
async def test_spanish_question_is_answered_in_spanish(fact: str, question: str) -> None:
    assert await answer(question, fact) == f"Según mi memoria: {fact}"


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("El usuario tiene dos perros.", "¿Cuántos gatos tengo?"),
        ("El usuario vive en Sevilla.", "¿Quién es mi jefe?"),
        ("El usuario vive en Sevilla.", "¿De dónde soy?"),
        ("Al usuario le gusta el café.", "¿Me gusta el té?"),
    ],
)
async def test_spanish_question_about_something_else_is_not_answered(
    fact: str, question: str
) -> None:
    assert await answer(question, fact) == SPANISH.nothing_known


@pytest.mark.parametrize(
    ("spoken", "question"),
    [("Vivo en Sevilla.", "¿Dónde vivo ahora?"), ("Tengo dos gatos.", "¿Tengo mascotas?")],
)
async def test_what_the_rules_make_of_spanish_words_answers_spanish_questions(
    spoken: str, question: str
) -> None:
    found = await RuleExtractor().extract(said(spoken), MemoryType.SEMANTIC)
    fact = found.candidates[0].body.chunk_text

    assert await answer(question, fact) == f"Según mi memoria: {fact}"


@pytest.mark.parametrize("question", ["Who is my boss?", "What is the weather in Rome?"])
async def test_what_is_not_known_is_said_to_be_unknown(question: str) -> None:
    assert await answer(question, *FACTS) == ENGLISH.nothing_known


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Hello!", "Hello."),
        ("Hi there, thanks.", "Hello."),
        ("Thanks a lot!", "You are welcome."),
        ("Bye!", "Goodbye."),
        ("ok", "All right."),
        ("Hi, my name is Ana.", "Noted."),
        ("Hello! I live in Rome.", "Noted."),
        ("Remember that I like tea.", "Noted."),
        ("Can you remember that I like tea?", "Noted."),
        ("¡Hola!", "Hola."),
        ("Gracias", "De nada."),
        ("Vivo en Sevilla.", "Anotado."),
    ],
)
async def test_only_a_statement_is_noted(message: str, expected: str) -> None:
    assert await answer(message, *FACTS) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Forget what I'm allergic to.", f"I will forget: {FACTS[1]}"),
        ("Forget my allergy.", f"I will forget: {FACTS[1]}"),
        ("Forget my shellfish allergy.", f"I will forget: {FACTS[1]}"),
        ("Forget that I am allergic to shellfish.", f"I will forget: {FACTS[1]}"),
        ("Please forget my job", f"I will forget: {FACTS[2]}"),
        ("Forget which airport I fly from.", f"I will forget: {FACTS[0]}"),
        ("Forget my address.", f"I will forget: {FACTS[3]}"),
        ("Forget that I am allergic to nuts.", "I could not tell what to forget."),
        ("Forget that I always fly out of Denver.", "I could not tell what to forget."),
        ("Forget that I always fly out of Boston.", f"I will forget: {FACTS[0]}"),
        ("Forget my job and my home airport.", f"I will forget: {FACTS[2]} {FACTS[0]}"),
        ("Forget my birthday.", "I could not tell what to forget."),
        ("Forget it.", "I could not tell what to forget."),
        ("Olvida dónde vivo.", f"Olvidaré: {FACTS[3]}"),
        ("Olvida mi cumpleaños.", SPANISH.forget_what),
    ],
)
async def test_forgetting_is_promised_only_for_what_will_be_taken_back(
    message: str, expected: str
) -> None:
    labels = ("home_airport", "allergic_to_shellfish", "workplace", "residence")
    chunks = [fact_chunk(text, label=label) for text, label in zip(FACTS, labels, strict=True)]

    assert await answer_from(message, chunks) == expected


async def test_of_several_of_a_kind_all_are_forgotten_or_none() -> None:
    facts = ("The user is allergic to nuts.", "The user is allergic to soy.")
    labels = ("allergic_to_nuts", "allergic_to_soy")
    chunks = [fact_chunk(text, label=label) for text, label in zip(facts, labels, strict=True)]

    both = await answer_from("Forget my allergies.", chunks)
    neither = await answer_from("Forget my allergy.", chunks)

    assert both == f"I will forget: {facts[0]} {facts[1]}"
    assert facts[0] not in neither


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Forget where I live.", "I will forget: The user lives in Rome."),
        ("Forget my hobby.", "I could not tell what to forget."),
    ],
)
async def test_without_labels_the_fact_to_forget_is_told_by_its_words(
    message: str, expected: str
) -> None:
    assert await answer(message, "The user lives in Rome.") == expected


async def test_forgetting_what_was_just_said_names_it() -> None:
    recent = (turn(1, "I live in Boston."),)

    assert await answer("Forget where I live.", recent=recent) == "I will forget: I live in Boston."


async def test_forgetting_everything_is_an_operators_work() -> None:
    english = await answer("Forget everything about me.", *FACTS)
    spanish = await answer("Olvida todo sobre mí.", *FACTS)

    assert english.startswith("I could not tell what to forget.")
    assert "agentengine memory erase --user-id" in english
    assert "agentengine memory erase --user-id" in spanish


async def test_what_was_to_be_forgotten_is_quoted_no_more_until_it_is_said_again() -> None:
    recent = (turn(1, "I live in Boston."), later(turn(2, "Forget where I live."), 1))
    again = (*recent, later(turn(3, "I live in Rome."), 2))

    forgotten = await answer("Where do I live?", "The user lives in Boston.", recent=recent)

    assert forgotten == ENGLISH.nothing_known
    assert "Rome" in await answer("Where do I live?", recent=again)


async def test_nothing_remembered_at_all_is_no_error() -> None:
    assert await answer("Where do I live?") == ENGLISH.nothing_known


async def test_statement_is_acknowledged_and_not_answered() -> None:
    assert await answer("I always fly out of Boston.", *FACTS) == ENGLISH.noted


async def test_what_was_just_said_counts_before_it_is_remembered() -> None:
    recent = (turn(1, "I always fly out of Boston."), turn(2, "Where do I fly from?"))

    answered = await answer("Where do I fly from?", recent=recent)

    assert answered == 'From memory, you said: "I always fly out of Boston."'


async def test_what_was_just_said_has_the_last_word() -> None:
    recent = (turn(1, "I always fly out of Denver now."),)

    answered = await answer("Where do I fly from?", *FACTS, recent=recent)

    assert answered == 'From memory, you said: "I always fly out of Denver now."'


async def test_fact_is_preferred_to_what_an_episode_once_said() -> None:
    chunks = [episode_chunk("User: I always fly out of Boston."), fact_chunk(FACTS[0])]

    assert await answer_from("Where do I fly from?", chunks) == f"From memory: {FACTS[0]}"


EPISODE = (
    "5 January 2026, User, Assistant and Ben:\nUser: Where do I fly from?\n"
    'Assistant: From memory, you said: "I fly from Oslo".\nUser: Forget where I fly from.\n'
    "User: I always fly out of Boston.\nUser: I fly from Boston often.\n"
    "Ben: My sister grows tulips.\nAssistant: Your sister grows roses."
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where do I fly from?", 'From memory, you said: "I always fly out of Boston."'),
        ("Who grows tulips?", "From memory: Ben: My sister grows tulips."),
        ("Who grows roses?", ENGLISH.nothing_known),
    ],
)
async def test_episode_is_quoted_in_one_line_that_a_person_stated(
    question: str, expected: str
) -> None:
    assert await answer_from(question, [episode_chunk(EPISODE)]) == expected


async def test_episode_in_prose_is_quoted_without_what_the_assistant_said() -> None:
    prose = "The assistant said that Ana grows roses. The user planted tulips."

    assert await answer_from("Who planted tulips?", [episode_chunk(prose)]) == ENGLISH.nothing_known
    assert await answer_from("Who planted tulips?", [episode_chunk(prose.split(". ")[1])]) == (
        "From memory: The user planted tulips."
    )


async def test_question_beside_a_statement_is_answered() -> None:
    assert await answer("I live in Rome. Where do I live?") == (
        'From memory, you said: "I live in Rome."'
    )


async def test_sentence_that_shares_half_of_the_question_is_no_answer() -> None:
    assert (
        await answer("What is my dog's name?", "The user's name is Ana.") == ENGLISH.nothing_known
    )


async def test_same_question_gets_the_same_answer() -> None:
    assert {await answer("What am I allergic to?", *FACTS) for _ in range(3)} == {
        f"From memory: {FACTS[1]}"
    }


def test_sentence_with_more_of_the_question_comes_first_and_weak_ones_are_left_out() -> None:
    texts = ["Ana likes tea. Ana likes green tea from Japan.", "Bob likes beer."]

    found = best("Does Ana like green tea?", texts)

    assert [match.sentence for match in found] == ["Ana likes green tea from Japan."]


async def of_the_past(message: str, *facts: str, now: Sequence[str] = FACTS) -> str:
    """Answer a question about the past from what held then, and from what holds now."""
    asked = past_question(message, NOW)
    assert asked is not None
    past = replace(asked, chunks=[fact_chunk(fact) for fact in facts])
    chunks = [fact_chunk(fact) for fact in now]
    pieces = LocalAnswerer().answer(message, context="", chunks=chunks, recent=(), past=past)
    return "".join([piece async for piece in pieces])


async def test_a_question_about_the_past_is_answered_with_what_held_then() -> None:
    now = ("The user lives in Oslo.",)

    english = await of_the_past("Where did I live in 2019?", "The user lives in Bergen.", now=now)
    spanish = await of_the_past("¿Dónde vivía en 2019?", "El usuario vive en Bergen.", now=now)

    assert english == "From memory, in 2019: The user lives in Bergen."
    assert spanish == "Según mi memoria, en 2019: El usuario vive en Bergen."


async def test_what_held_then_and_does_not_speak_to_the_question_is_not_quoted() -> None:
    answered = await of_the_past("Where did I live in 2019?", "The user likes tea.")

    assert answered == ENGLISH.nothing_known
