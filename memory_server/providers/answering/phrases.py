"""What the local answerer says of its own, in the languages that the rules read."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.providers.extraction.rules import language
from memory_server.providers.extraction.rules.acts import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The phrases of one language; `{}` is what is quoted."""

    known: str
    known_then: str
    """With the time that was asked about, as it was asked, before what is quoted."""
    you_said: str
    nothing_known: str
    noted: str
    will_forget: str
    forget_what: str
    erase: str
    small_talk: Mapping[Act, str]


ENGLISH = Phrases(
    known="From memory: {}",
    known_then="From memory, {}: {}",
    you_said='From memory, you said: "{}"',
    nothing_known="I have nothing in memory about that.",
    noted="Noted.",
    will_forget="I will forget: {}",
    forget_what="I could not tell what to forget.",
    erase="An operator erases a user's whole memory with `agentengine memory erase --user-id`.",
    small_talk={
        Act.GREETING: "Hello.",
        Act.THANKS: "You are welcome.",
        Act.FAREWELL: "Goodbye.",
        Act.ACKNOWLEDGEMENT: "All right.",
    },
)
SPANISH = Phrases(
    known="Según mi memoria: {}",
    known_then="Según mi memoria, {}: {}",
    you_said="Según mi memoria, dijiste: «{}»",
    nothing_known="No tengo nada en la memoria sobre eso.",
    noted="Anotado.",
    will_forget="Olvidaré: {}",
    forget_what="No he entendido qué debo olvidar.",
    erase="Un operador borra toda la memoria de un usuario con `agentengine memory erase "
    "--user-id`.",
    small_talk={
        Act.GREETING: "Hola.",
        Act.THANKS: "De nada.",
        Act.FAREWELL: "Hasta luego.",
        Act.ACKNOWLEDGEMENT: "De acuerdo.",
    },
)


def phrases_for(message: str) -> Phrases:
    """Return the phrases of the message's language."""
    return SPANISH if language.guess(message) == "es" else ENGLISH
