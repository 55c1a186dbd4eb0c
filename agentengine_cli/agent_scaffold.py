"""The files a new agent starts with."""

import json
from dataclasses import dataclass
from enum import StrEnum

from memory_server import project_config

TEMPLATE = "assistant"
"""The one template there is."""
KEY = "LLM_API_KEY"


class Llm(StrEnum):
    """Which language model the agent and the extraction of its memories use."""

    LOCAL = "local"
    """None: the agent answers from memory alone, and built-in rules extract."""
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OPENROUTER = "openrouter"
    OPENAI_COMPATIBLE = "openai-compatible"
    ANTHROPIC_COMPATIBLE = "anthropic-compatible"
    CUSTOM = "custom"
    """One that the user's own code calls."""

    @property
    def needs_key(self) -> bool:
        """Whether a model is configured that asks for a key."""
        return self not in (Llm.LOCAL, Llm.CUSTOM)

    @property
    def is_elsewhere(self) -> bool:
        """Whether its address has to be given."""
        return self in (Llm.OPENAI_COMPATIBLE, Llm.ANTHROPIC_COMPATIBLE)


PROVIDERS = {
    Llm.OPENAI: "openai",
    Llm.ANTHROPIC: "anthropic",
    Llm.GEMINI: "gemini",
    Llm.OPENROUTER: "openai",
    Llm.OPENAI_COMPATIBLE: "openai",
    Llm.ANTHROPIC_COMPATIBLE: "anthropic",
}
"""As project-config.yaml names them."""
MODELS = {
    Llm.OPENAI: "gpt-6-luna",
    Llm.ANTHROPIC: "claude-haiku-5-5",
    Llm.GEMINI: "gemini-3.5-flash-lite",
}
"""The model when none is named; the others have to be named."""
OPENROUTER_URL = "https://openrouter.ai/api/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """What is to be written."""

    name: str
    slug: str
    memory: bool
    llm: Llm = Llm.LOCAL
    model: str | None = None
    base_url: str | None = None
    auth_header: str | None = None
    key: str | None = None

    @property
    def files(self) -> dict[str, str]:
        """Return the content of each file by its path."""
        agent = f"agents/{self.slug}"
        return {
            "project-config.yaml": _config(self),
            ".env": _dotenv(self),
            ".gitignore": ".agentengine/\n.env\n.venv/\n__pycache__/\n",
            f"{agent}/agent.yaml": _agent(self),
            f"{agent}/main.py": _main(self),
        }


def _agent(scaffold: Scaffold) -> str:
    return f"""\
name: {scaffold.slug}

# The function that answers: module:callable, found from this directory.
entrypoint: main:answer

features:
  # Whether what is said is recorded and remembered, and memory can be used from the code.
  memory: {str(scaffold.memory).lower()}
"""


def _dotenv(scaffold: Scaffold) -> str:
    lines = [
        "# Keys of this project, one NAME=value a line. Not under version control.",
        "# The agent finds every entry in its environment; what your shell has is not passed on.",
    ]
    if scaffold.llm.needs_key:
        lines.append(f"{KEY}={_quoted(scaffold.key or '')}")
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    """Return a value as dotenv files write it; plain where that is enough."""
    if value.isascii() and all(char.isalnum() or char in "-_.:/+=" for char in value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _config(scaffold: Scaffold) -> str:
    text = project_config.scaffold(scaffold.name)
    before, _, after = text.partition("# This project has memory and no agents.\n")
    text = before + after.removeprefix("memory_only: true\n\n")
    if not scaffold.llm.needs_key:
        return text
    head, section, rest = text.partition("  extraction_llm:\n")
    values = {
        "    #model: null": ("model", scaffold.model),
        "    #base_url: null": ("base_url", scaffold.base_url),
        "    #api_key_secret: null": ("api_key_secret", KEY),
        "    #auth_header: null": ("auth_header", scaffold.auth_header),
    }
    rest = rest.replace("    provider: local\n", f"    provider: {PROVIDERS[scaffold.llm]}\n", 1)
    for line, (key, value) in values.items():
        if value is not None:
            rest = rest.replace(line, f"    {key}: {json.dumps(value)}", 1)
    return head + section + rest


def _main(scaffold: Scaffold) -> str:
    if not scaffold.llm.needs_key:
        return _WITHOUT_MODEL
    model = scaffold.model or MODELS[scaffold.llm]
    connect = _CONNECT[PROVIDERS[scaffold.llm]]
    options = "".join(
        f", {name}={value}"
        for name, value in (
            ("base_url", json.dumps(scaffold.base_url) if scaffold.base_url else None),
            ("default_headers", '{"api-key": KEY}' if scaffold.auth_header == "api-key" else None),
        )
        if value is not None
    )
    imports, _, maker = connect.partition("---\n")
    made = maker.replace("@OPTIONS@", options).replace("@MODEL@", json.dumps(model))
    return _WITH_MODEL.replace("@IMPORTS@", imports).replace("@CONNECT@", made)


_WITHOUT_MODEL = '''\
"""The agent. `answer` is called with each message; change it as you like.

Return a string, or yield pieces of text; a function may be async. `invocation` has user_id,
session_id, execution_id, payload, headers, context (what is remembered about the message, as
text) and history (the turns before it). What is printed is in: agentengine logs --source agent
"""


def answer(message, invocation):
    yield f"You said: {message}\\n"
    if invocation.context:
        yield f"I remember:\\n{invocation.context}"
    else:
        yield "I remember nothing about that yet."
'''

_WITH_MODEL = '''\
"""The agent. `answer` is called with each message; change it as you like.

Return a string, or yield pieces of text; a function may be async. `invocation` has user_id,
session_id, execution_id, payload, headers, context (what is remembered about the message, as
text) and history (the turns before it). What is printed is in: agentengine logs --source agent
"""

import os

from pydantic_ai import Agent
@IMPORTS@
KEY = os.environ["LLM_API_KEY"]  # from .env
@CONNECT@
agent = Agent(model, instructions="You are a helpful assistant. Answer briefly.")


async def answer(message, invocation):
    async with agent.run_stream(prompt(message, invocation)) as result:
        async for piece in result.stream_text(delta=True):
            yield piece


def prompt(message, invocation):
    parts = []
    if invocation.context:
        parts.append(f"What you remember about the user:\\n{invocation.context}")
    if invocation.history:
        said = "\\n".join(f"{turn['role']}: {turn['content']}" for turn in invocation.history)
        parts.append(f"The conversation so far:\\n{said}")
    return "\\n\\n".join([*parts, f"The user says:\\n{message}"])
'''

_CONNECT = {
    "openai": """\
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
---
client = AsyncOpenAI(api_key=KEY@OPTIONS@)
model = OpenAIChatModel(@MODEL@, provider=OpenAIProvider(openai_client=client))
""",
    "anthropic": """\
from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
---
client = AsyncAnthropic(api_key=KEY@OPTIONS@)
model = AnthropicModel(@MODEL@, provider=AnthropicProvider(anthropic_client=client))
""",
    "gemini": """\
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider
---
model = GoogleModel(@MODEL@, provider=GoogleProvider(api_key=KEY))
""",
}
