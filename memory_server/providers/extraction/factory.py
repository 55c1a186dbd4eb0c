"""From configuration to an extractor."""

from memory_server.ports.extractor import Extractor
from memory_server.project_config import ExtractionLlmConfig
from memory_server.providers.extraction.rules import RuleExtractor


def build_extractor(config: ExtractionLlmConfig, key: str | None) -> Extractor:
    """Return the configured extractor; nothing heavy is loaded before its first use."""
    del key
    if config.provider == "local":
        return RuleExtractor()
    raise NotImplementedError(config.provider)
