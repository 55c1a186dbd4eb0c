"""From a violated schema keyword to a sentence: what is wrong, what is allowed, what is nearest.

No sentence repeats a value of the file: the place is given, and a value may be a secret.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.project_config.problem import Finding, Steps
from memory_server.project_config.tree import Odd

_KINDS: Mapping[type, str] = {
    type(None): "nothing (null)",
    bool: "a boolean",
    int: "a whole number",
    float: "a decimal number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}
_EXPECTED = {
    "null": "null",
    "boolean": "a boolean (true or false)",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping",
}
_LOOKS_LIKE = {
    "boolean": re.compile("true|false|yes|no|on|off", re.IGNORECASE),
    "integer": re.compile(r"[-+]?[0-9]+"),
    "number": re.compile(r"[-+]?[0-9]*\.?[0-9]+"),
}
_NULL_ADVICE: Mapping[Steps, str] = {
    (): "write `memory: {}` to take every default",
    ("memory",): "write `memory: {}` to take every default",
    ("memory", "extraction"): (
        "write `enabled: []` below it to extract nothing, or remove it to extract every type"
    ),
    ("memory", "extraction", "enabled"): (
        "write [] to extract nothing, or remove the key to extract every type"
    ),
}
_OTHER_NAMES = {"google": "gemini", "vertex": "gemini", "claude": "anthropic", "gpt": "openai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One schema keyword a value does not satisfy."""

    steps: Steps
    keyword: str
    demand: Any
    value: Any
    schema: Mapping[str, Any]


def explain(violation: Violation) -> Finding:
    """Say what is wrong with a value; unknown and missing keys are told by the caller."""
    if violation.keyword == "uniqueItems":
        return Finding(_repeated_item(violation), "is listed a second time: list each once")
    if violation.steps[-1:] == ("api_key_secret",):
        return Finding(violation.steps, _not_a_secret_name(violation.schema["enum"]))
    return Finding(violation.steps, _SENTENCES[violation.keyword](violation))


def nearest(name: object, allowed: Iterable[object]) -> str | None:
    """Return the allowed name most like the given one, if any is alike."""
    names = [choice for choice in allowed if isinstance(choice, str)]
    if not isinstance(name, str) or len(name) > max(map(len, names), default=0) * 2:
        return None
    wanted = name.strip().lower()
    if (other := _OTHER_NAMES.get(wanted)) in names:
        return other
    folded = {choice.lower(): choice for choice in names}
    found = difflib.get_close_matches(wanted, folded, n=1)
    return folded[found[0]] if found else None


def did_you_mean(name: object, allowed: Iterable[object]) -> str:
    """Return the end of a sentence that names the nearest allowed name, or nothing."""
    found = nearest(name, allowed)
    return f"; did you mean {found}?" if found else ""


def listed(names: Iterable[object]) -> str:
    """Write the allowed names in a row."""
    return ", ".join("null" if name is None else str(name) for name in names)


def kind_of(value: object) -> str:
    """Name the kind of a value."""
    if isinstance(value, Odd):
        return value.kind
    if isinstance(value, float) and not math.isfinite(value):
        return "not-a-number (NaN)" if math.isnan(value) else "infinity"
    return _KINDS.get(type(value), "a value of another kind")


def _wrong_type(violation: Violation) -> str:
    demand = violation.demand
    types: Sequence[str] = [demand] if isinstance(demand, str) else demand
    expected = " or ".join(_EXPECTED[name] for name in types)
    if "enum" in violation.schema:
        expected = f"one of {listed(violation.schema['enum'])}"
    sentence = f"expected {expected}, found {kind_of(violation.value)}"
    return sentence + _advice(types, violation)


def _advice(types: Sequence[str], violation: Violation) -> str:
    value = violation.value
    if value is None:
        return _about_null(violation.steps)
    if "string" in types and isinstance(value, bool):
        return ": put it in quotes (yes, no, on and off without quotes are booleans)"
    if "string" in types and isinstance(value, int | float | Odd):
        return ": put it in quotes"
    if isinstance(value, Odd):
        return ": write it in plain decimal digits"
    return _advice_on_form(types, value)


def _advice_on_form(types: Sequence[str], value: object) -> str:
    if isinstance(value, str):
        patterns = (_LOOKS_LIKE[name] for name in types if name in _LOOKS_LIKE)
        if any(pattern.fullmatch(value) for pattern in patterns):
            return ": remove the quotes"
    if "array" in types:
        return ": write the items as `- item` lines or in [ ]"
    if "object" in types and isinstance(value, list):
        return ": remove the dashes and write `key: value` lines"
    return ""


def _about_null(steps: Steps) -> str:
    if steps in _NULL_ADVICE:
        return f": {_NULL_ADVICE[steps]}"
    if isinstance(steps[-1], int):
        return ": give a value, or remove the item"
    return ": give a value, or remove the key to take the default"


def _not_in_enum(violation: Violation) -> str:
    allowed = listed(violation.demand)
    sentence = f"must be one of {allowed}{did_you_mean(violation.value, violation.demand)}"
    if violation.steps == ("memory", "extraction_llm", "provider"):
        sentence += " (an OpenAI-compatible endpoint works with provider openai and base_url)"
    return sentence


def _not_a_secret_name(allowed: Sequence[str | None]) -> str:
    return (
        f"expects the name of a secret, one of {listed(allowed)}; a key itself does not belong in "
        "this file: store it with `agentengine secret set NAME`"
    )


def _repeated_item(violation: Violation) -> Steps:
    items = violation.value
    again = (at for at, item in enumerate(items) if item in items[:at])
    # True equals 1 in Python but not in the schema, so the item may not be found.
    return (*violation.steps, next(again, len(items) - 1))


def _out_of_range(violation: Violation) -> str:
    low, high = violation.schema["minimum"], violation.schema["maximum"]
    return f"must be between {low} and {high}, is too {_TOO[violation.keyword]}"


_TOO = {"minimum": "small", "maximum": "large"}


def _wrong_form(violation: Violation) -> str:
    return str(violation.schema["patternErrorMessage"])


def _wrong_length(violation: Violation) -> str:
    low = violation.schema.get("minItems", 0)
    high = violation.schema["maxItems"]
    allowed = f"exactly {high}" if low == high else f"at most {high}"
    sentence = f"must hold {allowed}, holds {len(violation.value)}"
    return f"{sentence}: write [both] for text and vector" if low == high else sentence


def _too_long(violation: Violation) -> str:
    return f"must be at most {violation.demand} characters, is {len(violation.value)}"


def _reserved(violation: Violation) -> str:
    return f"is a reserved name; reserved are {listed(violation.demand['enum'])}"


_SENTENCES: Mapping[str, Callable[[Violation], str]] = {
    "type": _wrong_type,
    "enum": _not_in_enum,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "pattern": _wrong_form,
    "minItems": _wrong_length,
    "maxItems": _wrong_length,
    "maxLength": _too_long,
    "not": _reserved,
}
"""By schema keyword; a test holds this against the schema."""
