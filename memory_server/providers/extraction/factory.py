"""From configuration to an extractor."""

from memory_server.ports.extractor import Extractor
from memory_server.project_config import ExtractionLlmConfig
from memory_server.providers.extraction.chat import access_of
from memory_server.providers.extraction.llm import LanguageModelExtractor
from memory_server.providers.extraction.rules import RuleExtractor


def build_extractor(config: ExtractionLlmConfig, key: str | None) -> Extractor:
    """Return the configured extractor; nothing heavy is loaded before its first use."""
    if config.provider == "local":
        return RuleExtractor()
    return LanguageModelExtractor(access_of(config, key))
