"""agent.yaml: which callable answers, and whether it has memory.

The product's file has many keys that mean nothing here; they are passed over. What looks like a
misspelling of a key that does mean something is told.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentengine_cli.errors import CliError
from memory_server.project_config.problem import Problem, Steps, dotted
from memory_server.project_config.tree import Tree, grow
from memory_server.project_config.yaml_text import LARGEST_FILE, Unreadable, compose, decode

ENTRYPOINT = re.compile(r"[\w.]+:\w+")
KEYS = ("entrypoint", "features", "name")
FEATURES = (
    "memory",
    "guardrails",
    "deep_agent",
    "playground",
    "use_custom_parser",
    "durable_workflow",
)
_ALIKE = 0.75
"""How alike two names are when one is taken for a misspelling of the other, from 0 to 1."""


class InvalidAgentFile(CliError):
    """agent.yaml cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """What agent.yaml says."""

    path: Path
    name: str
    """Its `name`, else the directory's."""
    entrypoint: str | None = None
    """`package.module:callable`; None: the built-in agent answers."""
    memory: bool | None = None
    """`features.memory`; None: it does not say."""
    warnings: Sequence[Problem] = ()

    def remembers(self, dotenv: Mapping[str, str]) -> bool:
        """Whether memory is on: as the file says, else as `ENABLE_MEMORY` in .env does."""
        if self.memory is not None:
            return self.memory
        return dotenv.get("ENABLE_MEMORY", "").strip().lower() in {"1", "true", "yes", "on"}


def load(path: Path) -> AgentFile:
    """Read and check agent.yaml; raises `InvalidAgentFile` with every problem and its place."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _invalid([Problem(file=str(path), path="", message=_unreadable(error))]) from None
    if not _says_something(data):
        return AgentFile(path=path, name=path.absolute().parent.name)
    try:
        tree = grow(compose(decode(data)))
    except Unreadable as error:
        line, column = error.place
        problem = Problem(file=str(path), line=line, column=column, path="", message=error.message)
        raise _invalid([problem]) from None
    return _checked(path, tree)


def _says_something(data: bytes) -> bool:
    lines = (line.strip() for line in data.split(b"\n"))
    return any(line and not line.startswith(b"#") for line in lines)


def _checked(path: Path, tree: Tree) -> AgentFile:
    problems = [_problem(path, tree, steps, message) for steps, message in _mistakes(tree.value)]
    if problems:
        raise _invalid(problems)
    features = tree.value.get("features") or {}
    return AgentFile(
        path=path,
        name=str(tree.value.get("name") or path.absolute().parent.name),
        entrypoint=tree.value.get("entrypoint"),
        memory=features.get("memory"),
        warnings=[_problem(path, tree, steps, text) for steps, text in _misspelt(tree.value)],
    )


def _mistakes(document: Any) -> Iterator[tuple[Steps, str]]:
    if not isinstance(document, dict):
        yield (), "expected a mapping, as: entrypoint: my_agent.main:answer"
        return
    entrypoint = document.get("entrypoint")
    if "entrypoint" in document and not _is_entrypoint(entrypoint):
        yield (
            ("entrypoint",),
            "expected package.module:callable, as my_agent.main:answer (letters, digits, "
            "underscores and dots, one colon)",
        )
    name = document.get("name")
    if name is not None and not isinstance(name, str):
        yield ("name",), "expected text"
    features = document.get("features")
    if features is not None and not isinstance(features, dict):
        yield ("features",), "expected a mapping, as: memory: true"
    elif isinstance(features, dict):
        memory = features.get("memory")
        if memory is not None and not isinstance(memory, bool):
            yield ("features", "memory"), "expected true or false, without quotes"


def _is_entrypoint(value: Any) -> bool:
    return isinstance(value, str) and ENTRYPOINT.fullmatch(value) is not None


def _misspelt(document: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """Yield keys that are nearly one of ours, where that one is not given."""
    features = document.get("features")
    for above, keys, known in (((), document, KEYS), (("features",), features or {}, FEATURES)):
        for key in keys:
            if key in known:
                continue
            near = difflib.get_close_matches(key, known, n=1, cutoff=_ALIKE)
            if near and near[0] not in keys:
                yield (*above, key), f"passed over; did you mean {near[0]}?"
    if "memory" in document and "memory" not in (features or {}):
        yield ("memory",), "passed over here; memory is turned on by features.memory"


def _problem(path: Path, tree: Tree, steps: Steps, message: str) -> Problem:
    line, column = tree.key_places.get(steps) or tree.places.get(steps) or (1, 1)
    return Problem(file=str(path), line=line, column=column, path=dotted(steps), message=message)


def _unreadable(error: OSError) -> str:
    return f"cannot be read: {error.strerror or type(error).__name__}"


def _invalid(problems: Sequence[Problem]) -> InvalidAgentFile:
    return InvalidAgentFile("\n".join(map(str, problems)), code="INVALID_AGENT_FILE")
