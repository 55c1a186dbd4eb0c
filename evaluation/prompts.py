"""Prompts as data: a file each, with a digest by which figures made with it are told apart."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from string import Template

import yaml
from pydantic import BaseModel, ConfigDict

from memory_server.errors import InvalidRequest

OF_READERS, OF_JUDGES = "evaluation.readers", "evaluation.judges"
"""The packages that have prompts."""
LONGMEMEVAL = "longmemeval"
"""The family of judges of LongMemEval: which prompt marks a question depends on the question."""


class Prompt(BaseModel):
    """What a model is told, with `$names` in place of what differs by question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    """What it is for and where its idea is from, in a sentence."""
    instructions: str
    template: str
    max_tokens: int = 512
    reply: str = "text"
    """How the reply is read: `text`, `final` (what follows `Answer:`), `label`, or `yes_no`."""

    @cached_property
    def digest(self) -> str:
        """Return a digest of everything that a model is told or held to."""
        told = "\0".join((self.instructions, self.template, str(self.max_tokens), self.reply))
        return hashlib.sha256(told.encode()).hexdigest()

    def filled(self, **values: str) -> str:
        """Return the message for one question. What is put in is never read as a template."""
        return Template(self.template).substitute(values)


def prompt_names(package: str) -> Sequence[str]:
    """List the prompts of a package."""
    found = files(package).joinpath("prompts").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in found if file.name.endswith(".yaml"))


def reader_prompts() -> Sequence[str]:
    """List the prompts that a model can answer by."""
    return prompt_names(OF_READERS)


def judge_names() -> Sequence[str]:
    """List the prompts that a model can judge by, and the family that picks one by question."""
    return [LONGMEMEVAL, *prompt_names(OF_JUDGES)]


def load_prompt(package: str, name: str) -> Prompt:
    """Read a prompt of a package.

    Raises:
        InvalidRequest: the package has no prompt of that name.

    """
    names = prompt_names(package)
    if name not in names:
        raise InvalidRequest(f"there is no prompt {name!r}; there are {', '.join(names)}")
    text = files(package).joinpath("prompts", f"{name}.yaml").read_text(encoding="utf-8")
    return Prompt(name=name, **yaml.safe_load(text))
