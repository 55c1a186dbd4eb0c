"""What a rule is: a regular expression over one clause, and the claim it makes."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One way in which a lasting statement is put into words.

    The expression's groups fill the templates: `value` is the value, others may appear in
    `attribute`, where they become snake_case.
    """

    attribute: str
    expression: re.Pattern[str]
    value: str = "{value}"
    exclusive: bool = False
    many: bool = False
    """Whether the value is a list whose items are claims of their own."""
    passing: bool = False
    """Whether words like `today` are welcome, because it tells what was done or is planned."""
    retracts: bool = False
    accepts: Check | None = None
    """A last look at the value."""


def slug(text: str, *, words: int = 6) -> str:
    """Return the first words in snake_case, letters of every script kept."""
    return "_".join(re.findall(r"[^\W_]+", text.casefold())[:words])
