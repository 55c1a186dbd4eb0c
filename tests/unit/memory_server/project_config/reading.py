"""Reading a document and looking at what was said about it."""

from pathlib import Path

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import Problem, ProjectConfig, from_bytes

FILE = Path("project-config.yaml")


def read(text: str) -> ProjectConfig:
    return from_bytes(text.encode(), path=FILE)


def problems_of(text: str | bytes) -> list[Problem]:
    data = text.encode() if isinstance(text, str) else text
    try:
        from_bytes(data, path=FILE)
    except InvalidProjectConfig as error:
        return list(error.details["problems"])
    return []


def told(text: str | bytes) -> str:
    return "\n".join(map(str, problems_of(text)))


def only(text: str | bytes) -> Problem:
    (problem,) = problems_of(text)
    return problem
