"""What makes two configurations the same."""

import hashlib
import json
from typing import Any

SHORT = 16
"""Characters of a configuration's digest: enough to tell apart those of one directory."""


def digest_of(*parts: Any) -> str:
    """Return a digest of values that JSON has; equal values have equal digests."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:SHORT]
