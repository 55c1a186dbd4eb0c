"""A server whose facts a language model extracts, and what it tells its operator."""

from dataclasses import replace

import httpx

from agentengine_cli.control.report import lines_of_parts
from memory_server.application import Application
from memory_server.models import Former, Providers
from memory_server.providers.extraction.chat import access_of
from memory_server.providers.extraction.llm import LanguageModelExtractor
from memory_server.settings import Settings
from tests.integration.providers.extraction.llm_talk import KEY
from tests.unit.memory_server.api.application import OWNER_TOKEN, FakeModels

OWNER = {"Authorization": f"Bearer {OWNER_TOKEN}"}


class HostedModels(FakeModels):
    """The language model that is configured, with a key and little patience."""

    def __call__(self, settings: Settings, former: Former | None = None) -> Providers:
        providers = super().__call__(settings, former)
        access = replace(access_of(settings.memory.extraction_llm, KEY), timeout_seconds=1.0)
        return replace(providers, extractor=LanguageModelExtractor(access))


async def status(application: Application, caller: httpx.AsyncClient) -> tuple[str, str]:
    """Return the state and all that `memory status` tells."""
    application.background.began()
    await application.readiness.probe()
    body = (await caller.get("/ready")).json()
    lines = [*body["blocked_on"], *lines_of_parts(body, None, None), *body["warnings"]]
    return body["status"], "\n".join(lines)
