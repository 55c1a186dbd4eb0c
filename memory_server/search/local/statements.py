"""SQL kept in files: each statement under a name, with one line that says what it is for."""

import re
from collections.abc import Mapping
from importlib import resources

_HEAD = re.compile(r"^-- name: (\w+)\n-- (?P<purpose>\S.*)\n", re.MULTILINE)

HOLE = "/* conditions */ 1"
"""Where a statement takes a predicate; without one it is true, so that the file is valid SQL."""


def load(package: str, filename: str) -> Mapping[str, str]:
    """Return the statements of a package's `.sql` file by name.

    A statement begins with `-- name: <name>` and a comment line with its purpose.
    """
    text = resources.files(package).joinpath(filename).read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        head[1]: text[head.end() : end].strip().rstrip(";")
        for head, end in zip(heads, ends, strict=True)
    }
