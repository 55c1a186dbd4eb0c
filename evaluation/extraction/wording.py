"""Whole words in a text, in languages with spaces and without."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff"
_IS_CJK = re.compile(f"[{_CJK}]")
_WORD = re.compile(f"[{_CJK}]|[^\\W{_CJK}_]+")


def says(text: str, words: Iterable[str | Sequence[str]]) -> bool:
    """Whether all words stand in a text; of several that are given together, any one."""
    return all(
        has(text, one) if isinstance(one, str) else any(has(text, any_of) for any_of in one)
        for one in words
    )


def has(text: str, word: str) -> bool:
    """Whether a word or phrase stands whole in a text, case and width of spaces aside."""
    return _whole(folded(word)).search(folded(text)) is not None


def folded(text: str) -> str:
    """Return a text in which what is read the same is written the same."""
    composed = unicodedata.normalize("NFC", text).replace("\u2019", "'")
    return " ".join(composed.casefold().split())


def words_of(text: str) -> Sequence[str]:
    """Return the words of a text as written, each character of Chinese as one."""
    return _WORD.findall(unicodedata.normalize("NFC", text))


def is_cjk(word: str) -> bool:
    """Whether a word is written without spaces."""
    return _IS_CJK.match(word) is not None


@lru_cache(maxsize=4096)
def _whole(word: str) -> re.Pattern[str]:
    """Match a word between characters that are not of it; Chinese has no such bounds."""
    before = r"(?<![^\W_])" if _is_bounded(word[:1]) else ""
    after = r"(?![^\W_])" if _is_bounded(word[-1:]) else ""
    return re.compile(f"{before}{re.escape(word)}{after}")


def _is_bounded(character: str) -> bool:
    return character.isalnum() and not is_cjk(character)
