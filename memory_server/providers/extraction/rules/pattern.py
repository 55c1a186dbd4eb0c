"""What a rule is: regular expressions over one clause, and the claim they make."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One lasting statement and the ways in which it is put into words.

    The groups of the expressions fill the templates: `value` is the value; others may appear
    in `attribute`, where they become snake_case, and in `value`.
    """

    attribute: str
    say: Sequence[re.Pattern[str]]
    value: str = "{value}"
    exclusive: bool = False
    """Whether only one value can hold at a time."""
    polar: bool = False
    """Whether the thing is part of the attribute and the value is yes or no."""
    negative: bool = False
    """Whether a polar statement says no."""
    many: bool = False
    """Whether the value is a list whose items are claims of their own."""
    passing: bool = False
    """Whether words like `today` are welcome, because it tells what was done or is planned."""
    fallback: bool = False
    """Whether it counts only when nothing more exact was found in the clause."""
    whole: bool = False
    """Whether it reads the whole sentence, before openers like `Hi,` are taken off."""
    place: bool = False
    """Whether `, Oregon` after the value belongs to it."""
    context_free: bool = False
    """Whether a value that points elsewhere (`these`, `them`) makes no sense on its own."""
    to_assistant: bool = False
    """Whether it is said to an assistant only, not between people."""
    dated: bool = False
    """Whether it counts only when the words tell a past time that can be resolved."""
    accepts: str = ""
    """The name of a list whose word the value must end in."""
    rejects: str = ""
    """The name of a list whose words the verb, the thing's or the value's last must not be."""
    solid: bool = False
    """Whether the value must be something fixed, no judgement and no passing state."""
    ends: bool = False
    """Whether it tells what holds no longer; more may be found in the clause beside it."""
    alone: bool = False
    """Whether it counts only when nothing was found in the clause before it."""
    words: str = ""
    """What is remembered in place of the clause."""
    not_thing: str = ""
    """Words that the group `thing` must not be."""
    heads: str = ""
    """With which letters a clause begins that it may match; empty: with any."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Whole words for groups that hold a stem."""

    def match(self, clause: str) -> re.Match[str] | None:
        """Return the first expression's match, or None."""
        if self.heads and clause[:1] not in self.heads:
            return None
        for expression in self.say:
            is_anchored = expression.pattern.startswith("^")
            found = expression.match(clause) if is_anchored else expression.search(clause)
            if found and found.groupdict().get("thing", "") not in self.not_thing.split():
                return found
        return None


def slug(text: str, *, words: int = 6) -> str:
    """Return the first words in snake_case, letters of every script kept."""
    return "_".join(re.findall(r"[^\W_]+", text.replace("'", "").casefold())[:words])
