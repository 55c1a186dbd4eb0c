"""The search indexes of a collection: their names, and what they index.

Each collection has one index for words and one for vectors, always under these names. An index is
only ever added to: fields of former declarations, and such as people added, stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.filters import Kind
from memory_server.search.atlas.filters import OWN, key_path

Definition = dict[str, Any]


class Leg(StrEnum):
    """What an index is for; the value is the type it is created as."""

    TEXT = "search"
    VECTOR = "vectorSearch"


NAMES: Mapping[Leg, str] = {Leg.TEXT: "agentengine_text", Leg.VECTOR: "agentengine_vector"}

WORDS = "text"
"""The field whose words are searched."""
ANALYZER = "agentengine_words"

_TEXTS = (
    "id",
    "project_id",
    "user_id",
    "visibility",
    "custom_type",
    *OWN.values(),
)
_NUMBERS = ("valid_from", "revision")
_BOOLEANS = ("is_live", "hidden")

_TYPES: Mapping[Kind, str] = {
    "string": "token",
    "number": "number",
    "boolean": "boolean",
    "date": "number",
}

WORDS_ANALYZER: Definition = {
    "name": ANALYZER,
    "charFilters": [],
    "tokenizer": {"type": "regexSplit", "pattern": r"[^\p{L}\p{N}\p{M}\p{Co}]+"},
    "tokenFilters": [
        {"type": "icuFolding"},
        {"type": "length", "min": 1, "max": 1_000},
        {"type": "porterStemming"},
    ],
}
"""The words of the local index (`porter unicode61 remove_diacritics 2`): letters, digits and marks
make a word, everything else ends it; case and accents are folded, English endings cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the indexes of every collection are to hold."""

    keys: Mapping[str, Kind] = field(default_factory=dict)
    """The declared metadata keys."""
    spaces: Sequence[EmbeddingSpace] = ()


def vector_path(space: EmbeddingSpace) -> str:
    """Return where the vectors of a space stand, as the store writes them."""
    key = space.name.replace("%", "%25").replace(".", "%2E").replace("$", "%24")
    return f"vectors.{key}"


def filter_types(keys: Mapping[str, Kind]) -> Mapping[str, str]:
    """Return each path by which searches are narrowed, and its type in an index for words."""
    return {
        **dict.fromkeys(_TEXTS, "token"),
        **dict.fromkeys(_NUMBERS, "number"),
        **dict.fromkeys(_BOOLEANS, "boolean"),
        **{key_path(key, kind): _TYPES[kind] for key, kind in keys.items()},
    }


def definition(leg: Leg, wanted: Wanted) -> Definition | None:
    """Return an index as it is created; None: there is nothing to put into it yet."""
    if leg is Leg.TEXT:
        return _extended_text({"mappings": {"dynamic": False, "fields": {}}}, wanted)
    return _extended_vector({"fields": []}, wanted) if wanted.spaces else None


def extended(leg: Leg, current: Mapping[str, Any], wanted: Wanted) -> Definition | None:
    """Return an index's definition with what is missing in it; None: nothing is."""
    kept = deepcopy(dict(current))
    added = _extended_text(kept, wanted) if leg is Leg.TEXT else _extended_vector(kept, wanted)
    return None if added == current else added


def indexed_paths(leg: Leg, current: Mapping[str, Any]) -> frozenset[str]:
    """Return the paths that an index of this definition holds."""
    if leg is Leg.VECTOR:
        return frozenset(one["path"] for one in current.get("fields", []) if "path" in one)
    return frozenset(_leaves(current.get("mappings", {}).get("fields", {}), ""))


def _extended_vector(current: Definition, wanted: Wanted) -> Definition:
    known = indexed_paths(Leg.VECTOR, current)
    vectors: list[Definition] = [
        {
            "type": "vector",
            "path": vector_path(space),
            "numDimensions": space.dimension,
            "similarity": "cosine",
        }
        for space in wanted.spaces
    ]
    filters: list[Definition] = [
        {"type": "filter", "path": path} for path in filter_types(wanted.keys)
    ]
    missing = [one for one in (*vectors, *filters) if one["path"] not in known]
    return current | {"fields": [*current.get("fields", []), *missing]}


def _extended_text(current: Definition, wanted: Wanted) -> Definition:
    fields = current.setdefault("mappings", {}).setdefault("fields", {})
    _place(fields, WORDS, {"type": "string", "analyzer": ANALYZER, "searchAnalyzer": ANALYZER})
    for path, kind in filter_types(wanted.keys).items():
        _place(fields, path, {"type": kind})
    analyzers = current.get("analyzers", [])
    if ANALYZER not in {one.get("name") for one in analyzers}:
        current["analyzers"] = [*analyzers, WORDS_ANALYZER]
    return current


def _place(fields: dict[str, Any], path: str, mapping: Definition) -> None:
    """Put a mapping at a path, unless the path has one of this type."""
    *parents, name = path.split(".")
    for parent in parents:
        inner = _of_type(fields, parent, {"type": "document", "dynamic": False, "fields": {}})
        fields = inner.setdefault("fields", {})
    _of_type(fields, name, mapping)


def _of_type(fields: dict[str, Any], name: str, mapping: Definition) -> Definition:
    """Return the mapping of a type under a name, put beside those of other types if missing."""
    known = fields.get(name)
    mappings = known if isinstance(known, list) else [] if known is None else [known]
    for one in mappings:
        if one.get("type") == mapping["type"]:
            found: Definition = one
            return found
    fields[name] = mapping if known is None else [*mappings, mapping]
    return mapping


def _leaves(fields: Mapping[str, Any], prefix: str) -> Iterable[str]:
    for name, known in fields.items():
        for one in known if isinstance(known, list) else [known]:
            if one.get("type") == "document":
                yield from _leaves(one.get("fields", {}), f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}"
