"""Numbers in a text, however they are written, with the units that stand beside them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMERAL = re.compile(r"\d+(?:(?:[.,:/\u2019'\u00a0\u202f]|(?<=\d) (?=\d{3}\b))\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u2019'\u00a0\u202f ]\d{3})+")
_LIST_MARK = re.compile(
    r"(?m)^\s*(?:[-*]\s*)?\d{1,2}[.)](?=\s)|\b(?:step|paso|schritt|passo) \d{1,2}\b", re.IGNORECASE
)
_AFTERNOON = re.compile(
    r"\s*p\.?\s?m\b|\s*(?:de la (?:tarde|noche)|da (?:tarde|noite))", re.IGNORECASE
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:[.:](?P<minutes>\d\d))?")
_TIMES = (
    (1000, re.compile(r"\s?k\b|\s(?:thousand|mil|tausend)\b", re.IGNORECASE)),
    (10**6, re.compile(r"\s?m(?:illion(?:en)?|illones|illón|ilhões|n)?\b", re.IGNORECASE)),
    (10_000, re.compile(r"\s?万")),
)
_WORDS = {
    word: number
    for number, words in enumerate(
        "zero|cero|null one|un|una|uno|ein|eine|um|uma two|dos|zwei|dois|duas|both|twice|couple"
        "|pair|twins|ambos|ambas three|tres|drei|três|thrice|triplets four|cuatro|vier|quatro"
        " five|cinco|fünf six|seis|sechs seven|siete|sieben|sete eight|ocho|acht|oito"
        " nine|nueve|neun|nove ten|diez|zehn|dez eleven|once|elf|onze twelve|doce|zwölf|doze|dozen"
        "|docena thirteen|trece fourteen|catorce fifteen|quince sixteen|dieciséis"
        " seventeen|diecisiete eighteen|dieciocho nineteen|diecinueve twenty|veinte|zwanzig|vinte"
        " veintiuno|veintiún|veintiuna veintidós veintitrés veinticuatro veinticinco veintiséis"
        " veintisiete veintiocho veintinueve".split(" ")
    )
    for word in words.split("|")
}
_TENS = {
    word: number
    for number, words in enumerate(
        "twenty|vinte|zwanzig thirty|treinta|trinta|dreißig forty|cuarenta|quarenta|vierzig"
        " fifty|cincuenta|cinquenta|fünfzig sixty|sesenta|sessenta|sechzig"
        " seventy|setenta|siebzig eighty|ochenta|oitenta|achtzig ninety|noventa|neunzig".split(" "),
        2,
    )
    for word in words.split("|")
}
_ORDINALS = {
    word: number
    for number, words in enumerate(
        "first|primero|primer|primera second|segundo|segunda third|tercero|tercer|tercera"
        " fourth|cuarto|cuarta fifth|quinto|quinta sixth|sexto|sexta seventh|séptimo|séptima"
        " eighth|octavo|octava ninth|noveno|novena tenth|décimo|décima eleventh twelfth thirteenth"
        " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(" "),
        1,
    )
    for word in words.split("|")
}
_HAN = {letter: number for number, letter in enumerate("零一二三四五六七八九十")} | {"两": 2}
_UNSURE = frozenset(("once", "elf", "un", "una", "um", "uma", "mil", "null", "second"))
"""Numbers in one language and other words in another, or no count at all."""
_LEAST_COUNTED = 3
"""One and two are too often what is counted by the writer: "two sisters, Ana and Eva"."""
_WORD = re.compile(r"[^\W\d_]+")
_UNITS = {
    spelling: unit
    for unit, spellings in {
        "km": "km kilometers kilometres kilometer kilometre kilómetros kilómetro quilômetros",
        "mi": "mi mile miles milla millas meilen",
        "kg": "kg kilo kilos kilogram kilograms kilogramos",
        "lb": "lb lbs pound pounds libra libras",
        "m": "m meter meters metre metres metro metros",
        "cm": "cm centimeters centimetres centímetros",
        "ft": "ft foot feet pies",
        "h": "h hr hrs hour hours hora horas stunde stunden",
        "min": "min mins minute minutes minuto minutos minuten",
        "day": "day days día días dia dias tag tage",
        "week": "week weeks semana semanas woche wochen",
        "month": "month months mes meses mês monat monate",
        "year": "year years año años ano anos jahr jahre",
        "l": "l liter liters litre litres litro litros",
        "ml": "ml milliliters",
        "mg": "mg milligrams miligramos",
        "g": "g gram grams gramos gramo",
        "mb": "mb megabytes",
        "gb": "gb gigabytes",
        "tb": "tb terabytes",
        "%": "% percent prozent por\u00a0ciento",
        "$": "$ usd dollar dollars dólares",
        "€": "€ eur euro euros",
        "£": "£ gbp",
        "°c": "°c ºc celsius",
        "°f": "°f ºf fahrenheit",
    }.items()
    for spelling in spellings.split(" ")
}
_UNIT_AFTER = re.compile(r"[\s-]?([^\W\d_]+|[%$€£]|[°º][cf])(?![\w])", re.IGNORECASE)
_UNIT_BEFORE = re.compile(r"([$€£])\s?\Z")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is written, what it may be read as, and its unit if one is known."""

    written: str
    readings: frozenset[str]
    unit: str | None = None


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers that a text gives in figures; those that only count its list are not."""
    text = _LIST_MARK.sub(" ", text)
    for found in _NUMERAL.finditer(text):
        after, before = text[found.end() :][:24], text[: found.start()][-3:]
        yield Quantity(found.group(), _readings(found.group(), after), _unit(before, after))


def spelled(text: str) -> Iterator[Quantity]:
    """Yield the numbers that a text surely gives in words, from three on."""
    for word, number in _in_words(text):
        if number >= _LEAST_COUNTED and word not in _UNSURE and word not in _ORDINALS:
            yield Quantity(word, frozenset((str(number),)))


def all_readings(text: str) -> frozenset[str]:
    """Return whatever numbers a text may be taken to name, in figures or words."""
    found = {reading for one in quantities(text) for reading in one.readings}
    found |= {part for one in quantities(text) for part in _parts(one.written)}
    found |= {str(number) for _, number in _in_words(text)}
    found |= {str(_HAN[letter]) for letter in text if letter in _HAN}
    found |= {str(10 + _HAN[tail]) for tail in re.findall("十([一二三四五六七八九])", text)}
    return frozenset(found)


def units_of(text: str, readings: frozenset[str]) -> frozenset[str]:
    """Return the units that stand beside a number in a text."""
    same = (one for one in quantities(text) if one.readings & readings)
    return frozenset(one.unit for one in same if one.unit)


def _readings(written: str, after: str) -> frozenset[str]:
    """Return 13500 for `13,500`, and 13.5 as well; 15:00 and 15 for `3 pm`."""
    found = {_plain(written.replace(",", "."))}
    if _GROUPED.fullmatch(written):
        found.add(re.sub(r"\D", "", written))
    if ":" in written and re.fullmatch(r"\d{1,2}:00", written):
        found.add(written.removesuffix(":00").lstrip("0") or "0")
    for factor, form in _TIMES:
        if form.match(after):
            found |= {_product(reading, factor) for reading in list(found)}
    clock = _CLOCK.fullmatch(written) if _AFTERNOON.match(after) else None
    if clock:
        later, minutes = str(int(clock["hour"]) % 12 + 12), clock["minutes"] or "00"
        found |= {f"{later}:{minutes}"} | ({later} if minutes == "00" else set())
    return frozenset(found)


def _plain(number: str) -> str:
    whole, dot, decimals = number.partition(".")
    if "." in decimals or not whole.isdecimal():
        return number
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (dot + decimals if decimals else "")


def _product(reading: str, factor: int) -> str:
    try:
        return _plain(f"{float(reading) * factor:.4f}")
    except ValueError:
        return reading


def _parts(written: str) -> Iterator[str]:
    """Yield the numbers that are joined in `8/5`, `10:30` or `2026-05`."""
    yield from (part.lstrip("0") or "0" for part in re.findall(r"\d+", written))


def _in_words(text: str) -> Iterator[tuple[str, int]]:
    words = [found.group().casefold() for found in _WORD.finditer(text)]
    for place, word in enumerate(words):
        if word in _TENS:
            tail = [
                after for after in words[place + 1 : place + 3] if after not in ("y", "e", "and")
            ]
            unit = _WORDS.get(tail[0], 0) if tail else 0
            yield word, _TENS[word] * 10 + (unit if 0 < unit < 10 else 0)
            yield word, _TENS[word] * 10
        elif word in _WORDS:
            yield word, _WORDS[word]
        elif word in _ORDINALS:
            yield word, _ORDINALS[word]


def _unit(before: str, after: str) -> str | None:
    leading = _UNIT_BEFORE.search(before)
    if leading:
        return _UNITS[leading[1]]
    trailing = _UNIT_AFTER.match(after)
    return _UNITS.get(trailing[1].casefold()) if trailing else None
