"""What makes two configurations the same."""

import hashlib
import json
from pathlib import Path
from typing import Any

COMPILED = "__pycache__"
SHORT = 16
"""Characters of a configuration's digest: enough to tell apart those of one directory."""


def digest_of(*parts: Any) -> str:
    """Return a digest of values that JSON has; equal values have equal digests."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:SHORT]


def digest_of_files(directory: Path) -> str:
    """Return a digest of every file below a directory, by name, without what Python compiled."""
    total = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file() and COMPILED not in path.parts:
            total.update(f"{path.relative_to(directory)}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:SHORT]
