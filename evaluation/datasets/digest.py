"""What makes two readings of data the same: its bytes, and what was chosen of it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def digest_of(files: Iterable[Path], choice: Mapping[str, Any]) -> str:
    """Return SHA-256 over the files' bytes, in order, and the choice."""
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    whole.update(json.dumps(choice, sort_keys=True, ensure_ascii=True).encode())
    return whole.hexdigest()
