"""Talking to a language model, whichever provider offers it."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from memory_server.domain.characters import whole
from memory_server.errors import KeyRejected, ProviderMissing
from memory_server.project_config import ExtractionLlmConfig

DEFAULT_MODELS = {
    "openai": "gpt-6-luna",
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-3.5-flash-lite",
    "cerebras": "gpt-oss-120b",
}
"""The small model of each provider: extraction is frequent and bounded work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the exchange with the model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model answered."""

    text: str
    """Empty when it answered nothing."""
    is_cut_off: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """Which model, where, and with which key."""

    provider: Literal["openai", "anthropic", "gemini", "cerebras"]
    model: str
    key: str | None = field(repr=False)
    base_url: str | None = None
    auth_header: Literal["authorization", "api-key"] | None = None
    timeout_seconds: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """The form that an answer must have: a JSON schema of one object."""

    name: str
    schema: Mapping[str, Any]


class ChatModel(Protocol):
    """A language model."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's name."""
        ...

    @abstractmethod
    async def complete(
        self, instructions: str, messages: Sequence[Message], form: AnswerForm | None = None
    ) -> Completion:
        """Return the answer to the last message. Raises a `ProviderError` when there is none.

        Providers that can hold a model to a form do; the others leave it to the instructions.
        """
        ...

    @abstractmethod
    def stream(self, instructions: str, messages: Sequence[Message]) -> AsyncIterator[str]:
        """Yield the answer to the last message in pieces. Raises a `ProviderError`."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let connections go."""
        ...


def access_of(config: ExtractionLlmConfig, key: str | None) -> ModelAccess:
    """Return the access that a configuration describes, with the provider's default model."""
    if config.provider == "local":
        raise ValueError("the local provider has no language model")
    return ModelAccess(
        provider=config.provider,
        model=config.model or DEFAULT_MODELS[config.provider],
        key=key,
        base_url=config.base_url,
        auth_header=config.auth_header,
    )


class LazyChatModel(ChatModel):
    """A model whose libraries are loaded when it is first asked, outside the event loop."""

    def __init__(self, access: ModelAccess) -> None:
        self._access = access
        self._model: ChatModel | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._access.model

    def check(self) -> None:
        """Return if there is a key, or a server of one's own that may need none."""
        if not self._access.key and self._access.base_url is None:
            raise KeyRejected(
                f"There is no key for the language model provider {self._access.provider!r}; "
                f"store {self._access.provider.upper()}_API_KEY or LLM_API_KEY as a secret."
            )

    async def complete(
        self, instructions: str, messages: Sequence[Message], form: AnswerForm | None = None
    ) -> Completion:
        completion = await (await self._loaded()).complete(instructions, messages, form)
        return replace(completion, text=whole(completion.text))

    async def stream(self, instructions: str, messages: Sequence[Message]) -> AsyncIterator[str]:
        async for piece in (await self._loaded()).stream(instructions, messages):
            yield whole(piece)

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def _loaded(self) -> ChatModel:
        self.check()
        async with self._loading:
            if self._model is None:
                self._model = await asyncio.to_thread(_load, self._access)
            return self._model


def _load(access: ModelAccess) -> ChatModel:
    try:
        from memory_server.providers.extraction import (  # noqa: PLC0415 - takes a second to load
            provider_models,
        )

        return provider_models.ProviderChatModel(access)
    except ImportError as error:
        raise ProviderMissing(
            f"The library for provider {access.provider!r} is not installed: {error.name}."
        ) from error
