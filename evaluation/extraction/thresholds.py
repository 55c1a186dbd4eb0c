"""Figures that an extractor has to reach, as `precision=0.95` or `es.recall_single=0.6`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from evaluation.extraction.labels import TYPES, Language
from evaluation.extraction.scores import ALL, MADE_UP, MEASURES, Figure
from memory_server.errors import InvalidRequest
from memory_server.project_config.explain import did_you_mean, listed

_LANGUAGES: Sequence[str] = get_args(Language)


def check(wanted: Mapping[str, float]) -> None:
    """Raise `InvalidRequest` for a name that is no figure's."""
    for name in wanted:
        _parts(name)


def missed(figures: Sequence[Figure], wanted: Mapping[str, float]) -> Sequence[str]:
    """Return what is not reached in any half, in words; `made_up` is how many at the most.

    A name is a measure, with a type, a language or both before it and dots between.

    Raises what `check` raises.
    """
    return [line for name, value in wanted.items() for line in _missed(figures, name, value)]


def _missed(figures: Sequence[Figure], name: str, value: float) -> Iterator[str]:
    kind, language, measure = _parts(name)
    found = [
        one for one in figures if (one.type, one.language, one.measure) == (kind, language, measure)
    ]
    if not found and measure != MADE_UP:
        yield f"{name} was not measured: no case is labelled for it"
    for one in found:
        if measure == MADE_UP and one.hits > value:
            yield f"{name} is {one.hits} of {one.n} ({one.half}), and should be at most {value:g}"
        elif measure != MADE_UP and one.value < value:
            yield (
                f"{name} is {one.value:.4f} (n={one.n}, {one.half}), "
                f"and should be at least {value:g}"
            )


def _parts(name: str) -> tuple[str, str, str]:
    *narrowing, measure = name.split(".")
    kinds = [part for part in narrowing if part in TYPES]
    languages = [part for part in narrowing if part in _LANGUAGES]
    if measure not in MEASURES:
        near = did_you_mean(measure, MEASURES)
        raise InvalidRequest(f"{name}: {measure!r} is none of {listed(MEASURES)}{near}")
    if len(kinds) + len(languages) != len(narrowing) or len(kinds) > 1 or len(languages) > 1:
        raise InvalidRequest(
            f"{name}: before the measure stands a type ({listed(TYPES)}), a language "
            f"({listed(_LANGUAGES)}) or one of each, with dots between"
        )
    return (*(kinds or [ALL]), *(languages or [ALL]), measure)  # type: ignore[return-value]
