"""The ways in: a file, its bytes, or a `memory:` mapping that was delivered."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config.build import build
from memory_server.project_config.problem import Finding, Problem, refuse
from memory_server.project_config.rules import warnings
from memory_server.project_config.schema import known_keys
from memory_server.project_config.tree import Tree, grow
from memory_server.project_config.validation import (
    Source,
    credentials_in_text,
    findings_in_file,
    findings_in_values,
    in_order,
)
from memory_server.project_config.values import MemoryConfig, Parsed, ProjectConfig
from memory_server.project_config.yaml_text import LARGEST_FILE, Unreadable, compose, decode


def load(path: Path) -> ProjectConfig:
    """Read and check a project-config.yaml.

    Raises `InvalidProjectConfig`; `details["problems"]` is a tuple of `Problem` and the message
    tells all of them, one a line.
    """
    try:
        # One byte more than allowed is enough to know that a file is too large.
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or type(error).__name__}"
        raise refuse([Problem(file=str(path), path="", message=message)]) from None
    return from_bytes(data, path=path)


def from_bytes(data: bytes, *, path: Path) -> ProjectConfig:
    """Check the content of a project-config.yaml; `path` only names it in problems."""
    try:
        text = decode(data)
    except Unreadable as error:
        raise _unreadable(error, path, ()) from None
    try:
        tree = grow(compose(text))
    except Unreadable as error:
        raise _unreadable(error, path, credentials_in_text(text)) from None
    source = Source(file=str(path), places=tree.places, key_places=tree.key_places)
    _raise_if_any(in_order(findings_in_file(tree, text), source))
    return _project_config(tree, source, path)


def parse(document: Mapping[str, Any]) -> MemoryConfig:
    """Return the typed configuration of a `memory:` mapping, or raise `InvalidProjectConfig`."""
    return parse_with_warnings(document).config


def parse_with_warnings(document: Mapping[str, Any]) -> Parsed:
    """Do as `parse`, and tell what is allowed but probably not meant."""
    whole = {"memory": dict(document)}
    _raise_if_any(in_order(findings_in_values(whole), Source()))
    return Parsed(config=build(document), warnings=_warnings(whole, Source()))


def _project_config(tree: Tree, source: Source, path: Path) -> ProjectConfig:
    memory = tree.value["memory"]
    return ProjectConfig(
        path=path,
        memory_only=tree.value.get("memory_only", False),
        memory=memory,
        config=build(memory),
        warnings=_warnings(tree.value, source),
        places=source.places,
    )


def _warnings(document: Mapping[str, Any], source: Source) -> tuple[Problem, ...]:
    keys = (path.removeprefix("memory.") for path in known_keys() if path.count(".") == 1)
    return tuple(in_order(warnings(document, keys), source))


def _unreadable(error: Unreadable, path: Path, more: Iterable[Finding]) -> InvalidProjectConfig:
    findings = [Finding((), error.message, error.place), *more]
    return refuse(in_order(findings, Source(file=str(path))))


def _raise_if_any(problems: list[Problem]) -> None:
    if problems:
        raise refuse(problems)
