"""From the store of the server that runs, or ran last, to that of the one to be started."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentengine_cli.control import plan
from agentengine_cli.control.environment import OF_THE_STORE
from agentengine_cli.control.status import State, Status
from agentengine_cli.control.stores import (
    DatabaseAway,
    DatabaseRefused,
    Holdings,
    StoreFound,
    StoreLook,
    named,
)

URI, BASE = OF_THE_STORE
DEFAULT_BASE = "mdb_memory"
"""Of a server that is not told another one."""
LONGEST_NAME = 40
BACK = {
    ("sqlite", "mongodb"): f"take {URI} away again",
    ("mongodb", "sqlite"): f"set {URI} again",
    ("mongodb", "mongodb"): f"name the former {URI} or {BASE} again",
}
"""How the former store is served again, by the kinds of the former and the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreChange:
    """What is to be known of the two before one server is stopped and another started."""

    look: StoreLook
    before: Status
    given: Mapping[str, str] = field(repr=False)
    """The environment of the server to be started."""
    project: Path
    """Its directory."""

    def admit(self, *, claims: bool = True) -> Sequence[str]:
        """Return what is to be said of the store that the new server would serve.

        If it `claims`, notes the project as the maker of a database that is new, unless its name
        was chosen. Raises `DatabaseRefused`, and `DatabaseAway` rather than give up a server that
        works.
        """
        try:
            found = self._found(claims=claims)
        except DatabaseAway as error:
            if self.before.state is not State.READY:  # the new one waits, and says so
                return ()
            raise DatabaseAway(
                f"Nothing was stopped: the deployment that {URI} names does not answer: {error}",
                hint="Mend it, then the same again. To have a server wait for it: "
                "agentengine dev stop, then agentengine dev up",
            ) from error
        if found is None:
            return ()
        return [*self._shared(found), *self._left_behind(found)]

    def vectors(self, space: str) -> plan.Vectors:
        """Return the vectors in the store of the new server; `space` is the delivered one."""
        if self.before.body and self._is_served:
            return plan.vectors_told(self.before.body, space)
        try:
            held = self.look(self.given, counts=True).holdings
        except DatabaseAway:
            held = None
        if held is None:
            return plan.Vectors(space=space)
        return plan.Vectors(space=held.active or space, target=held.target, count=held.vectors)

    @property
    def _is_served(self) -> bool:
        """Whether the running server has the store that the new one is to have."""
        record = self.before.record
        running = record.process.environment() if record else None
        if running is None:  # it cannot be read here
            return True
        return all(running.get(name) == self.given.get(name) for name in OF_THE_STORE)

    @property
    def _former(self) -> Mapping[str, str | None]:
        """The store of the server before, as it told of it; empty: not known."""
        record = self.before.record
        told = self.before.body.get("store") or (record.store if record else None)
        return told if isinstance(told, dict) else {}

    def _found(self, *, claims: bool) -> StoreFound | None:
        """Look at the new store; None: it is the file that it was before."""
        if URI in self.given:
            claim = str(self.project) if claims and BASE not in self.given else None
            return self.look(self.given, claim=claim)
        if self._former.get("kind") == "mongodb":
            return self.look(self.given)
        return None

    def _shared(self, found: StoreFound) -> Sequence[str]:
        """Say so if another project made the database, and nobody chose to share it."""
        if BASE in self.given or found.made_in in {None, str(self.project)}:
            return ()
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.project.name).strip("-") or "project"
        return [
            f"the database of this project, {found.name}, was made by the project in "
            f"{found.made_in} on {found.made_on}: the two remember the same. For a database of "
            f"its own, write {BASE}={DEFAULT_BASE}_{name[:LONGEST_NAME]} into .env, then "
            f"agentengine memory apply; if they are to share it, write {BASE}={DEFAULT_BASE}, "
            "and this is not said again"
        ]

    def _left_behind(self, found: StoreFound) -> Sequence[str]:
        """Say what stays in the former store, if that is another one and not empty."""
        former = self._former
        place = (former.get("kind"), former.get("database"))
        is_moved = former.get("location") != found.location and place[0] == "mongodb"
        if place[0] is None or (place == (found.kind, found.database) and not is_moved):
            return ()
        held = self._held_before(str(place[0]))
        if held is not None and not held.turns + held.memories:
            return ()
        what = "What it holds stays" if held is None else f"{_counted(held)} stay"
        name = named(str(place[0]), str(former.get("location")), place[1])
        back = BACK.get((str(place[0]), found.kind), "serve it again")
        return [
            f"the store is another one than before: {found.name}. {what} in {name}. To move them: "
            f"{back}, agentengine dev up, agentengine memory export --output memory.jsonl; then "
            "with the present setting agentengine dev up, agentengine memory import memory.jsonl"
        ]

    def _held_before(self, kind: str) -> Holdings | None:
        """Count what is in the former store; None: it cannot be known."""
        if kind == "sqlite":
            environ = {name: value for name, value in self.given.items() if name != URI}
        else:
            record = self.before.record
            running = record.process.environment() if record else None
            if running is None or URI not in running:
                return None
            environ = dict(running)
        try:
            return self.look(environ, counts=True).holdings
        except (DatabaseAway, DatabaseRefused):
            return None


def _counted(held: Holdings) -> str:
    turns = f"{held.turns} turn{'s' * (held.turns != 1)}"
    return f"{turns} and {held.memories} memor{'y' if held.memories == 1 else 'ies'}"
