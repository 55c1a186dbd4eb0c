"""Porter's stemmer with the extensions of NLTK, which LoCoMo's own F1 counts words by.

M. F. Porter, "An algorithm for suffix stripping", Program 14.3 (1980). Own code rather than a
dependency: the published figures rest on NLTK's variant, which no small library has.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

_VOWELS = frozenset("aeiou")
_IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
# The first suffix that fits decides, whether or not enough is left before it.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = tuple(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split()
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut a word down to what its forms have in common, in lower case."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _y_to_i(_past_and_progressive(_plural(word)))
    word = _step_4(_first_suffix(_step_2(word), _STEP_3))
    return _double_l(_final_e(word))


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and not all(_consonants(rest)):
            return _repaired(rest)
    return word


def _repaired(rest: str) -> str:
    """Give back what `-ed` or `-ing` took: `hop` of `hopped`, `file` of `filed`."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_in_double_consonant(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _y_to_i(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _consonants(word[:-1])[-1]:
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if any(word.endswith(suffix) for suffix, _ in _STEP_2):
        return _first_suffix(word, _STEP_2)
    return word[:-1] if word.endswith("logi") and _measure(word[:-3]) > 0 else word


def _step_4(word: str) -> str:
    suffix = next((suffix for suffix in _STEP_4 if word.endswith(suffix)), None)
    if suffix is None:
        return word
    rest = word.removesuffix(suffix)
    fits = _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t")))
    return rest if fits else word


def _final_e(word: str) -> str:
    rest = word.removesuffix("e")
    measure = _measure(rest)
    is_spare = measure > 1 or (measure == 1 and not _ends_short(rest))
    return rest if is_spare else word


def _double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _first_suffix(word: str, rules: Iterable[tuple[str, str]]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _consonants(word: str) -> list[bool]:
    """Whether each letter is a consonant; a `y` is one unless it follows one."""
    flags: list[bool] = []
    for letter in word:
        is_vowel = letter in _VOWELS or (letter == "y" and bool(flags) and flags[-1])
        flags.append(not is_vowel)
    return flags


def _measure(word: str) -> int:
    """How many times a run of vowels is followed by a run of consonants."""
    flags = _consonants(word)
    return sum(after and not before for before, after in pairwise(flags))


def _ends_in_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _consonants(word)[-1]


def _ends_short(word: str) -> bool:
    """Whether it ends as `hop` does (but not `snow`, `box`, `tray`), or is as short as `us`."""
    flags = _consonants(word)
    if len(word) == 2:
        return flags == [False, True]
    return flags[-3:] == [True, False, True] and word[-1] not in "wxy"
