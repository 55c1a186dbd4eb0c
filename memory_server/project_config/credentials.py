"""What a credential looks like.

Two nets. The patterns know the shapes of keys and apply to the whole file. The opaque net
catches long random text without a known shape; it looks at whole values only and spares
addresses, because account ids in a gateway's address are ordinary.
"""

import operator
import re
from collections.abc import Iterator

_DATABASE = r"(?:mongodb|postgres(?:ql)?|mysql|rediss?|amqps?)(?:\+\w{1,20})?"
_QUERY_NAME = "(?:api[_-]?key|key|token|access[_-]token|password|secret|sig)"
_NOT_IN_WORD = r"(?<![A-Za-z0-9])"
_AT_START = r"(?<![\w-])"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("a private key", "", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"),
    (
        "a connection string with a password",
        "",
        rf"{_DATABASE}://[^\s@/]{{0,200}}:[^\s@]{{1,400}}@",
    ),
    ("an address with a user name or password", "", r"://[^\s/?#@\"']{1,400}@"),
    ("an address with a key in its query", "", rf"[?&]{_QUERY_NAME}=[^&\s#]{{6}}"),
    ("a bearer token", r"\b", r"(?:[Bb]earer|BEARER)[ \t]+(?=\S{0,100}\d|\S{20})[\w.~+/=-]{8}"),
    ("a signed token (JWT)", _AT_START, r"eyJ[\w-]{5,}\.[\w-]{5,}"),
    ("a provider key (sk-)", _NOT_IN_WORD, r"c?sk-[\w-]{8}"),
    ("a provider key (sk_)", _NOT_IN_WORD, r"(?:gsk|[sr]k_live|[sr]k_test|mdb_sa_sk)_\w{8}"),
    ("a Voyage or Atlas model key", _AT_START, r"(?:pa|al)-[\w-]{0,60}\w{14}"),
    ("a Google key", _NOT_IN_WORD, r"AIza[\w-]{16}"),
    ("an AWS key", _NOT_IN_WORD, r"A(?:KIA|SIA)[0-9A-Z]{12}"),
    ("a GitHub token", _NOT_IN_WORD, r"(?:gh[opsur]_[A-Za-z0-9]{8}|github_pat_\w{8})"),
    ("a GitLab token", _NOT_IN_WORD, r"glpat-[\w-]{8}"),
    ("a Slack token", _NOT_IN_WORD, r"xox[a-z]-[\w-]{8}"),
    ("a Hugging Face token", _NOT_IN_WORD, r"hf_[A-Za-z0-9]{16}"),
)
"""What it is, what may not stand before it, and its shape."""
_KINDS = tuple(kind for kind, *_ in _PATTERNS)
_ANY = re.compile("|".join(f"({before}{shape})" for _, before, shape in _PATTERNS))
_ANYWHERE = re.compile("|".join(shape for *_, shape in _PATTERNS))
_HEX = re.compile(r"(?i)(?=[0-9]*[a-f])[0-9a-f]{32,}")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_SEPARATORS = re.compile(r"[-_/+=]")
SHORTEST_RANDOM = 28
RANDOM_CHANGES = 0.35
"""Share of neighbours of different kinds; about 0.6 in random letters and digits of both cases,
0.4 in one case, and below 0.33 in the longest model names written without separators."""


def credential_kind(text: str) -> str | None:
    """Say what kind of credential the text holds, or None."""
    found = _ANY.search(text)
    return _KINDS[_group(found)] if found else None


def credentials_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield offset, kind and beginning of every credential in a text; never show the last."""
    for found in _ANY.finditer(text):
        yield found.start(), _KINDS[_group(found)], found.group()


def is_safe_to_show(text: str) -> bool:
    """Whether nothing in the text could be a credential, not even in the middle of a word."""
    return _ANYWHERE.search(text) is None and not is_opaque(text)


def is_opaque(text: str) -> bool:
    """Whether the whole text is one long random word, as keys without a known shape are."""
    if _HEX.fullmatch(text):
        return True
    return bool(_TOKEN.fullmatch(text)) and any(map(_is_random, _SEPARATORS.split(text)))


def _is_random(word: str) -> bool:
    """Words keep to one kind of character for a while; random text changes all the time."""
    changes = sum(map(operator.ne, map(_character_class, word), map(_character_class, word[1:])))
    return len(word) >= SHORTEST_RANDOM and changes >= RANDOM_CHANGES * len(word)


def _character_class(char: str) -> tuple[bool, bool]:
    return char.isdigit(), char.isupper()


def _group(found: re.Match[str]) -> int:
    # The patterns hold no groups of their own, so the group that matched names the pattern.
    assert found.lastindex is not None
    return found.lastindex - 1
