"""Readers by the names that a suite has for them."""

from evaluation.chat import ChatModel
from evaluation.prompts import OF_READERS, load_prompt
from evaluation.readers.extractive import ExtractiveReader
from evaluation.readers.provider import ProviderReader
from evaluation.readers.reader import Reader

DEFAULT_PROMPT = "short"


def open_extractive() -> Reader:
    """Return the reader that needs no model."""
    return ExtractiveReader()


def open_model_reader(model: ChatModel, prompt: str = DEFAULT_PROMPT) -> Reader:
    """Return a reader that asks a model by a prompt.

    Raises:
        InvalidRequest: there is no prompt of that name.

    """
    return ProviderReader(model, load_prompt(OF_READERS, prompt))
