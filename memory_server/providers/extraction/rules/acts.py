"""What a sentence does: greet, thank, ask, order memory about, or state something."""

import re
from enum import StrEnum

from memory_server.providers.extraction.rules import guards


class Act(StrEnum):
    """What somebody does by saying a sentence."""

    GREETING = "greeting"
    THANKS = "thanks"
    FAREWELL = "farewell"
    ACKNOWLEDGEMENT = "acknowledgement"
    QUESTION = "question"
    FORGET = "forget"
    REMEMBER = "remember"
    STATEMENT = "statement"


SMALL_TALK = frozenset((Act.GREETING, Act.THANKS, Act.FAREWELL, Act.ACKNOWLEDGEMENT))

_POLITELY = (
    r"^\W*(?:(?:please|can you|could you|will you|would you|ok|okay|hey|and|so|now|por favor"
    r"|puedes|podrías|y|ahora),? )*"
)
_AUXILIARY = r"(?:do|does|did|is|are|am|was|were|can|could|should|will|would|have|has|had)(?:n't)?"
_WORDS = {
    Act.FORGET: _POLITELY + r"(?:forget|stop remembering|olvida(?:te|r)?|olvídate|olvide|olvídalo"
    r"|(?:delete|erase|remove|borra|elimina)(?= (?:about |everything|all|any|my|me\b|that|what"
    r"|where|who|when|how|which|the fact|todo|mis?\b|lo que|que|qué"
    r"|dónde|donde|cómo|cuándo|quién)))\b",
    Act.REMEMBER: _POLITELY + r"(?:remember|don't forget|do not forget|keep in mind|bear in mind"
    r"|make a note|take note|memori[sz]e|recuerda|acuérdate|anota|apunta|ten presente|no olvides)"
    r"(?! (?:me|when|how|what|where|who|cuando|cuándo|cómo|qué|dónde|quién)\b)\b",
    Act.QUESTION: r"^\W*(?:(?:please|hey|hi|ok|okay|so|and|but|then|well|oye|y|pero|entonces),? )*"
    rf"(?:(?:what|where|when|whom|whose|why|how|which) "
    rf"(?:(?!(?:I|you|we|they|he|she|it|my|the|an?)\b)\S+ ){{0,3}}?{_AUXILIARY}\b"
    rf"|who\b|(?:what|where|when|why|how)'s\b"
    rf"|{_AUXILIARY} (?:I|you|we|he|she|they|it|there|my|your|the|this|that|any\w*)\b"
    r"|(?:qué|dónde|cuándo|cómo|quién(?:es)?|cuál(?:es)?|cuánt[oa]s?|por qué"
    r"|(?:a|de|en|con|para|desde) (?:qué|dónde|quién|cuál))\b"
    r"|(?:(?:a|de|en|con|desde) que|(?:(?:a|de|con|desde) )?(?:donde|cuando|cual|quien|cuant[oa]s))"
    r"(?: \S+){1,3}\W*$)",
    Act.GREETING: r"^\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|hola"
    r"|buenos días|buenas(?: tardes| noches)?)(?:[ ,]+(?:there|all|everyone|again|hello|friend"
    r"|assistant|agent|buddy|amig[oa]|de nuevo|a todos))*(?:,? [A-ZÀ-Þ][\w'-]+)?"
    r"(?:\W+(?:how are you|how's it going|what's up|qué tal|cómo estás)(?: doing| today| hoy)?)?"
    r"\W*$",
    Act.THANKS: r"^\W*(?:(?:ok|okay|great|cool|vale),? )?(?:thanks|thank you|cheers|thx"
    r"|(?:muchas )?gracias)\b[\w ,']{0,25}\W*$",
    Act.FAREWELL: r"^\W*(?:bye|goodbye|good night|see you|take care|talk to you|adiós|hasta)\b"
    r"[\w ,']{0,25}\W*$",
    Act.ACKNOWLEDGEMENT: r"^\W*(?:(?:ok|okay|vale|sure|cool|great|nice|wow|yes|no|sí|yeah|yep|nope"
    r"|how are you|what's up|no problem|you're welcome|de nada|awesome|noted|got it|anotado"
    r"|qué tal|de acuerdo|perfecto|perfect|claro|fine|right|all right|alright|i see|entendido)\b"
    r"[ ,]*)+(?:(?:then|so much|thanks|gracias|doing|today|haha|hoy|there|sounds good|to hear"
    r"|very|much|a lot)[ ,]*)*\W*$",
}
_ACTS = {act: re.compile(words, re.IGNORECASE) for act, words in _WORDS.items()}
_IN_ORDER = (
    Act.GREETING,
    Act.THANKS,
    Act.FAREWELL,
    Act.ACKNOWLEDGEMENT,
    Act.FORGET,
    Act.REMEMBER,
    Act.QUESTION,
)


def act_of(sentence: str) -> Act:
    """Return what is done by saying the sentence, in English or Spanish."""
    plain = sentence.replace("\u2019", "'").strip()
    for act in _IN_ORDER:
        if _ACTS[act].match(plain):
            return act
    return Act.QUESTION if guards.is_question(plain) else Act.STATEMENT
