"""Figures of others that a suite names, to stand beside one's own."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from evaluation.report.measured import MICRO


class Published(BaseModel):
    """Figures of one system elsewhere, with where they are from."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    """Short: it is the head of a column."""
    source: str
    """Where it is from and what it was measured with."""
    figures: Mapping[str, float]
    """By measure, and of a category behind a slash: `recall@10: 0.728`, `recall@10/1: 0.4`."""

    def value(self, measure: str, category: str = MICRO) -> float | None:
        """Return its figure of a measure, if it has one."""
        return self.figures.get(measure if category == MICRO else f"{measure}/{category}")

    def has_categories(self, measure: str) -> bool:
        """Whether it tells a measure by category."""
        return any(name.startswith(f"{measure}/") for name in self.figures)
