"""Which project-config.yaml a command means, and what lies beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agentengine_cli.errors import CliError

CONFIG_NAME = "project-config.yaml"
AGENT_NAME = "agent.yaml"
STATE_NAME = ".agentengine"
PORTS = range(1, 65536)


class NoProjectConfig(CliError):
    """No project-config.yaml is in reach."""


class InvalidStackFile(CliError):
    """dev.yaml or agent.yaml is not usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One project and the agent, if any, it was reached from. Paths are absolute."""

    root: Path
    """The directory of agent.yaml, or of a memory-only project-config.yaml."""
    project: Path
    """The directory of project-config.yaml; state is kept there."""
    config: Path | None
    """project-config.yaml itself; None when only its state is left."""

    @property
    def dotenv(self) -> Path:
        """The only file keys are read from: beside the stack, else beside its configuration."""
        nearest = self.root / ".env"
        return nearest if nearest.exists() else self.project / ".env"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSettings:
    """What dev.yaml pins."""

    memory_port: int | None = None
    local_mongodb: bool = True
    """False: an external MongoDB must be named by MONGODB_URI."""


def find(start: Path, *, repository_root: bool = False) -> Stack:
    """Return the stack that `start`, a directory or a configuration file, belongs to.

    Walks up to the nearest agent.yaml or memory-only project-config.yaml and from there to the
    nearest project-config.yaml, never above the repository. Without any stack only the file in
    `start` itself counts. `repository_root`: only the file at the repository's root counts.
    Raises `NoProjectConfig`.
    """
    if start.is_file():
        path = start.absolute()
        return Stack(root=path.parent, project=path.parent, config=path)
    if not start.is_dir():
        raise NoProjectConfig(f"{start} does not exist", hint="Name a directory or a file")
    return _from(_places(start, repository_root=repository_root))


def find_existing(start: Path, *, repository_root: bool = False) -> Stack:
    """Like `find`, but content with what earlier commands left when the file itself is gone."""
    try:
        return find(start, repository_root=repository_root)
    except NoProjectConfig:
        for directory in _places(start, repository_root=repository_root):
            if (directory / STATE_NAME / "stored.json").exists():
                return Stack(root=directory, project=directory, config=None)
        raise


def _places(start: Path, *, repository_root: bool) -> list[Path]:
    """Return the directories to look in, the nearest first."""
    directories = list(_upwards(start.resolve()))
    return directories[-1:] if repository_root else directories


def _from(directories: list[Path]) -> Stack:
    start = directories[0]
    root = next((place for place in directories if _is_stack(place)), None)
    if root is None:
        if (start / CONFIG_NAME).is_file():
            return Stack(root=start, project=start, config=start / CONFIG_NAME)
        raise NoProjectConfig(_nothing_found(directories), hint=_way_out(directories))
    for place in directories[directories.index(root) :]:
        if (place / CONFIG_NAME).is_file():
            return Stack(root=root, project=place, config=place / CONFIG_NAME)
    raise NoProjectConfig(
        f"The stack in {root} has no {CONFIG_NAME} at or above it (looked up to {directories[-1]})",
        hint="Write one with: agentengine create --memory-only --name NAME",
    )


def _upwards(start: Path) -> Iterator[Path]:
    """Yield the directory and its parents, the repository's root last."""
    for place in (start, *start.parents):
        yield place
        if (place / ".git").exists():
            return


def _is_stack(place: Path) -> bool:
    return (place / AGENT_NAME).is_file() or _is_memory_only(place / CONFIG_NAME)


def _is_memory_only(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return True  # so that its fault is reported instead of another file being used
    return isinstance(document, dict) and document.get("memory_only") is True


def _nothing_found(directories: list[Path]) -> str:
    return (
        f"No {CONFIG_NAME} in {directories[0]}, and no {AGENT_NAME} or memory-only "
        f"{CONFIG_NAME} above it (looked up to {directories[-1]})"
    )


def _way_out(directories: list[Path]) -> str:
    for place in directories:
        if (place / CONFIG_NAME).is_file():
            return f"{place / CONFIG_NAME} exists; name it or work in its directory: cd {place}"
    return "Write one with: agentengine create --memory-only --name NAME"


def dev_settings(stack: Stack) -> DevSettings:
    """Read dev.yaml beside the stack; raises `InvalidStackFile` for a port that is none."""
    path = stack.root / "dev.yaml"
    services = _mapping(_load(path), "services")
    port = _mapping(services, "memory").get("port")
    if port is not None and (type(port) is not int or port not in PORTS):
        raise InvalidStackFile(
            f"{path}: services.memory.port: expected a whole number from 1 to 65535, got {port!r}"
        )
    local = _mapping(services, "mongodb").get("local", True)
    return DevSettings(memory_port=port, local_mongodb=local is not False)


def _mapping(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _load(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidStackFile(f"Cannot read {path}: {reason}") from error
    return document if isinstance(document, dict) else {}
