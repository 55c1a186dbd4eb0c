"""Expressions of time in English, Spanish, German and Portuguese, and how each is read."""

import re
from collections.abc import Sequence
from functools import cache

from memory_server.domain import date_handlers as read
from memory_server.domain.calendar import (
    MONTH_NAME,
    MONTHS,
    UNITS,
    WEEKDAYS,
    WEEKENDS,
    WRITTEN_DATES,
    YEAR_NUMBER,
    any_of,
)

Rule = tuple[re.Pattern[str], read.Handler]

_WEEKDAY = any_of(WEEKDAYS, at_least=5)
_UNIT = any_of(UNITS)
_WEEKEND = "|".join(WEEKENDS)
_NAMES = f"{any_of(WEEKDAYS, at_least=3)}|{any_of(MONTHS, at_least=3)}"
_NOUN = rf"(?P<noun>{_WEEKEND}|{_UNIT}|{_NAMES})"
_AROUND = rf"(?P<around>{_WEEKEND}|{_UNIT}|{_WEEKDAY})"
_COUNT = rf"(?:a |un |ein |um )?(?P<count>\d{{1,3}}|{any_of(read.COUNTS)})(?: of| de)?"
_AND_A_HALF = r"(?:and a half|y medi[oa]|e mei[oa])"
_COUNTED = rf"{_COUNT} (?P<unit>{_UNIT})(?! {_AND_A_HALF}\b)"
_ROUGHLY = (
    r"(?:more than|less than|over|almost|nearly|at least|up to|half|más de|menos de|casi|al menos"
    r"|mehr als|fast|über|mais de|quase)"
)
_GERMAN_SIDE = r"(?:letzte|vergangene|diese|nächste|kommende)[nsmr]?"
_PAUSE = r"(?=\s*(?:$|[,;:.!?)]))"
_NOT_A_DATE = (
    r"(?!last\b|next\b|yesterday|tomorrow|ayer\b|mañana\b|amanhã\b|que\b"
    r"|(?:el |the )?(?:"
    + "|".join(re.sub(r"\?P<\w+>", "?:", form) for form in WRITTEN_DATES)
    + "))"
)
_OF_YEAR = (
    r"(?:,? (?:of )?(?P<year_side>(?:last|this|next) year|del año pasado|de este año"
    r"|del próximo año|del año que viene|do ano passado|deste ano|do ano que vem"
    r"|(?:letzten|dieses|nächsten) jahres))"
)
_ON = rf"(?:(?:on|by|el|para el|am|em|no dia) )?(?:(?:{_WEEKDAY}),? (?:the |den |el )?)?"
"""A weekday before the day of a month says nothing more."""
_PART = r"(?:early|late|mid|beginning of|start of|middle of|end of|anfang|mitte|ende)"
_IN = (
    rf"(?:(?:(?:back )?(?:in|during|since|by|until)(?: the)?|im|seit|en|desde|em|no|hasta|até"
    rf"|a (?:principios|mediados|finales) de)(?: {_PART})?[ -])"
)
_SEASON = (
    r"(?:spring|summer|autumn|fall|winter|primavera|verano|otoño|invierno|frühling|frühjahr"
    r"|sommer|herbst|verão|outono|inverno)"
)
_WORDS = re.compile(r"[^\W_]+")
_LATER = r"(?P<after>later|afterwards|después|más tarde|depois|mais tarde|später|danach)"
_EARLIER = r"(?:earlier|antes|zuvor|vorher|davor)"


def _rule(expression: str, handler: read.Handler) -> tuple[str, read.Handler]:
    return rf"(?<![\w-])(?<!\d[.,]){expression}(?![\w-])", handler


_DATES = (
    *(
        _rule(
            rf"(?:the |el |la |o |a )?{_AROUND} (?:before|prior to|(?P<after>after|following"
            rf"|después de|depois de)|antes de|antes do)l? ?(?:el |the )?{form}",
            read.around_date,
        )
        for form in WRITTEN_DATES
    ),
    *(
        _rule(
            rf"{_COUNTED} (?:before|prior to|(?P<after>after|después de)|antes de)l? ?(?:el |the )?"
            rf"{form}",
            read.counted_from_date,
        )
        for form in WRITTEN_DATES
    ),
    *(_rule(rf"{_ON}{form}{_OF_YEAR}?", read.on_date) for form in WRITTEN_DATES),
    _rule(
        rf"(?:on|by) the (?P<number>\d{{1,2}})(?:st|nd|rd|th)"
        rf"(?:{_PAUSE}|(?= (?:at|and|but|so|with|for|because|we|I)\b))",
        read.on_number,
    ),
    _rule(r"(?:el|o|no) (?:día|dia) (?P<number>\d{1,2})(?! de\b)", read.on_number),
)
_NAMED = (
    _rule(
        r"(?<!la )(?<!cada )(?<!esta )(?<!de )(?<!guten )(?<!am )(?<!jeden )(?<!heute )"
        r"(?<!gestern )(?P<named>"
        + "|".join(sorted(read.NAMED_DAYS, key=len, reverse=True))
        + r")(?! en día| día\b)",
        read.named_day,
    ),
    _rule(rf"(?:in|over|during|for|within) the (?:last|past|next|coming) {_UNIT}", read.untold),
    _rule(
        rf"(?:(?:the |el |la )?(?P<side>this past|this coming|last|past|this|coming|este|esta"
        rf"|neste|nesta|próximo|próxima|pasado|pasada)|(?P<side_next>next)) {_NOUN}(?! of\b)",
        read.sided,
    ),
    _rule(rf"(?P<side>{_GERMAN_SIDE}) (?!tag\b|tages\b){_NOUN}", read.sided),
    _rule(
        rf"(?:el |la |o |a |no |na )?{_NOUN} (?P<side>pasado|pasada|que viene|entrante|passado"
        r"|passada|que vem)",
        read.sided,
    ),
    _rule(rf"the {_NOUN} (?:before last|(?P<after>after next))", read.twice_sided),
    _rule(rf"(?:el |la )?{_NOUN} antepasad[oa]", read.twice_sided),
    _rule(rf"vorletzte[nsmr]? {_NOUN}", read.twice_sided),
    _rule(rf"(?:over|at|on|during) the weekend|(?:el|am|no) (?:{_WEEKEND})", read.weekend),
    _rule(
        rf"(?:on|by|el|para el|am|na|no(?= sábado| domingo)) (?P<weekday>{_WEEKDAY})",
        read.on_weekday,
    ),
    _rule(rf"{_COUNT} (?P<weekday>{_WEEKDAY})s ago", read.weekdays_ago),
)
_COUNTS = (
    _rule(rf"(?:in |within |en )?{_ROUGHLY} {_COUNTED}(?: ago| from now| back)?", read.untold),
    _rule(rf"(?:hace|há|faz|vor) {_ROUGHLY} {_COUNTED}", read.untold),
    _rule(rf"(?:(?:about|around|roughly) )?{_COUNTED} (?P<ago>ago|back|atrás)", read.counted),
    _rule(
        rf"(?P<ago>hace|há|faz|vor) (?:unos |unas |como |cerca de |etwa |ungefähr )?{_COUNTED}",
        read.counted,
    ),
    _rule(
        rf"(?P<lasting>in|within) (?:about |around |etwa )?{_COUNTED}(?:'s?)?(?P<time> time)?",
        read.counted,
    ),
    _rule(rf"(?:dentro de|daqui a|de aquí a) (?:unos |unas )?{_COUNTED}", read.counted),
    _rule(rf"en (?:unos |unas )?{_COUNTED}", read.counted_if_future),
    _rule(rf"{_COUNTED} from now", read.counted),
    _rule(r"(?:a|one) fortnight (?P<ago>ago)|in a fortnight", read.fortnight),
)
_WIDE = (
    _rule(rf"{_IN}?(?P<month>{MONTH_NAME}){_OF_YEAR}", read.in_month),
    _rule(
        rf"{_IN}(?P<month>{MONTH_NAME})(?:,? (?:of |de |del )?(?P<year>{YEAR_NUMBER}))?",
        read.in_month,
    ),
    _rule(rf"(?P<month>{MONTH_NAME}),? (?:of |de |del )?(?P<year>{YEAR_NUMBER})", read.in_month),
    _rule(
        rf"{_IN}(?:(?:year|el año|jahr|ano|ano de) )?(?P<year>{YEAR_NUMBER})",
        read.in_year,
    ),
    _rule(
        rf"(?:(?:in|during|en|im|no|na|since|desde) )?(?:the |el |la )?(?:early |late )?{_SEASON}"
        rf"(?: of| de| del|,)? (?P<year>{YEAR_NUMBER})",
        read.in_year,
    ),
    _rule(r"(?:in |during |since )?the (?P<decade>(?:19|20)\d0)s", read.in_decade),
    _rule(
        r"(?P<by>by|before|until|till) (?:the )?end of (?:the|this|(?P<side>next)) "
        rf"(?P<unit>{_UNIT})",
        read.end_of_unit,
    ),
    _rule(
        rf"(?:at|towards?|around) the end of (?:the|this|(?P<side>next)) (?P<unit>{_UNIT})",
        read.end_of_unit,
    ),
    _rule(
        r"(?:(?P<by>antes del?|para|bis|bis zum|até o|até ao)|a|al|no) "
        rf"(?:fin|final|finales|ende|fim) (?:del?|de este|des|der|dieses|do|da) (?P<unit>{_UNIT})",
        read.end_of_unit,
    ),
)
_FROM_ANOTHER = (
    _rule(rf"the {_AROUND} (?:before|prior|(?P<after>after)){_PAUSE}", read.around_anchor),
    _rule(rf"the (?:previous|preceding|(?P<after>following|next)) {_AROUND}", read.around_anchor),
    _rule(
        rf"(?:el|la|al|no|na) {_AROUND} (?:anterior|previ[oa]|(?P<after>siguiente|seguinte))",
        read.around_anchor,
    ),
    _rule(
        rf"(?:am|der|die|das) {_AROUND} (?:davor|zuvor|(?P<after>danach|darauf))",
        read.around_anchor,
    ),
    _rule(r"(?P<after>am nächsten) (?P<around>tag)", read.around_anchor),
    _rule(rf"{_COUNTED} (?:{_EARLIER}|{_LATER})(?! de\b)", read.counted_from_anchor),
    _rule(
        rf"{_COUNTED} (?:before|(?P<after>after))(?: that| then)?{_PAUSE}", read.counted_from_anchor
    ),
    _rule(
        rf"(?:{_COUNTED}|(?:the|el|la) {_AROUND}) (?:before|after|prior to|antes del?|después del?)"
        rf" {_NOT_A_DATE}[^,;.!?]*",
        read.untold,
    ),
)
_HINTS = frozenset(
    part
    for words in (*MONTHS, *WEEKDAYS, *UNITS, *read.NAMED_DAYS, _WEEKEND, "fin fim fortnight")
    for part in _WORDS.findall(words)
).difference("the this last before after esta de da antes depois pasado".split())


@cache
def rules() -> Sequence[Rule]:
    """Return the rules; they take a moment to compile, so nobody waits who reads no times."""
    listed = (*_DATES, *_NAMED, *_COUNTS, *_WIDE, *_FROM_ANOTHER)
    return [(re.compile(expression, re.IGNORECASE), handler) for expression, handler in listed]


def may_tell_a_time(text: str) -> bool:
    """Whether it is worth while to look for expressions of time: most sentences have none."""
    words = _WORDS.findall(text.casefold())
    return any(word in _HINTS or word[0].isdecimal() or word.endswith("days") for word in words)
