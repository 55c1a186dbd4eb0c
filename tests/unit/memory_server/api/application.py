"""A joined server over a store in memory, with models that need no file and no network."""

from pathlib import Path
from typing import Any

from memory_server import project_config
from memory_server.application import Application
from memory_server.bootstrap import join
from memory_server.errors import ProviderError
from memory_server.models import Former, Providers
from memory_server.ports.clock import Clock
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.answering.factory import build_answerer
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.extraction.factory import build_extractor
from memory_server.settings import Settings
from memory_server.storage.sqlite.store import SqliteStore

PROJECT = "shop"
OWNER_TOKEN = "the-owner-token-of-the-tests"

CONFIG: dict[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
    "short_term": {"embed_on_write": True},
    "metadata_partition_key": [{"name": "tier", "type": "string"}],
    "metadata_partition_index": {"semantic": ["both"]},
}


class FakeModels:
    """Makes models that need no file and no network, and uses those that stay the same again."""

    def __init__(self) -> None:
        self.failure: ProviderError | None = None
        """What the embedders made from now on fail with."""
        self.kind = HashingEmbedder
        """What is made from now on."""

    def __call__(self, settings: Settings, former: Former | None = None) -> Providers:
        llm = settings.memory.extraction_llm
        return Providers(
            embedder=self._embedder(settings.answers or settings.embedding, former),
            target=None if settings.target is None else self._embedder(settings.target, former),
            extractor=build_extractor(llm, None),
            answerer=build_answerer(llm, None),
            embedding={"provider": "hashing"},
            extraction={"provider": llm.provider, "model": llm.model},
        )

    def _embedder(self, wanted: EmbeddingConfig, former: Former | None) -> Embedder:
        if former is not None:
            settings, providers = former
            if wanted == (settings.answers or settings.embedding):
                return providers.embedder
            if wanted == settings.target and providers.target is not None:
                return providers.target
        made = self.kind(model=wanted.model, dimension=wanted.dimension)
        made.failure = self.failure
        return made


def an_application(
    directory: Path,
    clock: Clock,
    models: FakeModels | None = None,
    store: Store | None = None,
    **memory: Any,
) -> Application:
    """Return a server of project `shop`; `memory` replaces keys of its configuration."""
    owner_token = directory / "owner-token"
    owner_token.write_text(OWNER_TOKEN)
    config = project_config.parse(CONFIG | memory)
    settings = Settings(
        data_dir=directory,
        project_id=PROJECT,
        org_id="acme",
        memory=config,
        config_digest="digest-1",
        local_models=False,
        owner_token_file=owner_token,
        secrets={},
        instance_id="instance-1",
        document=CONFIG | memory,
    )
    models = models or FakeModels()
    store = store or SqliteStore(None, clock=clock)
    return join(settings, store=store, providers=models(settings), clock=clock, models=models)
