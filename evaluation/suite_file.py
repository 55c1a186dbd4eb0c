"""Reading a suite: a file's values, options over them, and every fault with its place."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evaluation.errors import InvalidSuite
from evaluation.suite import DataChoice, ModelChoice, Suite
from memory_server.project_config.explain import did_you_mean, kind_of, listed
from memory_server.project_config.problem import Finding, Problem
from memory_server.project_config.tree import Tree, grow
from memory_server.project_config.validation import Source, credentials_in_text, in_order
from memory_server.project_config.yaml_text import Unreadable, compose, decode

_PATHS = (("data", "path"), ("data", "audit"), ("baselines",))
"""Paths of a suite, which are meant from where its file lies."""
_WANTED: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "path_type": "a path",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping of keys to values",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
}
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "": tuple(Suite.model_fields),
    "data": tuple(DataChoice.model_fields),
    "model": tuple(ModelChoice.model_fields),
    "judge_model": tuple(ModelChoice.model_fields),
}

OPTIONS = Source(file="the options")


def read_suite(path: Path | None, options: Mapping[str, Any]) -> Suite:
    """Return the suite of a file with the options laid over it; a file may be missing.

    Raises `InvalidSuite`; `details["problems"]` has every fault, each as
    `file:line:column: key: what is wrong, and the fix`.
    """
    if path is None:
        return _suite({}, options, OPTIONS)
    try:
        text = decode(path.read_bytes())
    except OSError as error:
        raise _refused([Problem(file=str(path), path="", message=_unread(error))]) from None
    except Unreadable as error:
        raise _refused(in_order([Finding((), error.message, error.place)], _named(path))) from None
    tree = _tree(path, text)
    source = Source(file=str(path), places=tree.places, key_places=tree.key_places)
    secrets = in_order([*tree.findings, *credentials_in_text(text)], source)
    if secrets:
        raise _refused(secrets)
    if not isinstance(tree.value, dict):
        message = f"expected a mapping of keys to values, found {kind_of(tree.value)}"
        raise _refused([Problem(file=str(path), line=1, column=1, path="", message=message)])
    return _suite(_from(path.parent, tree.value), options, source)


def _tree(path: Path, text: str) -> Tree:
    try:
        return grow(compose(text))
    except Unreadable as error:
        raise _refused(in_order([Finding((), error.message, error.place)], _named(path))) from None


def _suite(document: Mapping[str, Any], options: Mapping[str, Any], source: Source) -> Suite:
    whole = _laid_over(document, options)
    if "data" not in whole:
        whole["data"] = {}
    try:
        return Suite.model_validate(whole)
    except ValidationError as error:
        findings = list(_findings(error))
        raise _refused(in_order(findings, source)) from None


def _laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both in one, `over` where both say something; None says nothing."""
    both = dict(under)
    for name, value in over.items():
        below = both.get(name)
        if isinstance(value, Mapping) and (below is None or isinstance(below, Mapping)):
            if merged := _laid_over(below or {}, value):
                both[name] = merged
        elif value is not None:
            both[name] = value
    return both


def _from(directory: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its paths as seen from here."""
    moved: dict[str, Any] = {**document}
    for first, *rest in _PATHS:
        value = moved.get(first)
        if rest and isinstance(value, dict):
            moved[first] = value | {
                name: _there(directory, value[name]) for name in rest if name in value
            }
        elif not rest and isinstance(value, list):
            moved[first] = [_there(directory, one) for one in value]
        elif not rest and value is not None:
            moved[first] = _there(directory, value)
    return moved


def _there(directory: Path, path: object) -> object:
    return str(directory / path) if isinstance(path, str) else path


def _findings(error: ValidationError) -> Iterator[Finding]:
    for fault in error.errors(include_url=False):
        steps = tuple(fault["loc"])
        match fault["type"]:
            case "missing":
                yield Finding(steps, f"is missing: {_how_to_say(steps)}")
            case "extra_forbidden":
                above = ".".join(map(str, steps[:-1]))
                near = did_you_mean(steps[-1], _FIELDS.get(above, ()))
                yield Finding(steps, f"is no key of a suite{near or ': take it out'}", at_key=True)
            case "value_error":
                yield _of_the_whole(steps, fault)
            case _:
                yield Finding(steps, _reason(fault))


def _how_to_say(steps: tuple[int | str, ...]) -> str:
    option = {"dataset": "--dataset NAME", "path": "--data PATH"}.get(str(steps[-1]))
    key = f"write {'.'.join(map(str, steps))} in the suite"
    return f"{key}, or give {option}" if option else key


def _of_the_whole(steps: tuple[int | str, ...], fault: ErrorDetails) -> Finding:
    """Return what is wrong between several keys at the one that it names first."""
    message = fault["msg"].removeprefix("Value error, ")
    name, _, said = message.partition(": ")
    if not steps and name in Suite.model_fields:
        return Finding((name,), said)
    return Finding(steps, message)


def _reason(fault: ErrorDetails) -> str:
    value, kind, about = fault["input"], fault["type"], fault.get("ctx", {})
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, found {kind_of(value)}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"is {value} and should be {words} {about[name]}"
    if kind == "literal_error":
        allowed = [name.strip().strip("'") for name in _choices(about["expected"])]
        return f"{value!r} is none of {listed(allowed)}{did_you_mean(value, allowed)}"
    if kind == "too_short":
        return "is empty: name at least one, or take the key out"
    return f"{fault['msg']}, found {kind_of(value)}"


def _choices(expected: str) -> list[str]:
    return expected.replace(" or ", ", ").split(", ")


def _unread(error: OSError) -> str:
    return f"cannot be read: {error.strerror or type(error).__name__}"


def _named(path: Path) -> Source:
    return Source(file=str(path))


def _refused(problems: list[Problem]) -> InvalidSuite:
    lines = [str(problem) for problem in problems]
    return InvalidSuite("\n".join(lines), problems=lines)
