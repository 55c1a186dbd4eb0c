"""Language models of the providers, through pydantic-ai. Imported only when one is needed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from httpx2 import Request
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from memory_server.domain.characters import whole
from memory_server.errors import Refused, RequestRejected
from memory_server.providers.extraction.chat import (
    AnswerForm,
    ChatModel,
    Completion,
    Message,
    ModelAccess,
)
from memory_server.providers.extraction.provider_errors import translated

_OPENAI_URLS = {
    "openai": "https://api.openai.com/v1",
    "cerebras": "https://api.cerebras.ai/v1",
}
_MAX_ANSWER_TOKENS = 8192
"""For the provider that wants to be told; the longest answers are a fraction of it."""
_MAX_REFUSAL = 2000
_Close = Callable[[], Awaitable[None]]
_NO_KEY = "none"
"""What is sent to a server of one's own that needs no key."""


class ProviderChatModel(ChatModel):
    """One model of one provider. It never retries by itself: the queue of jobs does."""

    def __init__(self, access: ModelAccess) -> None:
        self._access = access
        self._model, self._close = _connected(access)
        self._settings = _settings(self._model, access)
        # Of the others nobody has measured whether being held to a form serves them.
        self._takes_forms = access.provider == "openai"

    @property
    def name(self) -> str:
        return self._access.model

    async def complete(
        self, instructions: str, messages: Sequence[Message], form: AnswerForm | None = None
    ) -> Completion:
        history = _history(instructions, messages)
        if form is None or not self._takes_forms:
            response = await self._answer(history, ModelRequestParameters())
        else:
            response = await self._answer_in_form(history, form)
        _refuse_refusals(response)
        return Completion(
            text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
            is_cut_off=response.finish_reason == "length",
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
        )

    async def _answer_in_form(
        self, history: Sequence[ModelMessage], form: AnswerForm
    ) -> ModelResponse:
        """Ask for an answer in a form; a server that knows no forms is asked without from then."""
        schema = OutputObjectDefinition(json_schema=dict(form.schema), name=form.name, strict=False)
        try:
            return await self._answer(
                history, ModelRequestParameters(output_mode="native", output_object=schema)
            )
        except RequestRejected:
            response = await self._answer(history, ModelRequestParameters())
            self._takes_forms = False
            return response

    async def _answer(
        self, history: Sequence[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        with translated(self._access):
            return await model_request(
                self._model,
                history,
                model_settings=self._settings,
                model_request_parameters=parameters,
            )

    async def stream(self, instructions: str, messages: Sequence[Message]) -> AsyncIterator[str]:
        history = _history(instructions, messages)
        with translated(self._access):
            async with model_request_stream(
                self._model, history, model_settings=self._settings
            ) as answer:
                async for event in answer:
                    match event:
                        case PartStartEvent(part=TextPart(content=text)) if text:
                            yield text
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                            yield text
                response = answer.get()
        _refuse_refusals(response)

    async def close(self) -> None:
        await self._close()


def _settings(model: Model, access: ModelAccess) -> ModelSettings:
    """Ask for the likeliest words and no reasoning; some models take no temperature at all."""
    settings = ModelSettings(thinking=False, timeout=access.timeout_seconds, max_retries=0)
    if not model.profile.get("anthropic_disallows_sampling_settings"):
        settings["temperature"] = 0.0
    if access.provider == "anthropic":
        settings["max_tokens"] = _MAX_ANSWER_TOKENS
    return settings


def _history(instructions: str, messages: Sequence[Message]) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    for message in messages:
        if message.role == "user":
            part = UserPromptPart(content=message.text)
            history.append(ModelRequest(parts=[part], instructions=instructions))
        else:
            history.append(ModelResponse(parts=[TextPart(content=message.text)]))
    return history


def _refuse_refusals(response: ModelResponse) -> None:
    refusal = (response.provider_details or {}).get("refusal")
    if refusal or response.finish_reason == "content_filter":
        raise Refused(
            "The model declined to answer, or a content filter stopped it.",
            raw=whole(refusal or "")[:_MAX_REFUSAL],
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
        )


def _connected(access: ModelAccess) -> tuple[Model, _Close]:
    match access.provider:
        case "anthropic":
            return _anthropic(access)
        case "gemini":
            return _gemini(access)
    return _openai(access)


def _key_in_own_header(key: str) -> DefaultAsyncHttpxClient:
    """Return a connection that sends the key as `api-key` and not as a bearer token."""

    async def move(request: Request) -> None:
        request.headers.pop("authorization", None)
        request.headers["api-key"] = key

    return DefaultAsyncHttpxClient(event_hooks={"request": [move]})


def _openai(access: ModelAccess) -> tuple[Model, _Close]:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - only this provider's
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - only this provider's

    key = access.key or _NO_KEY
    client = AsyncOpenAI(
        api_key=key,
        base_url=access.base_url or _OPENAI_URLS[access.provider],
        max_retries=0,
        http_client=_key_in_own_header(key) if access.auth_header == "api-key" else None,
    )
    model = OpenAIChatModel(access.model, provider=OpenAIProvider(openai_client=client))
    return model, client.close


def _anthropic(access: ModelAccess) -> tuple[Model, _Close]:
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - only this provider's
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - only this provider's
    from pydantic_ai.providers.anthropic import (  # noqa: PLC0415 - only this provider's
        AnthropicProvider,
    )

    key = access.key or _NO_KEY
    is_bearer = access.auth_header == "authorization"
    client = AsyncAnthropic(
        api_key=None if is_bearer else key,
        auth_token=key if is_bearer else None,
        base_url=access.base_url or "https://api.anthropic.com",
        default_headers={"api-key": key} if access.auth_header == "api-key" else None,
        max_retries=0,
    )
    provider = AnthropicProvider(anthropic_client=client)
    return AnthropicModel(access.model, provider=provider), client.close


def _gemini(access: ModelAccess) -> tuple[Model, _Close]:
    from google.genai import Client  # noqa: PLC0415 - only this provider's
    from google.genai.types import HttpOptions  # noqa: PLC0415 - only this provider's
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - only this provider's
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - only this provider's

    key = access.key or _NO_KEY
    headers = {
        None: {},
        "authorization": {"Authorization": f"Bearer {key}"},
        "api-key": {"api-key": key},
    }[access.auth_header]
    options = HttpOptions(base_url=access.base_url, headers=headers)
    client = Client(vertexai=False, api_key=key, http_options=options)
    return GoogleModel(access.model, provider=GoogleProvider(client=client)), client.aio.aclose
