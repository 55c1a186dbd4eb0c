"""Texts that can be written down: whole characters only."""


def whole(text: str) -> str:
    r"""Return the text with a question mark for each half of a surrogate pair.

    Such halves come out of other programs' JSON (`"\ud83d"`) and can neither be stored nor sent.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
