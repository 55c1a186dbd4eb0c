"""Rules of structure that are executed rather than remembered."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from memory_server import agent_errors, deployment_errors, errors

ROOT = Path(__file__).parents[2]
PACKAGES = ("agentengine_cli", "memory_server", "benchmarks", "demo")
LONGEST_MODULE = 400
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_not_too_long_to_be_read(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def tree(cls: type[errors.MemoryServerError]) -> list[type[errors.MemoryServerError]]:
    return [cls, *(below for child in cls.__subclasses__() for below in tree(child))]


@pytest.mark.parametrize("module", [errors, agent_errors, deployment_errors])
def test_every_error_is_drawn_in_the_tree_of_its_module(module: ModuleType) -> None:
    drawn = re.findall(r"^\s*[*+.-] (\w+)$", module.__doc__ or "", re.MULTILINE)
    every = tree(errors.MemoryServerError)
    defined = {cls.__name__ for cls in every if cls.__module__ == module.__name__}
    roots = {cls.__name__ for cls in every if cls.__module__ == errors.__name__}

    assert len(drawn) == len(set(drawn))
    assert defined <= set(drawn) <= defined | roots


def test_every_error_has_a_code_of_its_own() -> None:
    defined = [cls for cls in tree(errors.MemoryServerError) if "tests" not in cls.__module__]

    assert len({cls.code for cls in defined}) == len(defined)


def test_files_of_the_glossary_exist() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", glossary):
        places = (ROOT / "memory_server" / name, ROOT / name)
        assert any(place.exists() for place in places), name


def test_no_document_speaks_of_how_it_was_made() -> None:
    words = re.compile(r"\b(?:[Ii]ssue #?\d+|TODO|FIXME)\b")
    for path in [*MODULES, *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        assert not words.search(path.read_text(encoding="utf-8")), path
