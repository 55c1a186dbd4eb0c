"""What `--type` may name: a built-in type, or one that the project declares, which servers know."""

import contextlib
from collections.abc import Iterator

from agentengine_cli.errors import CliError
from agentengine_cli.memory_text import HEADINGS
from memory_server.errors import InvalidRequest, UnknownCustomType

HELP = "semantic, episodic, taxonomic, procedural, block, or one of your own."
_REFUSED = "type:"
"""How a server begins what it says of a type's name."""
NOT_ENABLED = "custom_memory_types is not enabled"
"""What a server says that serves no types of one's own."""


class UnknownType(CliError):
    """No type of memory has that name."""


def is_own(name: str | None) -> bool:
    """Tell whether a name can only be one that the project declares."""
    return name is not None and name not in HEADINGS


@contextlib.contextmanager
def naming(name: str | None) -> Iterator[None]:
    """Say in the same words, whichever command asked, that the server knows no such type."""
    try:
        yield
    except (InvalidRequest, UnknownCustomType) as error:
        if not is_own(name) or not _is_about_the_type(error):
            raise
        raise UnknownType(
            f"--type: no type of memory is named {name!r}",
            hint=f"{', '.join(HEADINGS)}, or one that memory.custom_memory_types of the applied "
            "configuration declares",
        ) from error


def _is_about_the_type(error: InvalidRequest | UnknownCustomType) -> bool:
    told = str(error)
    return isinstance(error, UnknownCustomType) or told.startswith(_REFUSED) or NOT_ENABLED in told
