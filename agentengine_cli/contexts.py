"""Saved contexts, and the one an agent's directory is pinned to."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import (
    PRIVATE_DIRECTORY,
    read_json,
    refusing_clearly,
    write_atomically,
    write_json,
)
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.home import UserDirectory
from agentengine_cli.target import (
    AGENT_NAME,
    CONTEXT_ID_PREFIX,
    ContextNotFound,
    SavedContext,
    contexts_in,
)

LONGEST_NAME = 128
_NAME = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?")
NO_AGENT = f"no {AGENT_NAME} found in current directory or any parent"


class ContextExists(CliError):
    """A context of that name is saved already, and a name is never bound to something else."""


class NoAgentDirectory(CliError):
    """The command binds an agent's directory, and was not called in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBook:
    """The saved contexts of a user."""

    directory: UserDirectory
    clock: Clock

    def all(self) -> Sequence[SavedContext]:
        """Return every context."""
        return contexts_in(self.directory.contexts)

    def get(self, name: str) -> SavedContext:
        """Return a context by its display name; raises `ContextNotFound`."""
        every = self.all()
        for context in every:
            if context.name == name:
                return context
        known = ", ".join(context.name for context in every)
        hint = f"Saved are: {known}" if known else "Save one: agentengine context create NAME"
        if same := next((context for context in every if context.id == name), None):
            hint = f"Use its name, not its id: {same.name}"
        raise ContextNotFound(f'context "{name}" not found', hint=hint)

    def create(
        self,
        name: str,
        *,
        base_url: str,
        org_id: str,
        project_id: str,
        workspace_id: str | None = None,
    ) -> SavedContext:
        """Save a context under a new name; raises `ContextExists`."""
        check_name(name)
        made = SavedContext(
            id=f"{CONTEXT_ID_PREFIX}{secrets.token_hex(8)}",
            name=name,
            base_url=base_url,
            org_id=org_id,
            project_id=project_id,
            workspace_id=workspace_id,
        )
        with self.directory.editing(self.directory.contexts, self.clock):
            every = self.all()
            if taken := next((context for context in every if context.name == name), None):
                raise ContextExists(
                    f'context "{name}" exists already: project {taken.project_id} at '
                    f"{taken.base_url}",
                    hint=f'Use another name, or first: agentengine context delete "{name}"',
                )
            self._write([*every, made])
        return made

    def delete(self, name: str) -> SavedContext:
        """Forget a context; raises `ContextNotFound`."""
        with self.directory.editing(self.directory.contexts, self.clock):
            gone = self.get(name)
            self._write([context for context in self.all() if context.id != gone.id])
        return gone

    def _write(self, contexts: Sequence[SavedContext]) -> None:
        entries = [_entry(context) for context in contexts]
        write_json(self.directory.contexts, {"contexts": entries})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDirectory:
    """An agent's directory, which can be pinned to a context."""

    path: Path

    @property
    def pinned(self) -> str | None:
        """The id of the context it is pinned to."""
        pinned = self._document().get("context_id")
        return pinned if isinstance(pinned, str) else None

    def pin(self, context: SavedContext) -> None:
        """Pin it to a context; what else is kept there stays."""
        directory = self._state.parent
        with refusing_clearly(self._state):
            directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        ignored = directory / ".gitignore"
        if not ignored.exists():
            write_atomically(ignored, "*\n")
        write_json(self._state, {**self._document(), "context_id": context.id})

    def _document(self) -> Mapping[str, object]:
        return read_json(self._state) or {}

    @property
    def _state(self) -> Path:
        return self.path / ".agentengine" / "state.json"


def agent_directory(start: Path) -> AgentDirectory:
    """Return the nearest agent's directory; raises `NoAgentDirectory`."""
    for place in (start, *start.parents):
        if (place / AGENT_NAME).is_file():
            return AgentDirectory(path=place)
    raise NoAgentDirectory(
        NO_AGENT,
        hint="Work in an agent's directory; a project of memory only needs no pin: name the "
        "context with --context NAME",
    )


def check_name(name: str) -> None:
    """Raise `WrongUsage` unless a context may have that name."""
    if name.startswith(CONTEXT_ID_PREFIX):
        raise WrongUsage(f"a context's name must not begin with {CONTEXT_ID_PREFIX}")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise WrongUsage(
            f"a context's name is one line of at most {LONGEST_NAME} characters, with no space at "
            "its ends"
        )


def _entry(context: SavedContext) -> dict[str, str]:
    fields = {
        "id": context.id,
        "name": context.name,
        "base_url": context.base_url,
        "org_id": context.org_id,
        "project_id": context.project_id,
        "workspace_id": context.workspace_id,
    }
    return {name: value for name, value in fields.items() if value is not None}
