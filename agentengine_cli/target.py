"""Which project a command is about."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from agentengine_cli.control.files import StateDamaged, read_json
from agentengine_cli.errors import CliError, WrongUsage

LOCAL = "local"
"""The organization and project id of a local stack."""
CONTEXT_ID_PREFIX = "ctx_"
AGENT_NAME = "agent.yaml"


class ContextNotFound(CliError):
    """No saved context has that name."""


class IncompleteTarget(WrongUsage):
    """Some of the explicit ids are given, not all."""


class NoTarget(CliError):
    """Nothing says which project is meant."""


class Origin(StrEnum):
    """What decided."""

    CONTEXT = "--context"
    EXPLICIT = "explicit ids"
    PIN = "the directory pin"
    LOCAL_STACK = "local stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedContext:
    """A target under a name; contexts.json holds them, a directory pin refers to one by id."""

    id: str
    name: str
    base_url: str
    org_id: str
    project_id: str
    workspace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """The options as they were typed; blank counts as absent."""

    context: str | None = None
    base_url: str | None = None
    org_id: str | None = None
    project_id: str | None = None
    workspace_id: str | None = None

    def __str__(self) -> str:
        """Return the options as they are typed, each with a space before it."""
        given = {"--context": self.context, **self.explicit}
        return "".join(f" {name} {shlex.quote(value)}" for name, value in given.items() if value)

    @property
    def explicit(self) -> Mapping[str, str]:
        """The ids that are given, by option."""
        given = {
            "--base-url": self.base_url,
            "--org-id": self.org_id,
            "--project-id": self.project_id,
            "--workspace-id": self.workspace_id,
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The project, and how we know."""

    origin: Origin
    org_id: str
    project_id: str
    base_url: str | None
    """None: the local stack, which is not running."""
    workspace_id: str | None = None
    context: str | None = None

    def __str__(self) -> str:
        if self.origin is Origin.LOCAL_STACK:
            return f"the local stack, {self.base_url or 'not running'}"
        name = f" {self.context}" if self.context else ""
        return f"project {self.project_id} at {self.base_url}, by {self.origin}{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStack:
    """The stack the command was called in, if any."""

    url: str | None = None
    """None: it does not run."""

    @property
    def target(self) -> Target:
        """The stack as a target."""
        return Target(origin=Origin.LOCAL_STACK, org_id=LOCAL, project_id=LOCAL, base_url=self.url)


def resolve(
    options: TargetOptions,
    *,
    command: str,
    contexts: Sequence[SavedContext] = (),
    pinned: str | None = None,
    local: LocalStack | None = None,
    needs_workspace: bool = False,
) -> Target:
    """Return the target: `--context` or a complete set of ids, else the pin, else the local stack.

    `command` is what the user typed after `agentengine`; `pinned` is a context id. Raises
    `ContextNotFound`, `IncompleteTarget`, `WrongUsage` and `NoTarget`, each naming a full command
    that would work.
    """
    if options.context and options.explicit:
        raise WrongUsage(
            f"--context and {', '.join(options.explicit)} exclude each other",
            hint=f"agentengine {command} --context {options.context}",
        )
    if options.context:
        return _of(_named(options.context, contexts, command), Origin.CONTEXT)
    if options.explicit:
        return _explicit(options, command, needs_workspace=needs_workspace)
    if pinned is not None:
        return _of(_by_id(pinned, contexts, command), Origin.PIN)
    if local is not None:
        return local.target
    raise NoTarget(
        "No project is named, no context is pinned here, and there is no local stack",
        hint=f"agentengine dev up, then agentengine {command}; or {_complete(command)}",
    )


def is_local(target: Target, local: LocalStack) -> bool:
    """Tell whether the target is the stack the command was called in, named in full or not."""
    if target.origin is Origin.LOCAL_STACK:
        return True
    is_own = (target.org_id, target.project_id) == (LOCAL, LOCAL)
    return is_own and local.url is not None and (target.base_url or "").rstrip("/") == local.url


def _explicit(options: TargetOptions, command: str, *, needs_workspace: bool) -> Target:
    needed = ["--base-url", "--org-id", "--project-id"]
    needed += ["--workspace-id"] if needs_workspace else []
    missing = [name for name in needed if name not in options.explicit]
    if missing:
        raise IncompleteTarget(
            f"incomplete explicit target: {', '.join(missing)} missing beside "
            f"{', '.join(options.explicit)}",
            hint=_complete(command, options.explicit, needed),
        )
    return Target(
        origin=Origin.EXPLICIT,
        base_url=options.base_url,
        org_id=options.explicit["--org-id"],
        project_id=options.explicit["--project-id"],
        workspace_id=options.workspace_id,
    )


def _complete(
    command: str,
    given: Mapping[str, str] | None = None,
    needed: Sequence[str] = ("--base-url", "--org-id", "--project-id"),
) -> str:
    known = given or {}
    options = [f"{name} {known.get(name) or name[2:].upper().replace('-', '_')}" for name in needed]
    return " ".join(["agentengine", command, *options])


def _named(name: str, contexts: Sequence[SavedContext], command: str) -> SavedContext:
    for context in contexts:
        if context.name == name:
            return context
    known = ", ".join(context.name for context in contexts)
    hint = (
        f"Saved are: {known}"
        if known
        else f"None is saved: leave it out for the local stack, or {_complete(command)}"
    )
    if name.startswith(CONTEXT_ID_PREFIX):
        same = next((context.name for context in contexts if context.id == name), "NAME")
        hint = f"Use its name, not its id: agentengine {command} --context {same}"
    raise ContextNotFound(f'context "{name}" not found', hint=hint)


def _by_id(context_id: str, contexts: Sequence[SavedContext], command: str) -> SavedContext:
    for context in contexts:
        if context.id == context_id:
            return context
    raise ContextNotFound(
        f'this directory is pinned to context "{context_id}", which does not exist any more',
        hint=f"Name the project: {_complete(command)}",
    )


def _of(context: SavedContext, origin: Origin) -> Target:
    return Target(
        origin=origin,
        base_url=context.base_url,
        org_id=context.org_id,
        project_id=context.project_id,
        workspace_id=context.workspace_id,
        context=context.name,
    )


def saved_contexts(home: Path) -> Sequence[SavedContext]:
    """Read ~/.agentengine/contexts.json."""
    return contexts_in(home / ".agentengine" / "contexts.json")


def contexts_in(path: Path) -> Sequence[SavedContext]:
    """Read a file of contexts: `{"contexts": [{"id", "name", "base_url", ...}]}`.

    Raises `StateDamaged` for one that is something else.
    """
    document = read_json(path) or {}
    try:
        return [_saved(entry) for entry in document.get("contexts", [])]
    except (KeyError, TypeError, AttributeError) as error:
        raise StateDamaged(
            f"Cannot read {path}: it is not what `context create` writes",
            hint=f"Delete {path} and save the contexts again",
        ) from error


def _saved(entry: Mapping[str, Any]) -> SavedContext:
    return SavedContext(
        id=str(entry["id"]),
        name=str(entry["name"]),
        base_url=str(entry["base_url"]),
        org_id=str(entry["org_id"]),
        project_id=str(entry["project_id"]),
        workspace_id=entry.get("workspace_id"),
    )


def pinned_context(start: Path) -> str | None:
    """Return the id of the context the nearest agent directory is pinned to, if it is."""
    for place in (start, *start.parents):
        if (place / AGENT_NAME).is_file():
            document = read_json(place / ".agentengine" / "state.json") or {}
            pinned = document.get("context_id")
            return pinned if isinstance(pinned, str) else None
    return None
