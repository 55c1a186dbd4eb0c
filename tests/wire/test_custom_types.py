"""Records of declared types, as the official SDK saves and retrieves them."""

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_engine_sdk_memory import Memory, MemoryBadRequestError, MemoryNotSupportedError

from memory_server.bootstrap import join
from memory_server.providers.system import SystemClock
from tests.homes import Home
from tests.unit.memory_server.api.application import an_application
from tests.wire.conftest import serving


@pytest.fixture
def word() -> str:
    """A word no other test has: records of a caller without identity are all nobody's."""
    return f"pump{uuid.uuid4().hex}"


def contents(memory: Memory, query: str, **asked: Any) -> set[str]:
    """Return what is found and holds the word that is asked for."""
    found = memory.retrieve("ticket", query, **asked).results
    return {one.content for one in found if query in one.content}


def test_a_record_is_found_as_it_was_saved(root: Memory, word: str) -> None:
    context = {"free": [1, {"x": None}], "": ""}
    saved = root.save(
        "ticket", f"the {word} leaks", tags={"plant": "north"}, contextual_metadata=context
    )

    [found] = [one for one in root.retrieve("ticket", word).results if one.id == saved.id]

    assert (saved.type, saved.tags, saved.has_embedding) == ("ticket", {"plant": "north"}, True)
    assert (found.content, found.type, found.tags) == (f"the {word} leaks", "ticket", saved.tags)
    assert found.contextual_metadata == context


def test_nested_tags_find_dotted_ones(root: Memory, word: str) -> None:
    root.save("ticket", word, tags={"place.city": "Porto"})

    assert contents(root, word, tags={"place": {"city": "Porto"}}) == {word}
    assert contents(root, word, tags={"place": {"city": "Lisbon"}}) == set()


@pytest.mark.parametrize(
    ("stored", "asked", "is_found"),
    [(1, 1, True), (1, "1", False), (1, True, False), (True, True, True), ("a", "A", False)],
)
def test_a_tag_is_equal_in_value_and_kind(
    root: Memory, word: str, stored: Any, asked: Any, is_found: bool
) -> None:
    root.save("ticket", word, tags={"size": stored})

    assert contents(root, word, tags={"size": asked}) == ({word} if is_found else set())


def test_the_count_is_that_of_the_results(root: Memory, word: str) -> None:
    for number in range(3):
        root.save("ticket", f"{word} {number}")

    found = root.retrieve("ticket", word, top_k=2)

    assert (found.count, len(found.results)) == (2, 2)


def test_an_unknown_type_is_no_missing_feature(root: Memory) -> None:
    with pytest.raises(MemoryBadRequestError, match="unknown custom memory type 'nope'") as refused:
        root.save("nope", "content")

    assert refused.value.status == 404


def test_an_undeclared_tag_is_named_with_its_type(root: Memory) -> None:
    with pytest.raises(MemoryBadRequestError, match=r"'plants' .* type 'ticket'") as refused:
        root.save("ticket", "content", tags={"plants": 1})

    assert refused.value.status == 400


@pytest.mark.parametrize("top_k", [0, 101])
def test_a_number_of_results_out_of_bounds_is_refused(root: Memory, top_k: int) -> None:
    with pytest.raises(MemoryBadRequestError, match="top_k") as refused:
        root.retrieve("ticket", "q", top_k=top_k)

    assert refused.value.status == 422


def test_a_deployment_without_the_feature_says_so_in_the_words_the_sdk_knows(
    tmp_path: Path, home: Home
) -> None:
    clock = SystemClock()
    whole = an_application(tmp_path, clock)
    without = join(
        replace(whole.settings, custom_memory_types=False),
        store=home.store(clock),
        providers=whole.providers,
        clock=clock,
    )

    with serving(without) as served, Memory(base_url=served.url) as memory:
        with pytest.raises(MemoryNotSupportedError, match="custom_memory_types"):
            memory.save("ticket", "content")
        with pytest.raises(MemoryNotSupportedError, match="custom_memory_types"):
            memory.retrieve("ticket", "query")
