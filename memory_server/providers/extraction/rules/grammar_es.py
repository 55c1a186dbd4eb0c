"""From the first person to the third, in Spanish."""

import re

from memory_server.providers.extraction.rules.rulebook import rulebook

_FIRST = re.compile(
    r"\b(?:yo|me|mi|mis|mí|conmigo|nos|nuestr[oa]s?|nosotr[oa]s|\w+(?:arme|erme|irme|ándome"
    r"|iéndome)|tu|tus|te|ti|usted)\b",
    re.IGNORECASE,
)


def third_person(clause: str, subject: str) -> str:
    """Return a first-person clause about `subject` as a sentence, else quote it."""
    verbs = rulebook("es").grammar["verbs"]
    plain = re.sub(r"^yo ", "", clause, flags=re.IGNORECASE)
    match = re.match(
        r"(?P<adverbs>(?:(?:siempre|nunca|ya|no|también|tampoco|solo|sólo|normalmente|ahora) )*)"
        r"(?P<verb>(?:me )?[^\W\d_]+)(?P<rest>.*)$",
        plain,
        re.IGNORECASE,
    )
    if match is None or _FIRST.search(match["rest"]) or match["verb"].casefold() not in verbs:
        return quoted(clause, subject)
    verb = verbs[match["verb"].casefold()]
    told = f"{match['adverbs'].casefold()}{verb}{match['rest']}"
    return f"{_actor(verb, subject)} {told}" + ("" if told.endswith((".", "!", "…")) else ".")


def quoted(clause: str, subject: str) -> str:
    """Return what was said as a quotation, where rewriting it might change it."""
    return f"{subject} dijo: «{clause}»."


def _actor(verb: str, subject: str) -> str:
    """Return the subject as the verb wants it: `le gusta` is said of somebody, not by them."""
    if not verb.startswith("le "):
        return subject
    return "Al usuario" if subject == "El usuario" else f"A {subject}"
