"""Readers by the names that a suite has for them."""

from collections.abc import Sequence

from evaluation.chat import ChatModel
from evaluation.prompts import load_prompt, prompt_names
from evaluation.readers.extractive import ExtractiveReader
from evaluation.readers.provider import ProviderReader
from evaluation.readers.reader import Reader

DEFAULT_PROMPT = "short"
_PACKAGE = "evaluation.readers"


def reader_prompts() -> Sequence[str]:
    """List the prompts that a model can answer by."""
    return prompt_names(_PACKAGE)


def open_extractive() -> Reader:
    """Return the reader that needs no model."""
    return ExtractiveReader()


def open_model_reader(model: ChatModel, prompt: str = DEFAULT_PROMPT) -> Reader:
    """Return a reader that asks a model by a prompt.

    Raises:
        InvalidRequest: there is no prompt of that name.

    """
    return ProviderReader(model, load_prompt(_PACKAGE, prompt))
