"""What a judge's reply says. What cannot be read for certain is no verdict."""

import json
import re
from collections.abc import Callable, Mapping

_OBJECT = re.compile(r"\{[^{}]*\}")
_LABELS = {"CORRECT": True, "WRONG": False}
_WORDS = {"yes": True, "no": False}


def labelled(reply: str) -> bool | None:
    """Read the label of the one JSON object that a reply has; None where there is not one."""
    found = {_label(text) for text in _OBJECT.findall(reply)}
    return found.pop() if len(found) == 1 else None


def yes_or_no(reply: str) -> bool | None:
    """Read a reply of one word; None where it is another, or more than one."""
    return _WORDS.get(reply.strip().strip(".!*\"'").lower())


READINGS: Mapping[str, Callable[[str], bool | None]] = {"label": labelled, "yes_no": yes_or_no}


def _label(text: str) -> bool | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    label = value.get("label")
    return _LABELS.get(label) if isinstance(label, str) else None
