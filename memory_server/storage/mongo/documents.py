"""What documents are made of: identities, moments and vectors.

Ids are unique in their project only, so a document's `_id` is both. Moments are microseconds since
1970 in 64-bit integers: the database's own dates hold milliseconds.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from bson.binary import Binary, BinaryVectorDtype

from memory_server.domain.account import SecretHash
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.moments import from_micros, to_micros

Document = dict[str, Any]


def identity(project_id: str, document_id: str) -> str:
    """Return the `_id` of what has that id in that project: both, with the first slash between."""
    return f"{project_id.replace('%', '%25').replace('/', '%2F')}/{document_id}"


def named(document_id: str) -> tuple[str, str]:
    """Return the project and the id of what has that `_id`; the opposite of `identity`."""
    project_id, _, own = document_id.partition("/")
    return project_id.replace("%2F", "/").replace("%25", "%"), own


def space_key(space: EmbeddingSpace | str) -> str:
    """Return the name of the field below `vectors` that holds the vectors of a space."""
    name = space if isinstance(space, str) else space.name
    return name.replace("%", "%25").replace(".", "%2E").replace("$", "%24")


def space_of_key(key: str) -> str:
    """Return the name of the space whose vectors a field holds."""
    return key.replace("%24", "$").replace("%2E", ".").replace("%25", "%")


def packed(vector: Vector) -> Binary:
    """Return a vector as the database keeps it: its float32 numbers, nothing lost."""
    return Binary.from_vector(vector.astype(np.float32).tolist(), BinaryVectorDtype.FLOAT32)


def unpacked(stored: Binary) -> Vector:
    """Return a vector as it was stored."""
    return np.frombuffer(bytes(stored), dtype="<f4", offset=2).astype(np.float32)


def vectors_of(document: Mapping[str, Any]) -> dict[str, Vector]:
    """Return a document's vectors by the names of their spaces."""
    stored = document.get("vectors") or {}
    return {space_of_key(key): unpacked(data) for key, data in stored.items()}


def secret_document(secret: SecretHash) -> Document:
    """Return the salted hash of a secret as it is stored."""
    return {
        "salt": secret.salt,
        "digest": secret.digest,
        "expires_at": to_micros(secret.expires_at),
    }


def secret_of(document: Mapping[str, Any]) -> SecretHash:
    """Return the salted hash of a secret."""
    return SecretHash(
        salt=document["salt"],
        digest=document["digest"],
        expires_at=from_micros(document["expires_at"]),
    )
