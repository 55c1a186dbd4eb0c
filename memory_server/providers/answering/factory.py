"""From configuration to an answerer."""

from memory_server.ports.answerer import Answerer
from memory_server.project_config import ExtractionLlmConfig
from memory_server.providers.answering.language_model import LanguageModelAnswerer
from memory_server.providers.answering.local import LocalAnswerer
from memory_server.providers.extraction.chat import access_of


def build_answerer(config: ExtractionLlmConfig, key: str | None) -> Answerer:
    """Return the configured answerer; nothing heavy is loaded before its first use."""
    if config.provider == "local":
        return LocalAnswerer()
    return LanguageModelAnswerer(access_of(config, key))
