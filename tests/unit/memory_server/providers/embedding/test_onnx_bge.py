from itertools import pairwise

import pytest

from memory_server.providers.embedding.onnx_bge import MAX_WINDOWS, OVERLAP, WINDOW, windows


@pytest.mark.parametrize("length", [1, WINDOW - 1, WINDOW])
def test_a_text_that_fits_is_one_window(length: int) -> None:
    ids = list(range(length))

    assert windows(ids) == [ids]


@pytest.mark.parametrize("length", [WINDOW + 1, 2 * WINDOW - OVERLAP, 2 * WINDOW, 5_000])
def test_the_windows_of_a_longer_text_are_full_and_cover_it(length: int) -> None:
    ids = list(range(length))

    made = windows(ids)

    assert {len(window) for window in made} == {WINDOW}
    assert sorted({id_ for window in made for id_ in window}) == ids
    assert all(after[0] <= before[-1] + 1 - OVERLAP for before, after in pairwise(made))


def test_a_text_without_end_is_read_up_to_a_limit() -> None:
    assert len(windows(range(1_000_000))) == MAX_WINDOWS
