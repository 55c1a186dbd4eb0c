"""A joined server over a store in memory, with models that need no file and no network."""

from pathlib import Path
from typing import Any

from memory_server import project_config
from memory_server.bootstrap import Application, Providers, join
from memory_server.ports.clock import Clock
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


def an_application(directory: Path, clock: Clock, **memory: Any) -> Application:
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
    )
    providers = Providers(
        embedder=HashingEmbedder(),
        extractor=build_extractor(config.extraction_llm, None),
        answerer=build_answerer(config.extraction_llm, None),
        embedding={"provider": "hashing"},
        extraction={"provider": "local"},
    )
    store = SqliteStore(None, clock=clock)
    return join(settings, store=store, providers=providers, clock=clock)
