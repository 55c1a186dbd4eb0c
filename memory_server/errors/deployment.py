"""Errors of configuring a server."""

from memory_server.errors.root import Conflict, InvalidRequest, MemoryServerError, NotFound


class InvalidProjectConfig(MemoryServerError):
    """The project configuration is not valid; `details["problems"]` lists every reason."""

    code = "INVALID_PROJECT_CONFIG"


class InvalidSecret(InvalidRequest):
    """A secret cannot have that name or that value."""

    code = "INVALID_SECRET"


class SecretNotFound(NotFound):
    """No secret has that name."""

    code = "SECRET_NOT_FOUND"


class ManagedElsewhere(Conflict):
    """The configuration of this server comes from whoever starts it."""

    code = "MANAGED_ELSEWHERE"


class NothingStored(Conflict):
    """There is no stored configuration to apply."""

    code = "NOTHING_STORED"


class ApplyInProgress(Conflict):
    """Another apply is at work."""

    code = "APPLY_IN_PROGRESS"


class EmbeddingSpaceChanged(Conflict):
    """The vectors in the store were made by another model."""

    code = "EMBEDDING_SPACE_CHANGED"


class ProviderKeyMissing(Conflict):
    """A configured provider has no key."""

    code = "PROVIDER_KEY_MISSING"


class SecretNotServed(Conflict):
    """Nothing would read that secret."""

    code = "SECRET_NOT_SERVED"


class TooManySecrets(Conflict):
    """The project holds as many secrets as it may."""

    code = "RESOURCE_LIMIT_EXCEEDED"


class WorkerOnly(MemoryServerError):
    """The server has the role `worker`: others answer requests."""

    code = "WORKER_ONLY"


class RollFailed(MemoryServerError):
    """The services with the new configuration did not become ready; those before serve on."""

    code = "ROLL_FAILED"
