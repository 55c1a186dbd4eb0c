"""Sentences that must not be taken for statements of fact."""

import re

_QUESTION = re.compile(r"\?\s*[\"')\]]*$|^¿")
_NOT_MEANT = re.compile(
    r"\b(?:if|would|wouldn't|wish|could|might|maybe|perhaps|probably|imagine|suppose|supposing|pretend"
    r"|hypothetical(?:ly)?|unless|let's say|i think|i guess|i believe|i suspect|not sure|i doubt"
    r"|should i|were i|i'd|almost|nearly)\b"
    r"|\b(?:ojalá|quizás?|tal vez|a lo mejor|imagina|supongamos|creo que|supongo|podría|gustaría"
    r"|sería|viviría|tendría|querría)\b|(?:^|\s)si\s",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"\b(?:just kidding|kidding|jk|lol|lmao|haha+|joking|as if|yeah right|not really|sarcasm|jaja+|es broma"
    r"|era broma|bromeando)\b|[😂🤣😜😝🤪🙃]|(?:^|\s)/s\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|says|told|tells|claims?|claimed|thinks?|wrote|writes|asked|asks|according to|heard|joked"
    r"|believes?|swears|reckons|insists|dice que|dijo|dicen|según|cree que|piensa que)\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"^(?:please |can you |could you |por favor,? )?(?:write|translate|summari[sz]e|draft|rewrite|act as"
    r"|role-?play|pretend|generate|compose|proofread|rephrase|complete|continue|escribe|traduce|resume|redacta"
    r"|actúa|finge)\b|\b(?:my character|in this story|in the story|in my novel|mi personaje)\b",
    re.IGNORECASE,
)
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\b.{0,30}\b(?:rules?|instructions?|prompts?|guidelines|above"
    r"|previous)\b|\b(?:ignora|olvida)\b.{0,30}\b(?:reglas|instrucciones)\b"
    r"|\b(?:every|all|other|any|cada|todos los|otros) (?:users?|usuarios?|people's memory)\b"
    r"|^\s*(?:system|assistant|developer)\s*:|<\|?\s*(?:system|im_start)",
    re.IGNORECASE | re.MULTILINE,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|this (?:morning|afternoon|evening|week|weekend|month)"
    r"|tomorrow|yesterday|for now|temporarily|for the (?:day|week|weekend|night)|hoy|esta (?:mañana|tarde|noche"
    r"|semana)|ahora mismo|mañana|de momento|por ahora)\b",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return bool(_QUESTION.search(sentence.strip()))


def is_joke(sentence: str) -> bool:
    """Whether the sentence, or the one it follows, is marked as not serious."""
    return bool(_JOKE.search(sentence))


def is_task(sentence: str) -> bool:
    """Whether the sentence asks for a text, whose `I` need not be the speaker."""
    return bool(_TASK.search(sentence.strip()))


def is_override(text: str) -> bool:
    """Whether the text tries to give orders about memory itself; it is read as data only."""
    return bool(_OVERRIDE.search(text))


def is_meant(clause: str) -> bool:
    """Whether the clause states something, rather than supposing, wishing or reporting it."""
    return not (_NOT_MEANT.search(clause) or _REPORTED.search(clause))


def is_passing(clause: str) -> bool:
    """Whether the clause is about the present day only."""
    return bool(_PASSING.search(clause))
