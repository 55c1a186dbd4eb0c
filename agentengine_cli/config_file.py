"""project-config.yaml as the commands that store it read it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentengine_cli.errors import CliError
from agentengine_cli.output import Output
from memory_server import project_config
from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import ProjectConfig


class ConfigRefused(CliError):
    """The configuration is not valid, or not compatible with the stored one."""


def load(path: Path) -> ProjectConfig:
    """Return the valid configuration of a file; raises `ConfigRefused` with every problem."""
    try:
        return project_config.load(path)
    except InvalidProjectConfig as error:
        raise ConfigRefused(
            f"{path} is not valid; nothing was stored",
            hint="Correct the file and run this command again",
            problems=problems_of(error) or [str(error)],
        ) from error


def compared(
    stored: Mapping[str, Any] | None,
    loaded: ProjectConfig,
    *,
    fixed: Mapping[str, Any] | None = None,
) -> Sequence[str]:
    """Return what the file changes of the stored `memory:` mapping, one line a key.

    Raises `ConfigRefused` if it changes what cannot be changed any more of `fixed`, the mapping
    that counts for that; without one it is the stored one.
    """
    before = stored if fixed is None else fixed
    problems = (
        project_config.check_against_stored(before, loaded.memory, source=loaded) if before else []
    )
    if problems:
        raise ConfigRefused(
            f"{loaded.path} changes what cannot be changed after it was stored; nothing was stored",
            problems=[str(problem) for problem in problems],
        )
    return project_config.differences(stored, loaded.memory)


def explain(output: Output, loaded: ProjectConfig, differences: Sequence[str]) -> None:
    """Say what the configuration means and what it changes, before asking."""
    for line in differences or ["no difference to the stored configuration"]:
        output.note(f"  {line}")
    output.note(project_config.effective_types_line(loaded.config))
    for warning in warnings_of(loaded):
        output.warning(warning)


def explained(loaded: ProjectConfig) -> Sequence[str]:
    """Return what `explain` says of any file like this one."""
    return [project_config.effective_types_line(loaded.config), *warnings_of(loaded)]


def warnings_of(loaded: ProjectConfig) -> list[str]:
    """Return what is allowed but probably not meant."""
    return [str(warning) for warning in loaded.warnings]


def problems_of(error: InvalidProjectConfig) -> list[str]:
    """Return every problem as a line."""
    return [str(problem) for problem in error.details.get("problems", ())]
