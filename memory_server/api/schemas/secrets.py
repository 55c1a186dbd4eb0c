"""Secrets on the wire; a value only ever travels in."""

from pydantic import Field, SecretStr

from memory_server.api.schemas.common import Answer, Body
from memory_server.domain.deployment import Secret
from memory_server.domain.limits import MAX_DESCRIPTION, MAX_SECRET_CHARACTERS
from memory_server.settings import SECRET_NAMES


class SecretBody(Body):
    """The value of a secret."""

    value: SecretStr = Field(min_length=1, max_length=MAX_SECRET_CHARACTERS)
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION)
    """Absent: the former one stays."""


class SecretDocument(Answer):
    """A secret without its value."""

    name: str
    description: str
    version: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, secret: Secret) -> "SecretDocument":
        """Return it as it travels."""
        return cls(
            name=secret.name,
            description=secret.description,
            version=secret.version,
            created_at=secret.created_at.isoformat(),
            updated_at=secret.updated_at.isoformat(),
        )


class SecretKept(SecretDocument):
    """The receipt for a secret."""

    warnings: list[str]

    @classmethod
    def of(cls, secret: Secret) -> "SecretKept":
        """Return it as it travels."""
        return cls(
            **SecretDocument.of(secret).model_dump(),
            warnings=[] if secret.name in SECRET_NAMES else [_unread()],
        )


class SecretList(Answer):
    """The secrets of a project."""

    secrets: list[SecretDocument]
    total: int


def _unread() -> str:
    return f"the memory server reads only {', '.join(SECRET_NAMES)}"
