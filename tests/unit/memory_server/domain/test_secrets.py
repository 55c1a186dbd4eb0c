"""Secrets that people tell, and what is not one."""

from datetime import UTC, datetime

import pytest

from memory_server.domain.secrets import is_only_secret, secrets_of, without_secrets
from memory_server.domain.turn import Role, Turn


def turns(*contents: str) -> list[Turn]:
    """Return a conversation in which user and assistant speak in turn."""
    return [
        Turn(
            id=f"t{number}",
            project_id="p",
            session_id="s",
            user_id="u",
            agent_id=None,
            turn_seq=number,
            role=(Role.USER, Role.ASSISTANT)[number % 2],
            content=content,
            created_at=datetime(2026, 6, 9, tzinfo=UTC),
            metadata={},
        )
        for number, content in enumerate(contents)
    ]


def hidden(*contents: str) -> str:
    """Return what is left of a conversation, turn by turn in lines."""
    return "\n".join(turn.content for turn in without_secrets(turns(*contents))[0])


TOLD = {
    "My password is hunter2.": "My password is [secret].",
    "The wifi password is Tr0ub4dor&3 and the network is Casa.": (
        "The wifi password is [secret] and the network is Casa."
    ),
    "The alarm code at my mum's is, I think, 4417.": (
        "The alarm code at my mum's is, I think, [secret]."
    ),
    "My card PIN is four four one seven.": "My card PIN is [secret].",
    "My card number is 5500 0000 0000 0004.": "My card number is [secret].",
    "Authorization: Bearer qT81.vexLoom.44fa0": "Authorization: Bearer [secret]",
    "git clone https://ana:ghp_16C7e42F292c6912E77@github.com/x/y": (
        "git clone https://ana:[secret]@github.com/x/y"
    ),
    "My passphrase is correct horse battery staple.": "My passphrase is [secret].",
    "The wifi password? It's sunshine, all lower case.": (
        "The wifi password? It's [secret], all lower case."
    ),
    "SMS says: Your code is 835 162. Tell nobody.": (
        "SMS says: Your code is [secret]. Tell nobody."
    ),
    "Door code for the building: 7788#": "Door code for the building: [secret]",
    "the gate is 7788, remember it": "the gate is [secret], remember it",
    "My recovery codes are X7Q9-22KD and P0LM-81AA.": (
        "My recovery codes are [secret] and [secret]."
    ),
    "the cvv is 123 and it expires 04/27": "the cvv is [secret] and it expires 04/27",
    "I changed my Netflix password to mellon.": "I changed my Netflix password to [secret].",
    "5566 is my phone PIN": "[secret] is my phone PIN",
    "export DB_PASSWORD=abcdef": "export DB_PASSWORD=[secret]",
    "I work at Acme and my PIN is 4417.": "I work at Acme and my PIN is [secret].",
    "Mi contraseña es hola1234.": "Mi contraseña es [secret].",
    "La clave del wifi es amapola.": "La clave del wifi es [secret].",
    "El código de la alarma de mi madre es el 4417.": (
        "El código de la alarma de mi madre es el [secret]."
    ),
    "Mi NIP es 2580.": "Mi NIP es [secret].",
    "Marca 2580 para abrir el portal.": "Marca [secret] para abrir el portal.",
    "Mi pin es cuatro cuatro uno siete.": "Mi pin es [secret].",
    "Mi frase de recuperación es gato negro luna llena mar azul.": (
        "Mi frase de recuperación es [secret]."
    ),
    "Usuario ana, contraseña Luna2019.": "Usuario ana, contraseña [secret].",
    "The lockbox opens with 9944.": "The lockbox opens with [secret].",
    "Remember 4321, it's the garage door code": "Remember [secret], it's the garage door code",
    "Dad's PIN? 4321.": "Dad's PIN? [secret].",
    "G-998877 is your Google verification code.": "[secret] is your Google verification code.",
    'OPENAI_API_KEY="sk-kX9aBcDeFgHiJ"': 'OPENAI_API_KEY="[secret]"',
    "contraseña wifi: mangoverde": "contraseña wifi: [secret]",
    "La combinación del candado es 77-12-30.": "La combinación del candado es [secret].",
}
NOT_TOLD = [
    "I use Bitwarden as my password manager.",
    "I reset my password twice in 2023.",
    "My password expires every 90 days.",
    "My password is too long to remember.",
    "My phone number is 555 0134.",
    "My spare key is behind the gas meter.",
    "My house number is 4417.",
    "My zip code is 02139.",
    "The error code is 4040 on the dryer.",
    "The dress code is black tie.",
    "The code is 4000 lines long and I wrote it alone.",
    "Forgot my wifi password, router is a Fritzbox 7590.",
    "I have a master key to 300 rooms.",
    "I use about 20000 tokens a day.",
    "I use the promo code SAVE2020 every month.",
    "My booking reference is BX-9931.",
    "My pin collection has 3000 pieces.",
    "I own 4000 locks.",
    "Our build takes 3600 seconds with the cached token.",
    "My security token broke on 14 March 2024.",
    "My login fails with error 50126.",
    "The secret of my paella is saffron.",
    "My IBAN is ES91 2100 0418 4502 0005 1332.",
    "La clave del éxito es la constancia.",
    "Mi contraseña no la sabe nadie.",
    "Mi código postal es 28013.",
    "El código penal es de 1995.",
    "El pin de mi solapa es de 1977.",
]


@pytest.mark.parametrize(("text", "left"), TOLD.items())
def test_secret_is_taken_out_and_the_words_around_it_stay(text: str, left: str) -> None:
    assert hidden(text) == left


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_is_said_about_secrets_and_other_numbers_stays(text: str) -> None:
    assert hidden(text) == text


def test_secret_is_taken_out_wherever_it_is_said_again() -> None:
    assert "835" not in hidden("Su código es 835 162.", "Vale.", "¿Y el 835162? ¿O 835-162?")


def test_answer_to_a_question_for_a_secret_is_one() -> None:
    assert hidden("What is the door code?", "4417", "Thanks, 4417 it is") == (
        "What is the door code?\n[secret]\nThanks, [secret] it is"
    )
    assert hidden("x", "What's the wifi password?", "bluefin").endswith("[secret]")
    assert hidden("x", "What's the wifi password?", "no idea").endswith("no idea")


def test_what_was_taken_out_stays_out_when_read_again() -> None:
    once = hidden("My password is hunter2.", "It is hunter2?")

    assert hidden(*once.splitlines()) == once


def test_a_text_that_is_nothing_but_a_secret_is_told_from_one_that_says_more() -> None:
    assert is_only_secret("[secret].")
    assert not is_only_secret("at home, [secret]")
    assert not is_only_secret("at home")


def test_a_conversation_without_secrets_is_read_as_it_is() -> None:
    said = turns("I live in Porto.", "Nice.")

    assert without_secrets(said)[0] == said
    assert not secrets_of(said).values
