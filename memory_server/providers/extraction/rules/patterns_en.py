"""English rules for lasting statements in the first person."""

import re

from memory_server.providers.extraction.rules.pattern import Pattern

_ADVERBS = (
    r"(?:(?:always|usually|normally|typically|generally|mostly|mainly|often|really|absolutely|still"
    r"|currently|now|also|actually|just|only|already|recently|finally|even|do|totally|definitely"
    r"|personally|primarily|almost always|pretty much) )*"
)
_WE = r"(?:I|[Ww]e)"
_AM = r"(?:I am|I'm|I've been|I have been)"
_HAVE = rf"(?:{_WE} {_ADVERBS}have|{_WE}'ve got|{_WE} have got|{_WE} {_ADVERBS}own)"
_END = (
    r"(?= ?(?:$|[,;:()—–]| - | (?:because|since|so|but|and (?:I|my|we|it|they|he|she)\b|when|while"
    r"|whenever|although|though|if|which|where|who|for now|these days|now|anymore|any more|nowadays"
    r"|as well|too|btw|by the way|please|for (?:the (?:past|last)|over|about|almost|\d|a |two|three"
    r"|four|five|six|seven|eight|nine|ten|many|several)|at the moment)\b))"
)
_VALUE = rf"(?P<value>\S.*?){_END}"


def _rule(attribute: str, expression: str, **options: object) -> Pattern:
    return Pattern(attribute=attribute, expression=re.compile(expression), **options)  # type: ignore[arg-type]


_STATES = ("fear", "hope", "peace", "harmony", "denial", "luxury", "style", "the moment", "pain")


def _is_place(value: str) -> bool:
    return value.casefold() not in _STATES and not value.startswith("with ")


PATTERNS: tuple[Pattern, ...] = (
    _rule(
        "name", rf"^(?:[Mm]y (?:full |first )?name is|My name's|my name's) {_VALUE}", exclusive=True
    ),
    _rule(
        "home_airport",
        rf"^(?:{_WE}) {_ADVERBS}(?:fly|depart|leave|travel) (?:out of|from) {_VALUE}",
        exclusive=True,
    ),
    _rule(
        "residence",
        rf"^(?:{_WE} {_ADVERBS}(?:live|reside)|(?:{_AM}|We're) {_ADVERBS}(?:living|based)) (?:out )?(?:in|at|near) {_VALUE}",
        exclusive=True,
        accepts=_is_place,
    ),
    _rule(
        "residence",
        rf"^{_WE}(?:'ve| have)? {_ADVERBS}(?:moved|relocated) (?:back |over |out )?to {_VALUE}",
        exclusive=True,
        passing=True,
        accepts=_is_place,
    ),
)
