"""The one place where errors of model providers become our own."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic_ai import exceptions as theirs

from memory_server.domain.retry import bounded_wait
from memory_server.errors import (
    InputTooLong,
    KeyRejected,
    ModelNotFound,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    Refused,
    RequestRejected,
)
from memory_server.providers.extraction.chat import ModelAccess

_MAX_DETAIL = 300
_FILTERED = ("content_filter", "content_policy_violation", "moderation_blocked")


@contextmanager
def translated(access: ModelAccess) -> Iterator[None]:
    """Raise our errors for the provider's.

    The cause is not chained: a gateway's message may repeat the request's headers.
    """
    try:
        yield
    except theirs.ContentFilterError:
        raise Refused("The provider's content filter stopped the answer.") from None
    except theirs.ModelAPIError as error:
        raise _ours(error, access) from None
    except theirs.UnexpectedModelBehavior:
        raise ProviderUnavailable(
            f"{_place(access)} does not answer in the provider's protocol; check base_url."
        ) from None


def _ours(error: theirs.ModelAPIError, access: ModelAccess) -> ProviderError:
    match error:
        case theirs.ModelRateLimitError() | theirs.ModelQuotaExceededError():
            what = "says that the account's quota is used up"
            if isinstance(error, theirs.ModelRateLimitError):
                what = "asks for fewer requests"
            return ProviderRateLimited(
                f"{_place(access)} {what}.", retry_after=bounded_wait(error.retry_after)
            )
        case theirs.ModelRequestRejectedError():
            return _rejected(error, access)
    return _unavailable(error, access)


def _rejected(error: theirs.ModelAPIError, access: ModelAccess) -> ProviderError:
    place = _place(access)
    match error:
        case theirs.ModelContextWindowExceededError():
            return InputTooLong(f"The conversation is longer than {access.model} takes.")
        case theirs.ModelAuthenticationError():
            return KeyRejected(f"{place} rejected the key; store a valid one as a secret.")
        case theirs.ModelNotFoundError():
            return ModelNotFound(f"{place} knows no model {access.model!r}; check model, base_url.")
    if error.provider_error_code in _FILTERED:
        return Refused("The provider's content filter refused the conversation.")
    detail = _without_key(str(error), access)
    return RequestRejected(f"{place} rejected the request: {detail[:_MAX_DETAIL]}")


def _unavailable(error: theirs.ModelAPIError, access: ModelAccess) -> ProviderError:
    match error:
        case theirs.ModelTimeoutError() | theirs.ModelRequestTimeout():
            what = f"did not answer within {access.timeout_seconds:g} seconds"
        case theirs.ModelConnectionError():
            what = "cannot be reached"
        case theirs.ModelHTTPError():
            what = f"failed with status {error.status_code}"
        case _:
            what = "failed, or answered what cannot be read"
    return ProviderUnavailable(
        f"{_place(access)} {what}.", retry_after=bounded_wait(error.retry_after)
    )


def _place(access: ModelAccess) -> str:
    return (
        f"The {access.provider} model at {access.base_url}"
        if access.base_url
        else (f"The model provider {access.provider}")
    )


def _without_key(text: str, access: ModelAccess) -> str:
    return text.replace(access.key, "[key]") if access.key else text
