"""Rules of structure that are executed rather than remembered."""

import re
from pathlib import Path

import pytest

from memory_server import errors

ROOT = Path(__file__).parents[2]
PACKAGES = ("agentengine_cli", "evaluation", "memory_server", "benchmarks", "demo", "tests")
LONGEST_MODULE = 400
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_not_too_long_to_be_read(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def tree(cls: type[errors.MemoryServerError]) -> list[type[errors.MemoryServerError]]:
    return [cls, *(below for child in cls.__subclasses__() for below in tree(child))]


ERRORS = [
    cls for cls in tree(errors.MemoryServerError) if cls.__module__.startswith(errors.__name__)
]


def test_errors_are_drawn_as_the_tree_they_are() -> None:
    above: dict[int, str] = {}
    drawn = []
    for indent, name in re.findall(r"^( *)[*+.-] (\w+)$", errors.__doc__ or "", re.MULTILINE):
        drawn.append((above.get(len(indent) - 2, "Exception"), name))
        above[len(indent)] = name

    assert sorted(drawn) == sorted((cls.__base__.__name__, cls.__name__) for cls in ERRORS)  # type: ignore[union-attr]


def test_every_error_is_imported_from_one_place() -> None:
    assert sorted(errors.__all__) == sorted(cls.__name__ for cls in ERRORS)


def test_every_error_has_a_code_of_its_own() -> None:
    assert len({cls.code for cls in ERRORS}) == len(ERRORS)


def test_files_of_the_glossary_exist() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", glossary):
        places = (ROOT / "memory_server" / name, ROOT / name)
        assert any(place.exists() for place in places), name


def test_no_document_speaks_of_how_it_was_made() -> None:
    words = re.compile(r"\b(?:[Ii]ssue #?\d+|TODO|FIXME)\b")
    ours = [path for path in MODULES if path != Path(__file__)]
    for path in [*ours, *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        assert not words.search(path.read_text(encoding="utf-8")), path
