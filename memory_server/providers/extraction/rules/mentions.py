"""Whom `she` and `he` mean: the one relative or animal that the speaker spoke of before."""

from memory_server.providers.extraction.rules.rulebook import Rulebook


def mentioned(text: str, book: Rulebook) -> str | None:
    """Return the only relative or animal of the speaker that a text speaks of, `sister Clara`."""
    names = {match["thing"]: match["name"] or "" for match in book.mention.finditer(text)}
    if len(names) != 1:
        return None
    ((thing, name),) = names.items()
    return f"{thing} {name}".strip()


def resolved(clause: str, about: str | None, book: Rulebook) -> str:
    """Return the clause with whom it is about in place of the pronoun it begins with."""
    if about is None:
        return clause
    own = book.of_them.sub(f"{book.grammar['my']} {about}{book.grammar['genitive']}", clause)
    return own if own != clause else book.they.sub(f"{book.grammar['my']} {about} ", clause)
