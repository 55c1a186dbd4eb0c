"""The commented project-config.yaml a new project starts with."""

from pathlib import Path

TEMPLATE_FILE = Path(__file__).with_name("scaffold.yaml")


def scaffold(name: str) -> str:
    """Return the text of a project-config.yaml for a project of that name.

    Raises `ValueError` if the name would not stay within the comment it is written into.
    """
    if not name.isprintable():
        raise ValueError("a project's name cannot hold line breaks or control characters")
    return TEMPLATE_FILE.read_text(encoding="utf-8").replace("@NAME@", name)
