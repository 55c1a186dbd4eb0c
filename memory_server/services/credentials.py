"""Secrets as they are made, kept and compared."""

import hashlib
import hmac
import secrets

RANDOM_BYTES = 32
"""Of every secret that is made here: 256 bits, so that a slow hash would add nothing."""


def new_secret(prefix: str) -> str:
    """Return a new secret; whoever asked is the only one who sees it."""
    return f"{prefix}{secrets.token_urlsafe(RANDOM_BYTES)}"


def new_id(prefix: str) -> str:
    """Return a new id that nobody guesses."""
    return f"{prefix}{secrets.token_hex(12)}"


def salted(secret: str) -> tuple[str, str]:
    """Return a new salt, and the digest of the secret under it."""
    salt = secrets.token_hex(16)
    return salt, _digest(salt, secret)


def opens(salt: str, digest: str, given: str) -> bool:
    """Whether a secret is the kept one; takes as long when it is not."""
    return hmac.compare_digest(digest, _digest(salt, given))


def _digest(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt}{secret}".encode("utf-8", "surrogatepass")).hexdigest()
