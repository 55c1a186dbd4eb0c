"""Reading what an embeddings API answers."""

import re
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import httpx
import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.domain.retry import bounded_wait
from memory_server.errors import (
    InvalidAnswer,
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    WrongDimension,
)
from memory_server.providers.embedding.http_api import EmbeddingsApi
from memory_server.providers.embedding.vectors import UNUSABLE_NUMBERS, unit
from memory_server.providers.http_client import Access

SAYS_TOO_LONG = re.compile(r"too (long|large|many)|length|tokens|exceed", re.IGNORECASE)
REFUSALS = {400, 413, 422}
SHOWN_CHARACTERS = 200


class RequestRefused(Exception):
    """The API does not take a request; because of which text is not said. Never gets far."""

    def __init__(self, why: str, *, too_long: bool) -> None:
        super().__init__(why)
        self.why = why
        self.too_long = too_long


def outcomes(response: httpx.Response, api: EmbeddingsApi, count: int) -> Sequence[Vector | str]:
    """Return one unit vector, or the reason to have none, for each text asked for.

    Raises `RequestRefused` or the `ProviderError` that fits the answer.
    """
    return [_outcome(numbers, api) for numbers in _ordered(document(response, api), api, count)]


def document(response: httpx.Response, api: Access) -> Any:
    """Return the JSON of an answer; raises `RequestRefused` or the `ProviderError` that fits."""
    if not response.is_success:
        raise _failure(response, api)
    try:
        return response.json()
    except ValueError as error:
        raise ProviderUnavailable(
            f"{api.provider} answered with something that is not JSON; is base_url right?"
        ) from error


def _ordered(answer: Any, api: EmbeddingsApi, count: int) -> Sequence[Any]:
    """Return the embeddings in the order of their `index`, each exactly once."""
    try:
        by_index = {row["index"]: row["embedding"] for row in answer["data"]}
        complete = len(answer["data"]) == count
        return [by_index[index] for index in range(count)] if complete else _incomplete(api, count)
    except (KeyError, TypeError) as error:
        raise InvalidAnswer(
            f"{api.provider} answered without `data[].index` and `data[].embedding` "
            f"for each of {count} texts."
        ) from error


def _incomplete(api: EmbeddingsApi, count: int) -> Sequence[Any]:
    raise InvalidAnswer(f"{api.provider} did not answer with one vector for each of {count} texts.")


def _outcome(numbers: Any, api: EmbeddingsApi) -> Vector | str:
    try:
        array = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidAnswer(
            f"{api.provider} answered with vectors that are not numbers."
        ) from error
    if array.shape != (api.space.dimension,):
        raise WrongDimension(
            f"{api.provider} answered with vectors of {array.size} numbers for {api.space.model}, "
            f"but memory.embedding.dimension is {api.space.dimension}. Make the two agree.",
            expected=api.space.dimension,
            received=array.size,
        )
    vector = unit(array)
    return UNUSABLE_NUMBERS if vector is None else vector


def _failure(response: httpx.Response, api: Access) -> Exception:
    """Return the error for a status; the answer to a rejected key is not shown: it may quote it."""
    status = response.status_code
    if status in (401, 403):
        return KeyRejected(
            f"{api.provider} rejected the key {api.key_name or ''} ({status}). {api.key_hint}",
            status=status,
        )
    why = explanation(response, api.key)
    if status in REFUSALS:
        return RequestRefused(why, too_long=status == 413 or bool(SAYS_TOO_LONG.search(why)))
    if status == 429:
        return ProviderRateLimited(
            f"{api.provider} asks for fewer requests: {why}", retry_after=retry_after(response)
        )
    if status >= 500 or status == 408:
        return ProviderUnavailable(f"{api.provider} failed with {status}: {why}", status=status)
    return ProviderError(
        f"{api.provider} answered {status} at {response.url.host}{response.url.path}: {why}. "
        "Check memory.embedding: model and base_url.",
        status=status,
    )


def explanation(response: httpx.Response, key: str | None) -> str:
    """Return what the API says of itself, short, on one line and without the key."""
    try:
        said = _said(response.json())
    except ValueError:
        said = response.text
    if key:
        said = said.replace(key, "***")
    return " ".join(said.split())[:SHOWN_CHARACTERS] or "no explanation"


def _said(found: Any) -> str:
    """Find the sentence in `{"error": {"message": …}}`, `{"error": …}`, `{"detail": …}`."""
    while isinstance(found, dict):
        known = [found[name] for name in ("error", "detail", "message") if found.get(name)]
        found = known[0] if known else ""
    return str(found)


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds the API asks to wait, an hour at the most; None if it does not say."""
    asked = response.headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        seconds = _until(asked, response.headers.get("date", ""))
    return bounded_wait(seconds) if isfinite(seconds) else None


def _until(moment: str, now: str) -> float:
    """Return the seconds between two dates, both by the API's own clock; NaN if one is none."""
    try:
        return (parsedate_to_datetime(moment) - parsedate_to_datetime(now)).total_seconds()
    except (TypeError, ValueError):
        return float("nan")
