"""What a sentence states of its speaker: a value of some kind, and whether that is a change.

"my savings target is $12,500" and "the sum I am putting by for is $22,500 instead" have hardly a
word in common. What tells that the second may take the place of the first is that both name an
amount of money, and that the second speaks of something that changed. English and Spanish.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_server.domain.calendar import MONTHS, WEEKDAYS, any_of
from memory_server.domain.wording import content, stem, tokens

_READ = 8000
"""Characters of a text that are read."""
_LONGEST = 500
"""Characters of a sentence; longer ones are no plain statements."""
_SENTENCE = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Sra?|Dra|[A-Z])\.|\d[.]\d|[^.!?\u2026\n]|\.(?=\S))+[.!?\u2026]*"
)
_SPEAKER = re.compile(r"^\W*(?P<name>[^\W\d_][\w'-]*(?: [A-Z][\w'-]*)?): (?=\S)")
_ASSISTANT = frozenset(("assistant", "agent", "asistente", "tool", "system"))
_HEADER = re.compile(r", [^.!?]+:$")
"""How an episode begins: the day, and who took part."""

_COUNT = (
    r"\d+(?:[.,]\d+)*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce"
)
_UNITS = {
    unit: re.compile(rf"(?<![\w.,])\d+(?:[.,]\d+)*[ -]?(?:{names})(?!\w)", re.IGNORECASE)
    for unit, names in {
        "percent": r"%|percent|per cent|por ?ciento",
        "area": r"(?:square|sq\.?) (?:met(?:er|re)s?|feet|ft|miles)|acres?|hectares?|ha|m\u00b2"
        r"|m2|metros cuadrados|hect[a\u00e1]reas?",
        "length": r"mm|cm|m|km|ft|inch(?:es)?|foot|feet|yards?|miles?|pulgadas?|millas?|pies"
        r"|(?:milli|centi|kilo)?met(?:er|re)s?|(?:mil[ií]|cent[ií]|kil[oó])?metros?",
        "weight": r"kgs?|kilos?|g|grams?|grammes?|lbs?|pounds?|stone|gramos|libras",
        "pressure": r"psi|bars?|bares",
        "temperature": r"°[CF]?|º[CF]?|degrees|grados",
        "volume": r"ml|l|lit(?:er|re)s?|litros?|pints?|gallons?",
    }.items()
}
_MONEY = re.compile(
    r"[$€£¥]\s?\d+(?:[.,]\d+)*|(?<![\w.,])\d+(?:[.,]\d+)*\s?(?:[$€£¥]|(?:dollars?|euros?|quid|bucks|pesos|soles"
    r"|d[oó]lares|libras esterlinas)\b)",
    re.IGNORECASE,
)
_RATIO = re.compile(r"(?<![\w.,/])\d{1,3} ?(?:/|over|sobre) ?\d{1,3}(?![\w/])")
_SIZE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)? ?[x\u00d7] ?\d+(?:[.,]\d+)?(?!\w)")
_HALF = re.compile(
    r"(?<![\w.,])\d+ (?:and a half|y medi[oa])\b|(?<![\w.,])\d+ ?\u00bd", re.IGNORECASE
)
_CODE = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z\d]+(?:-[A-Z\d]+)*(?![\w-])")
_LABEL = re.compile(
    r"\b(?:(?:number|no\.|room|platform|gate|n[u\u00fa]mero|sala|and[e\u00e9]n|puerta|l[i\u00ed]nea)"
    r"|(?-i:[A-Z]{2,}))[ -]?\d+\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w.,:])\d{1,2}:\d\d(?::\d\d)?(?![\w:])|\b\d{1,2} ?(?:am|pm|a\.m\.|p\.m\.)"
    r"|\ba las \d{1,2}\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b{any_of(MONTHS, at_least=4)} \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of| de)? "
    rf"{any_of(MONTHS, at_least=4)}\b|\b{any_of(WEEKDAYS, at_least=4)}s?\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    rf"\b(?:once|twice|thrice|(?:{_COUNT}) (?:times|days|nights))(?: (?:a|an|per|every|each|in))"
    r" [^,.;!?]{0,30}?(?:day|night|week|fortnight|month|quarter|year|season)s?\b"
    r"|\b(?:every|each) (?!time|one|other one)(?:\w+ ){0,2}?\w+\b"
    r"|\b(?:daily|weekly|fortnightly|monthly|nightly|yearly|a diario|semanalmente|mensualmente)\b"
    rf"|\b(?:una vez|(?:{_COUNT}) veces) (?:al|a la|por|cada) [^,.;!?]{{0,30}}?"
    r"(?:d[ií]a|noche|semana|quincena|mes|trimestre|a[nñ]o)s?\b"
    r"|\bcada (?:\w+ ){0,2}?\w+|\btodos los \w+|\btodas las \w+",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:behind|under|underneath|beneath|beside|next to|on top of|above|below|inside|between"
    r"|detr[aá]s|debajo|dentro|encima|al lado|junto al?|bajo|entre)"
    r"(?: (?:of|de|del))? (?:(?:the|a|an|my|our|el|la|los|las|un|una|mi|del) )?\w[\w' -]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?<![\w.,:/$€£])(?:{_COUNT})(?![\w:/%])", re.IGNORECASE)
_COUNTED = re.compile(
    r"^ (?!(?:or|and|to|at|in|on|a|an|the|per|by|now|if|for|since|of|instead|strong"
    r"|is|are|was|were|has|have|it|what|that"
    r"|y|o|en|a|de|por|ahora|desde)\b)(?P<thing>[^\W\d_]+)"
)
_NAME = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Sra?|Dra)\. )?(?<![\w'])[A-ZÀ-Þ][\w'-]+"
    r"(?: (?:of |de |la |del )?[A-ZÀ-Þ][\w'-]+)*"
)
_NO_NAME = frozenset("i i'm i've i'd i'll and so but the my our we it they yo".split())

_CHANGED = re.compile(
    r"\b(?:now(?!\W+(?:and then|that))|by now|nowadays|these days|instead|from now on|as of"
    r"|since (?:last|this|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february"
    r"|march|april|may|june|july|august|september|october|november|december|the|my|our|then|i)"
    r"|no longer|not anymore|any ?more|elsewhere|another one|otherwise|after all"
    r"|(?:has|have|had|'s|'ve) (?:become|grown|gone|risen|dropped|changed|moved|switched)|became"
    r"|(?:went|go|goes|gone) (?:over|up|down|back|to)|up to|down to"
    r"|(?:re)?(?:named|numbered|scheduled|assigned)|renamed|rescheduled|postponed|upgraded"
    r"|switch(?:ed|ing)|swapped|replaced|chang(?:ed|es)|moved|promoted|raised|lowered|increased"
    r"|reduced|(?:was|were|got|been) (?:sold|closed|cancelled|retired)|retired|closed|broke|sold"
    r"|(?:a|an|my|our|the) new(?:er)?|for good"
    r"|ahora(?! bien)|ya no|ya (?:es|son|tengo|est[aá]|somos|voy|pago)|hoy en d[ií]a|en vez de"
    r"|en lugar de|actualmente|a partir de|desde (?:hace|que|ayer|el|la|enero|febrero|marzo|abril"
    r"|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|últimamente|al final"
    r"|cambi(?:é|ó|amos|aron|ado|aste)|pas(?:é|ó|amos|aron|ado) a|sub(?:í|ió|ieron|ido)"
    r"|baj(?:é|ó|aron|ado)|mov(?:í|ió|ieron|ido)|traslad(?:é|ó|aron|ado)|aplaz(?:é|ó|aron|ado)"
    r"|renombr(?:é|ó|amos|aron|ado)|se ha vuelto|se volvió|ascend(?:ieron|ido)|vendi(?:ó|eron|do)"
    r"|(?:el|la|un|una|mi|nuestr[oa]) nuev[oa]|otr[oa])\b",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"\b(?:paid|bought|spent|cost (?:me|us)|won|lost|sold (?:it|them|my)|pagu[eé]|compr[eé]"
    r"|gast[eé]|gan[eé]|perd[ií])\b",
    re.IGNORECASE,
)
"""What happened once with an amount."""
_ONCE = re.compile(
    r"\b(?:today|tonight|yesterday|ago|last (?:week|night|month|year|time)|this (?:time|morning)"
    r"|hoy(?! en)|ayer|anoche|pasad[oa]s?|hace|esta (?:vez|ma[nñ]ana|noche)|was|were|did|saw|ate"
    r"|ran|swam|drank|got|took|met|made|would|could|should|want|wish|fui|fue|hice|hizo|vi|quiero"
    r"|querr[ií]a"
    r"|(?:i|we|they) (?:\w+ )?\w+ed|\w{3,}(?:[éó]|aron|ieron))\b",
    re.IGNORECASE,
)
"""What need not last."""
_PEOPLE = (
    r"mother|father|mum|mom|dad|sister|brother|daughter|son|wife|husband|partner|girlfriend"
    r"|boyfriend|aunt|uncle|cousin|niece|nephew|grand\w+|god\w+|\w+-in-law|friend|\w*mates?"
    r"|colleague|coworker|co-worker|boss|neighbou?r|landlord|landlady|teacher|dentist"
    r"|doctor|man|woman|guy|lady|kid|child|buddy|student|trainer"
    r"|madre|padre|mam[aá]|pap[aá]|hermana|hermano|hija|hijo|esposa|esposo|mujer|marido|pareja"
    r"|novia|novio|t[ií]a|t[ií]o|prima|primo|sobrina|sobrino|abuel[oa]|suegr[oa]|cuñad[oa]"
    r"|amig[oa]|compañer[oa]|jef[ea]|vecin[oa]|caser[oa]|señora?|madrina|padrino"
)
_OF_ANOTHER = re.compile(
    r"\b(?:my|our|his|her|their|an?|the|another|some|one of (?:my|the|our)|mis?|nuestr[oa]s?|sus?"
    rf"|una?|otr[oa]|el|la|los|las) (?:[\w-]+ )?(?P<who>{_PEOPLE})(?:'s)?"
    r"(?= (?!i\b|is called|is named|se llama)\w)",
    re.IGNORECASE,
)
_SPEAKER_ACTS = re.compile(r"\b(?:I|we|yo)\b|\bthe user\b|\bel usuario\b", re.IGNORECASE)
_SAID = re.compile(r'^.{0,40}? (?:said|dijo): ["«“]', re.IGNORECASE)
_FIRST_WORDS = re.compile(r"^[\W]*")


@dataclass(frozen=True, slots=True)
class Value:
    """Something that a sentence says by a number, a time, a place or a name."""

    kind: str
    """Values of another kind never take its place."""
    said: str
    """As it was said."""
    thing: str | None = None
    """What a number counts, by its stem; None where it only tells how many."""

    @property
    def is_rare(self) -> bool:
        """Whether few statements have a value of its kind."""
        return self.kind in _RARE

    @property
    def is_measured(self) -> bool:
        """Whether it is read from a scale, and is another each time."""
        return self.kind in _MEASURED

    def may_replace(self, other: "Value") -> bool:
        """Whether it can be another value of what the other tells."""
        return self.kind == other.kind and self.said.casefold() != other.said.casefold()


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that states something of whoever said it."""

    text: str
    values: Sequence[Value]
    words: frozenset[str]
    """Stems of its content words, without those of its values."""
    is_change: bool
    """Whether it speaks of something that changed."""
    lasts: bool
    """Whether nothing beside its values speaks of a single time, a wish, or what was spent."""
    other: str | None
    """The word for another person, where the sentence is about one."""


@lru_cache(maxsize=2048)
def statements(text: str) -> Sequence[Statement]:
    """Return what the user states in a text with a value: a turn, a fact, or an episode's lines.

    What an assistant's lines say, and questions, are left out.
    """
    return tuple(_statements(text[:_READ]))


def _statements(text: str) -> Iterator[Statement]:
    for line in text.splitlines():
        speaker = _SPEAKER.match(line)
        if speaker and speaker["name"].casefold() in _ASSISTANT:
            continue
        said = line[speaker.end() :] if speaker and not _HEADER.search(line) else line
        for found in _SENTENCE.findall("" if _HEADER.search(line) else said):
            sentence = found.strip()
            is_read = len(sentence) <= _LONGEST and not sentence.endswith("?")
            if is_read and (values := values_in(sentence)):
                yield _statement(sentence, values)


def _statement(sentence: str, values: Sequence[Value]) -> Statement:
    own = _SAID.sub("", sentence)
    other = _other(own, values)
    bare = own
    for value in values:
        bare = bare.replace(value.said, " ")
    return Statement(
        text=sentence,
        values=values,
        words=content(bare),
        is_change=tells_of_change(own),
        lasts=not (any(map(_ONCE.search, _parts(own, values))) or _SPENT.search(own)),
        other=stem(other.casefold()) if other else None,
    )


def _other(sentence: str, values: Sequence[Value]) -> str | None:
    """Return another person whom the sentence is about, if the speaker tells no value of theirs."""
    for part in _parts(sentence, values):
        found = _OF_ANOTHER.search(part)
        if found is not None:
            return found["who"]
        if _SPEAKER_ACTS.search(part):
            return None
    found = _OF_ANOTHER.search(sentence)
    return found["who"] if found else None


def _parts(sentence: str, values: Sequence[Value]) -> Sequence[str]:
    """Return the parts of a sentence that tell the values."""
    parts = re.split(r"[,;:] ", sentence)
    return [part for part in parts if any(value.said in part for value in values)]


def tells_of_change(sentence: str) -> bool:
    """Whether a sentence says that something is other than it was, and lasts."""
    return _CHANGED.search(sentence) is not None and _SPENT.search(sentence) is None


def values_in(sentence: str) -> Sequence[Value]:
    """Return the values a sentence names, those of narrow kinds before plain numbers and names."""
    found: list[Value] = []
    rest = sentence
    for kind, form in _KINDS:
        said = [match.group().strip() for match in form.finditer(rest)]
        found += [Value(kind, one) for one in said]
        if kind == "often":  # every Monday is a Monday, too
            found += [Value("day", day.group()) for one in said for day in _DAY.finditer(one)]
        rest = form.sub(lambda match: " " * len(match.group()), rest)
    found += [_number(match, rest) for match in _NUMBER.finditer(rest)]
    found += [Value("name", name) for name in _names(rest)]
    return tuple(found)


_KINDS = (
    ("often", _OFTEN),
    ("money", _MONEY),
    ("ratio", _RATIO),
    ("size", _SIZE),
    ("half", _HALF),
    ("label", _LABEL),
    ("label", _CODE),
    ("clock", _CLOCK),
    ("day", _DAY),
    *_UNITS.items(),
    ("place", _PLACE),
)
_MEASURED = frozenset((*_UNITS, "ratio", "size", "half"))
_RARE = frozenset(("place", "ratio", "size", "half", "label", "pressure", "temperature", "percent"))


def _number(match: re.Match[str], sentence: str) -> Value:
    counted = _COUNTED.match(sentence[match.end() :])
    return Value("number", match.group(), stem(counted["thing"].casefold()) if counted else None)


def _names(sentence: str) -> Iterator[str]:
    start = _FIRST_WORDS.match(sentence)
    first = start.end() if start else 0
    for match in _NAME.finditer(sentence):
        said = match.group()
        plain = said.casefold()
        begins = match.start() == first and " " not in said and said[1:].islower()
        if not begins and plain not in _NO_NAME and not set(tokens(plain)) <= _DAYS:
            yield said


_DAYS = frozenset(MONTHS) | frozenset(WEEKDAYS)
