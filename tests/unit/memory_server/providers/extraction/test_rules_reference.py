"""What the reference says of the rules is what they do."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_server.domain.secrets import without_secrets
from memory_server.providers.extraction.rules import semantic
from tests.conversations import said

REFERENCE = Path(__file__).parents[5] / "docs" / "reference" / "rules.md"
_ROW = re.compile(r"^\| (?P<said>[^|]+?) \|(?: (?P<noted>[^|]+?) \|)?$")


def rows(column: str | None) -> Sequence[tuple[str, str]]:
    """Return the rows of the tables whose second column has this name; None: of one column."""
    found: list[tuple[str, str]] = []
    heading: str | None = ""
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        row = _ROW.match(line)
        if row is None or row["said"].startswith("---"):
            continue
        if row["said"] == "said":
            heading = row["noted"]
        elif heading == column:
            found.append((row["said"], row["noted"] or ""))
    return found


@pytest.mark.parametrize(("spoken", "noted"), rows("noted"))
def test_example_is_noted_as_the_reference_says(spoken: str, noted: str) -> None:
    claims = [fact.claim for fact in semantic.extract(said(spoken)) if fact.claim]

    assert "; ".join(f"{claim.attribute}: {claim.value}" for claim in claims) == noted


@pytest.mark.parametrize(("spoken", "ended"), rows("ends"))
def test_example_takes_back_what_the_reference_says(spoken: str, ended: str) -> None:
    facts = semantic.extract(said(spoken))

    assert all(fact.retracts for fact in facts)
    assert "; ".join(fact.claim.attribute for fact in facts if fact.claim) == ended


@pytest.mark.parametrize("spoken", [spoken for spoken, _ in rows(None)])
def test_example_is_left_alone_as_the_reference_says(spoken: str) -> None:
    assert semantic.extract(said(spoken)) == []


@pytest.mark.parametrize(("spoken", "shown"), rows("read"))
def test_secret_is_taken_out_of_the_example_as_the_reference_says(spoken: str, shown: str) -> None:
    turns, _ = without_secrets(said(spoken).turns)

    assert [turn.content for turn in turns] == [shown]


def test_reference_has_examples_of_both_languages() -> None:
    assert len(rows("noted")) >= 30
    assert len(rows("ends")) >= 5
    assert len(rows("read")) >= 5
    assert len(rows(None)) >= 15
