"""Where a store is: for whoever runs the server, and for nobody else."""

import re
from collections.abc import Mapping
from typing import Any

from memory_server.errors import MemoryServerError, StorageError

_OF_THE_MACHINE = ("location", "size_bytes", "database")
_PATH = re.compile(r"(?<![\w:/.~-])~?/(?:[^\s/:;,'\"()]+/)+[^\s:;,'\"()]*")
"""An absolute path in a text; what stands in an address of the web is none."""
_DEPLOYMENT = re.compile(r"\bmongodb at \S+(?:, database [^\s:]+)?(?=:)")
"""Where a deployment is and which database of it is used, as errors of the store tell."""


def placeless(value: Any) -> Any:
    """Return a document without the places of files and of deployments, and their sizes."""
    if isinstance(value, str):
        return _DEPLOYMENT.sub("mongodb", _PATH.sub("(a path)", value))
    if isinstance(value, list):
        return [placeless(one) for one in value]
    if isinstance(value, Mapping):
        return {name: placeless(one) for name, one in value.items() if name not in _OF_THE_MACHINE}
    return value


def told(error: MemoryServerError) -> str:
    """Return what callers are told of an error: those of the store do not say where it is."""
    text = str(error)
    return str(placeless(text)) if isinstance(error, StorageError) else text
