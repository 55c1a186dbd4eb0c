"""From configuration to an answerer."""

from memory_server.ports.answerer import Answerer
from memory_server.project_config import ExtractionLlmConfig
from memory_server.providers.answering.local import LocalAnswerer


def build_answerer(config: ExtractionLlmConfig, key: str | None) -> Answerer:
    """Return the configured answerer; nothing heavy is loaded before its first use."""
    del key
    if config.provider == "local":
        return LocalAnswerer()
    raise NotImplementedError(config.provider)
