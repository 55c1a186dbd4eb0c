"""Figures of others that a suite names, to stand beside one's own."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from evaluation.records import Manifest


class Published(BaseModel):
    """Figures of one system elsewhere, with where they are from."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    """Short: it is the head of a column."""
    source: str
    """Where it is from and what it was measured with."""
    figures: Mapping[str, float]
    """By measure, as a table of this report names it: `recall@10: 0.728`, `recall@10/1: 0.4`."""

    def value(self, measure: str) -> float | None:
        """Return its figure of a measure, if it has one."""
        return self.figures.get(measure)


def published_of(manifest: Manifest) -> Sequence[Published]:
    """Return what the suite of a run names."""
    return [Published.model_validate(each) for each in manifest.suite.get("published") or ()]
