"""Reading labelled conversations, and telling where a label is wrong.

`python -m evaluation.extraction.cases PATH` lists what is wrong with a file or a directory.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evaluation.errors import InvalidCases
from evaluation.extraction.labels import ROLES, Case
from evaluation.extraction.places import Located, Place, Steps, Unreadable, located
from memory_server.project_config.explain import did_you_mean

CASES: Final = Path(__file__).parent / "cases"
"""The project's own."""
HALVES: Final = ("worked", "held")
OWN: Final = "own"
"""The half of cases that lie in neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A case, where it stands, and which half it is of."""

    case: Case
    half: str
    file: Path


_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "": ("id", "language", "about", "sessions", "expected", "also", "absent", "as_of"),
    "sessions": ("date", "turns"),
    "turns": (*ROLES, "name", "date"),
    "expected": ("type", "says", "not", "subject", "when", "actions", "was", "ended", "single",
                 "negative"),
    "absent": ("says", "type"),
    "as_of": ("at", "says", "not"),
    "when": ("from", "to"),
}  # fmt: skip


def read_cases(path: Path) -> Sequence[Labelled]:
    """Read the cases of a file, or of all `.yaml` files below a directory, by name.

    Raises `InvalidCases`; `details["problems"]` has every fault, each as
    `file:line:column: case ID: key: what is wrong, and the fix`.
    """
    cases, problems = _read(path)
    if not cases and not problems:
        problems = [f"{path}: there is no case in it: name a file, or a directory with .yaml files"]
    if problems:
        raise InvalidCases("\n".join(problems), problems=problems)
    return cases


def _read(path: Path) -> tuple[list[Labelled], list[str]]:
    files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    cases: list[Labelled] = []
    problems: list[str] = []
    known: dict[tuple[str, str], str] = {}
    for file in files:
        for labelled, place in _of_file(file, problems):
            first = known.setdefault((labelled.half, labelled.case.id), place)
            if first != place:
                problems.append(
                    f"{place}: case {labelled.case.id}: id: {first} has it already: "
                    "give each case of a half one of its own"
                )
            cases.append(labelled)
    return cases, problems


def _of_file(file: Path, problems: list[str]) -> Iterator[tuple[Labelled, str]]:
    """Yield the cases of a file with their places; what is wrong is added to the problems."""
    try:
        tree = located(file.read_bytes().decode())
    except OSError as error:
        problems.append(f"{file}: cannot be read: {error.strerror or type(error).__name__}")
        return
    except UnicodeDecodeError:
        problems.append(f"{file}: it is not UTF-8: save it so")
        return
    except Unreadable as error:
        problems.append(f"{file}:{error.place[0]}:{error.place[1]}: {error.message}")
        return
    if not isinstance(tree.value, list):
        problems.append(f"{file}:1:1: a file is a list of cases: begin each with `- id:`")
        return
    half = next((name for name in reversed(file.parts[:-1]) if name in HALVES), OWN)
    problems += [
        _problem(file, tree, steps, "stands twice: keep one", place)
        for steps, place in tree.repeated
    ]
    for at, value in enumerate(tree.value):
        try:
            case = Case.model_validate(value)
        except ValidationError as error:
            problems += dict.fromkeys(_problems(file, tree, at, error))
        else:
            line, column = tree.place((at,))
            yield Labelled(case=case, half=half, file=file), f"{file}:{line}:{column}"


def _problems(file: Path, tree: Located, at: int, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        if fault["type"] == "too_short" and fault["input"]:
            continue  # what is in it is wrong, and told for itself
        steps = _written(tree, (at, *fault["loc"]))
        yield _problem(file, tree, steps, _reason(steps, fault))


def _written(tree: Located, steps: Steps) -> Steps:
    """Return the way as it is in the file, without what pydantic adds for each kind of value."""
    kept: list[str | int] = []
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        if (*kept, step) in tree.places or (is_last and isinstance(step, str) and step in _NAMES):
            kept.append(step)
    return tuple(kept)


_NAMES: Final = frozenset(name for names in _FIELDS.values() for name in names)


def _problem(
    file: Path, tree: Located, steps: Steps, reason: str, place: Place | None = None
) -> str:
    line, column = place or tree.place(steps)
    case = tree.value[steps[0]] if steps else None
    name = case.get("id") if isinstance(case, dict) else None
    whose = f"case {name or steps[0]}" if steps else ""
    key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps[1:])
    said = (f"{file}:{line}:{column}", whose, key.removeprefix("."), reason)
    return ": ".join(part for part in said if part)


def _reason(steps: Steps, fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "missing":
        return "is missing: add it"
    if kind == "extra_forbidden":
        names = [step for step in steps[1:-1] if isinstance(step, str)]
        above = {"also": "expected"}.get(names[-1], names[-1]) if names else ""
        near = did_you_mean(steps[-1], _FIELDS.get(above, ()))
        return f"is no key of it{near or ': take it out'}"
    if kind == "literal_error":
        return f"{value!r} is none of {fault['ctx']['expected']}"
    if kind in _WANTED:
        return f"should be {_WANTED[kind]}"
    return fault["msg"].removeprefix("Value error, ")


_WANTED: Final[Mapping[str, str]] = {
    "string_type": "words, and is not: write it as text",
    "tuple_type": "a list: put it into [ ]",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "too_short": "not empty: name one, or take the key out",
    "string_too_short": "not empty: write the words",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_pattern_mismatch": "lower case words with dashes, the language first: es-mudanza",
}


def main(arguments: Sequence[str]) -> int:
    """List what is wrong with the cases of each path, or how many there are."""
    status = 0
    for name in arguments or [str(CASES)]:
        cases, problems = _read(Path(name))
        for problem in problems:
            sys.stdout.write(f"{problem}\n")
        sys.stdout.write(f"{name}: {len(cases)} cases, {len(problems)} problems\n")
        status = 1 if problems else status
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
