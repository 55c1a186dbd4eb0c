"""Errors of models."""

from memory_server.errors.root import MemoryServerError


class ProviderError(MemoryServerError):
    """A model provider failed."""

    code = "PROVIDER_ERROR"


class RequestRejected(ProviderError):
    """The model provider does not take the request as it is."""

    code = "REQUEST_REJECTED"


class ProviderUnavailable(ProviderError):
    """The model provider cannot be reached, or failed on its side."""

    code = "PROVIDER_UNAVAILABLE"
    retryable = True


class ProviderRateLimited(ProviderError):
    """The model provider asks for fewer requests."""

    code = "PROVIDER_RATE_LIMITED"
    retryable = True


class KeyRejected(ProviderError):
    """The model provider rejected the key."""

    code = "KEY_REJECTED"
    retryable = True


class KeyMissing(ProviderError):
    """The model provider needs a key, and none was found."""

    code = "KEY_MISSING"
    retryable = True


class ModelNotFound(ProviderError):
    """The model provider knows no model of that name."""

    code = "MODEL_NOT_FOUND"
    retryable = True


class ProviderMissing(ProviderError):
    """The model cannot be loaded because what it needs is not installed."""

    code = "PROVIDER_MISSING"


class Refused(ProviderError):
    """The model declined to answer."""

    code = "MODEL_REFUSED"


class InvalidAnswer(ProviderError):
    """The model's answer does not have the agreed form, even after one repair."""

    code = "INVALID_ANSWER"


class InputTooLong(ProviderError):
    """The model does not take a text of this length."""

    code = "INPUT_TOO_LONG"


class WrongDimension(ProviderError):
    """The model returned vectors of another dimension than the configured one."""

    code = "WRONG_DIMENSION"


class BudgetSpent(MemoryServerError):
    """The project's budget of model calls is spent; `details` has until when."""

    code = "BUDGET_SPENT"
    retryable = True
