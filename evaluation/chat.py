"""A language model that answers or judges, whichever provider offers it."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.suite import ModelChoice
from memory_server.errors import (
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    Refused,
)

_URLS = {"cerebras": "https://api.cerebras.ai/v1"}
_TIMEOUT_SECONDS = 120.0
_MAX_DETAIL = 300
_NO_KEY = "no-key-needed"
"""What is sent to a server of one's own that needs no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model answered."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class ChatModel:
    """One model; its library is loaded, and its key read, when it is first asked."""

    choice: ModelChoice
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    retries: int = 4
    """Of calls that may succeed later, as the provider's library makes them."""
    _model: Any = field(default=None, init=False, repr=False)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def complete(
        self, instructions: str, text: str, *, temperature: float = 0.0, max_tokens: int = 1024
    ) -> Completion:
        """Return the answer to one message.

        Raises:
            ProviderError: there is none; the key is never part of the message.

        """
        async with self._loading:
            if self._model is None:
                model = await asyncio.to_thread(_load, self.choice, self._key())
                await model.provider.__aenter__()
                self._model = model
        from pydantic_ai import exceptions as theirs  # noqa: PLC0415 - loaded by now

        try:
            return await _ask(
                self._model, instructions, text, self._settings(temperature, max_tokens)
            )
        except (theirs.ModelAPIError, theirs.UnexpectedModelBehavior) as error:
            # Not chained: a gateway's message may repeat the request's headers.
            raise self._translated(error) from None

    def check_key(self) -> None:
        """Raise `KeyRejected` where there is no key to ask it with."""
        self._key()

    async def close(self) -> None:
        """Let connections go."""
        if self._model is not None:
            await self._model.provider.__aexit__(None, None, None)

    @property
    def name(self) -> str:
        """Return the name that records have of it."""
        return f"{self.choice.provider}:{self.choice.model}"

    def _settings(self, temperature: float, max_tokens: int) -> Any:
        from pydantic_ai.settings import ModelSettings  # noqa: PLC0415 - loaded by now

        settings = ModelSettings(
            max_tokens=max_tokens,
            timeout=_TIMEOUT_SECONDS,
            max_retries=self.retries,
            thinking=False,
        )
        if not self._model.profile.get("anthropic_disallows_sampling_settings"):
            settings["temperature"] = temperature
        return settings

    def _key(self) -> str:
        own = self.choice.api_key_secret or f"{self.choice.provider.upper()}_API_KEY"
        key = self.environment.get(own) or self.environment.get("LLM_API_KEY")
        if not key and self.choice.base_url is None:
            raise KeyRejected(f"There is no key for {self.name}: set {own} or LLM_API_KEY.")
        return key or _NO_KEY

    def _translated(self, error: Exception) -> ProviderError:
        from pydantic_ai import exceptions as theirs  # noqa: PLC0415 - loaded by now

        choice = self.choice
        place = f"{self.name} at {choice.base_url}" if choice.base_url else self.name
        match error:
            case theirs.ModelAuthenticationError():
                return KeyRejected(f"{place} rejected the key.")
            case theirs.ModelRateLimitError() | theirs.ModelQuotaExceededError():
                return ProviderRateLimited(f"{place} asks for fewer requests; run again to go on.")
            case theirs.ContentFilterError():
                return Refused(f"{place}: a content filter stopped the answer.")
            case theirs.ModelRequestRejectedError() | theirs.ModelNotFoundError():
                detail = str(error).replace(self._key(), "[key]")[:_MAX_DETAIL]
                return ProviderError(f"{place} rejected the request: {detail}")
        return ProviderUnavailable(f"{place} cannot be reached or failed; run again to go on.")


async def _ask(model: Any, instructions: str, text: str, settings: Any) -> Completion:
    from pydantic_ai.direct import model_request  # noqa: PLC0415 - takes a second to load
    from pydantic_ai.messages import ModelRequest, TextPart  # noqa: PLC0415 - as above

    request = ModelRequest.user_text_prompt(text, instructions=instructions or None)
    response = await model_request(model, [request], model_settings=settings)
    declined = (response.provider_details or {}).get("refusal")
    if declined or response.finish_reason == "content_filter":
        raise Refused("The model declined to answer, or a content filter stopped it.")
    return Completion(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        tokens_in=response.usage.input_tokens,
        tokens_out=response.usage.output_tokens,
    )


def _load(choice: ModelChoice, key: str) -> Any:
    """Connect to the provider; each one's library is loaded only where it is asked for."""
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

        anthropic = AnthropicProvider(api_key=key, base_url=choice.base_url)
        return AnthropicModel(choice.model, provider=anthropic)
    if choice.provider == "gemini":
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

        google = GoogleProvider(api_key=key, base_url=choice.base_url)
        return GoogleModel(choice.model, provider=google)
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    base_url = choice.base_url or _URLS.get(choice.provider)
    return OpenAIChatModel(choice.model, provider=OpenAIProvider(api_key=key, base_url=base_url))
