"""Whether scores tell a question that can be answered from one that cannot."""

from collections.abc import Sequence
from statistics import fmean


def score_gap(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """How much higher the best score is, in the mean, where there is an answer to be found."""
    return fmean(answerable) - fmean(unanswerable)


def separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """How often the best score of an answerable question is above that of an unanswerable one.

    0.5 is chance and 1 a threshold that is never wrong (the area under the ROC curve); unlike the
    gap it does not depend on the scale of the scores.
    """
    pairs = len(answerable) * len(unanswerable)
    above = sum(
        1.0 if there > absent else 0.5 if there == absent else 0.0
        for there in answerable
        for absent in unanswerable
    )
    return above / pairs
