import numpy as np
import pytest

from memory_server.domain.embedding import Vector
from memory_server.providers.embedding.vectors import embedded, mean_direction, readable, unit


def vector(*numbers: float) -> Vector:
    return np.array(numbers, dtype=np.float32)


def test_numbers_become_a_unit_vector_in_single_precision() -> None:
    made = unit([3.0, 4.0])

    assert made is not None
    assert made.dtype == np.float32
    assert made.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_numbers_without_a_direction_become_nothing(numbers: list[float]) -> None:
    assert unit(numbers) is None


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_small_and_very_large_numbers_keep_their_direction(scale: float) -> None:
    made = unit([3.0 * scale, 4.0 * scale])

    assert made is not None
    assert made.tolist() == pytest.approx([0.6, 0.8])


def test_the_mean_of_pieces_is_a_unit_vector_between_them() -> None:
    mean = mean_direction([vector(1, 0), vector(0, 1)])

    assert mean is not None
    assert mean.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])


def test_pieces_that_cancel_out_have_no_mean() -> None:
    assert mean_direction([vector(1, 0), vector(-1, 0)]) is None


def test_one_piece_is_left_as_it_is() -> None:
    only = vector(0.6, 0.8)

    assert mean_direction([only]) is only


@pytest.mark.parametrize(
    ("text", "written"), [("plain", "plain"), ("caf\u00e9 \ud83c", "caf\u00e9 ?")]
)
def test_halves_of_surrogate_pairs_are_replaced(text: str, written: str) -> None:
    assert readable(text) == written


def test_outcomes_are_told_apart_by_their_reasons() -> None:
    only = vector(1)

    answer = embedded([only, "blank"])

    assert (list(answer.vectors), list(answer.reasons)) == ([only, None], [None, "blank"])
