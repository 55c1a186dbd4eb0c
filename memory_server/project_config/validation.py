"""Everything that is wrong with a document, each once, in the order of the file."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_server.project_config.credentials import credential_kind, credentials_in, is_opaque
from memory_server.project_config.explain import Violation, did_you_mean, explain, listed
from memory_server.project_config.problem import Finding, Place, Problem, Steps, dotted, shown_name
from memory_server.project_config.rules import cross_findings, texts_of
from memory_server.project_config.schema import known_keys, violations
from memory_server.project_config.tree import Tree

MOST_IN_TEXT = 100
"""Credentials told outside of values; a file with more is no configuration."""
_SECRET_NAMES = (
    ("memory", "embedding", "api_key_secret"),
    ("memory", "extraction_llm", "api_key_secret"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a document came from; all empty when it did not come from a file."""

    file: str | None = None
    places: Mapping[Steps, Place] = field(default_factory=dict)
    key_places: Mapping[Steps, Place] = field(default_factory=dict)

    def locate(self, finding: Finding) -> Problem:
        """Turn a finding into a problem with file, line and column."""
        line, column = self._place(finding) or (None, None)
        path = dotted(finding.steps)
        message = finding.message
        return Problem(file=self.file, line=line, column=column, path=path, message=message)

    def _place(self, finding: Finding) -> Place | None:
        if finding.place:
            return finding.place
        steps = finding.steps
        if finding.at_key and steps in self.key_places:
            return self.key_places[steps]
        while steps and steps not in self.places:
            steps = steps[:-1]  # a missing key is reported where it is missed
        return self.places.get(steps)


def findings_in_file(tree: Tree, text: str) -> Iterator[Finding]:
    """Yield what is wrong with a document read from a file."""
    yield from _credentials((steps, held, place) for steps, place, held in tree.texts)
    told = {start for *_, held in tree.texts for *_, start in credentials_in(held)}
    yield from credentials_in_text(text, told)
    yield from tree.findings
    yield from _schema_findings(tree.value)
    if isinstance(tree.value, dict):
        yield from cross_findings(tree.value)


def findings_in_values(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong with a document that was never a file."""
    yield from _credentials((steps, held, None) for steps, held in texts_of(document))
    yield from _schema_findings(document)
    yield from cross_findings(document)


def credentials_in_text(text: str, told: Iterable[str] = ()) -> Iterator[Finding]:
    """Yield the credentials anywhere in a file, comments included, but those already told."""
    known = frozenset(told)
    found = (
        Finding((), _credential_message(kind), (number, offset + 1))
        for number, line in enumerate(text.split("\n"), 1)
        for offset, kind, start in credentials_in(line)
        if start not in known
    )
    yield from itertools.islice(found, MOST_IN_TEXT)


def in_order(findings: Iterable[Finding], source: Source) -> list[Problem]:
    """Locate the findings, keep the first of each place and path, and sort by place."""
    first: dict[tuple[object, ...], Problem] = {}
    for finding in findings:
        problem = source.locate(finding)
        first.setdefault((problem.line, problem.column, problem.path), problem)
    return sorted(first.values(), key=lambda problem: (problem.line or 0, problem.column or 0))


def _credentials(
    texts: Iterable[tuple[Steps, str, Place | None]],
) -> Iterator[Finding]:
    for steps, text, place in texts:
        kind = credential_kind(text)
        if kind is None and steps[:1] == ("memory",) and is_opaque(text):
            kind = "a key or token"
        # A value there is refused unless it is one of the allowed names, and told as such.
        if kind and steps not in _SECRET_NAMES:
            yield Finding(steps, _credential_message(kind), place)


def _credential_message(kind: str) -> str:
    return (
        f"looks like {kind}: secrets do not belong in this file; remove it, store it with "
        "`agentengine secret set NAME`, and treat it as leaked if the file was shared"
    )


def _schema_findings(document: object) -> Iterator[Finding]:
    for violation in sorted(violations(document), key=lambda each: each.keyword != "type"):
        if violation.keyword == "additionalProperties":
            yield from _unknown_keys(violation)
        elif violation.keyword == "required":
            yield _missing_key(violation)
        else:
            yield explain(violation)


def _unknown_keys(violation: Violation) -> Iterator[Finding]:
    allowed = violation.schema["properties"]
    for name in violation.value:
        if name not in allowed:
            message = f"unknown key{_where_instead(str(name), allowed)}"
            yield Finding((*violation.steps, str(name)), message, at_key=True)


def _where_instead(name: str, allowed: Mapping[str, Any]) -> str:
    elsewhere = [
        path
        for path in known_keys()
        if path.rpartition(".")[2] == name and path.startswith("memory.") and "[]" not in path
    ]
    if elsewhere:
        return f": it belongs at {' or '.join(elsewhere)}"
    return f"; allowed here: {listed(allowed)}{did_you_mean(name, allowed)}"


def _missing_key(violation: Violation) -> Finding:
    missing = next(name for name in violation.demand if name not in violation.value)
    steps = (*violation.steps, missing)
    if steps == ("memory",):
        return Finding(steps, _no_memory_key(violation.value))
    return Finding(steps, "is required here")


def _no_memory_key(document: Mapping[str, Any]) -> str:
    message = "there is no `memory:` key; add one (`memory: {}` takes every default)"
    alike = [name for name in document if did_you_mean(name, ["memory"])]
    if alike:
        message += f"; did you mean it by `{shown_name(alike[0])}`?"
    return message
