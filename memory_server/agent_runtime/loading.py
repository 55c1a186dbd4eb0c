"""Finding the callable that `entrypoint: package.module:callable` names."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any


class Unloadable(Exception):
    """The entrypoint names nothing that can be called."""


def load(entrypoint: str) -> tuple[Callable[..., Any], int]:
    """Return the callable, and whether it takes the message alone (1) or the invocation too (2).

    Whatever the module raises while it is imported passes through.
    """
    module_name, _, name = entrypoint.partition(":")
    module = importlib.import_module(module_name)
    try:
        function = getattr(module, name)
    except AttributeError:
        raise Unloadable(f"the module {module_name} has no {name}") from None
    if not callable(function):
        raise Unloadable(f"{entrypoint} is a {type(function).__name__}, not a callable")
    return function, _arity(function, entrypoint)


def _arity(function: Callable[..., Any], entrypoint: str) -> int:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a callable that does not tell is taken at its word
        return 2
    for count in (2, 1):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    raise Unloadable(
        f"{entrypoint}{signature} cannot be called with (message, invocation), nor with (message)"
    )
