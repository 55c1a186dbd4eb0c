"""What a store holds, as it is found by whoever does not serve it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_server.domain.spaces import SpacesInUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """The directory of the project that made a database, and the machine it was on."""

    directory: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How much there is, of all projects."""

    turns: int = 0
    memories: int = 0
    """Live ones, in their last version."""
    spaces: SpacesInUse = field(default_factory=SpacesInUse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A store that can be served: which one it is, and what is in it."""

    kind: str
    location: str
    database: str | None = None
    maker: Maker | None = None
    """None: nobody noted it."""
    holdings: Holdings | None = None
    """None: it was not counted, or is of a schema that this program does not know."""

    def document(self) -> Mapping[str, object]:
        """Return it as JSON; spaces by their names."""
        held = self.holdings
        return {
            "kind": self.kind,
            "location": self.location,
            "database": self.database,
            "maker": self.maker and {"directory": self.maker.directory, "host": self.maker.host},
            "holdings": held
            and {
                "turns": held.turns,
                "memories": held.memories,
                "vectors": held.spaces.held,
                "active": held.spaces.active and held.spaces.active.space,
                "target": held.spaces.target and held.spaces.target.space,
            },
        }
