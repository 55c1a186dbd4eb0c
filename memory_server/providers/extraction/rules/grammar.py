"""First-person words as a sentence about the speaker, in the language of the words."""

import re

from memory_server.providers.extraction.rules import grammar_en, grammar_es
from memory_server.providers.extraction.rules.reading import USER


def third_person(words: str, subject: str, language: str) -> str:
    """Return a plain sentence that says of `subject` what was said in the first person."""
    if language == "es":
        return grammar_es.third_person(words, "El usuario" if subject == USER else subject)
    named = "The user" if subject == USER else subject
    if re.search(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur|me)\b", words):
        return grammar_en.third_person(words, named)
    return grammar_en.sentence(words)


def reported(words: str, subject: str, language: str) -> str:
    """Return what `subject` said of themself in the third person, anything else as a quotation."""
    if language == "es":
        return third_person(words, subject, language)
    if re.match(r"I\b", words):
        return third_person(words, subject, language)
    return grammar_en.quoted(words, "The user" if subject == USER else subject)
