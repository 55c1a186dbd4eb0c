"""Finding the items in what a model wrote."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.providers.extraction.answers import parse

ITEMS = [{"a": 1}, {"b": "x } ] {"}]
AGREED = json.dumps({"memories": ITEMS})
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "text",
    [
        AGREED,
        f"```json\n{AGREED}\n```",
        f"Noted {{travel}}: {AGREED}",
        f"{AGREED} and [that] was it {{}}",
        f'Form: {{"memories": []}}. Answer: {AGREED}',
        json.dumps(ITEMS),
        "\n".join(json.dumps(item) for item in ITEMS),
        json.dumps(AGREED),
    ],
)
def test_items_are_found_however_they_are_wrapped(text: str) -> None:
    answer = parse(text, key="memories")

    assert answer is not None
    assert (list(answer.items), answer.remainder) == (ITEMS, "")


@pytest.mark.parametrize("cut", range(len('{"memories": [{"a": 1}, '), len(AGREED) - 2))
def test_complete_items_survive_wherever_the_answer_breaks_off(cut: int) -> None:
    answer = parse(AGREED[:cut], key="memories")

    assert answer is not None
    assert list(answer.items)[:1] == ITEMS[:1]
    assert answer.remainder


def test_empty_list_is_an_answer() -> None:
    answer = parse('{"memories": []}', key="memories")

    assert answer is not None
    assert list(answer.items) == []


@pytest.mark.parametrize("text", ["", "none", "{", "[]", "{}", "[1, 2]", "[" * 100_000, '"x"'])
def test_text_without_items_is_no_answer(text: str) -> None:
    assert parse(text, key="memories") is None


@settings(max_examples=40, deadline=None)
@given(items=st.lists(st.dictionaries(st.text(), JSON_VALUES, min_size=1), min_size=1))
def test_any_agreed_answer_is_read_back_unchanged(items: list[dict[str, object]]) -> None:
    answer = parse("So: " + json.dumps({"memories": items}), key="memories")

    assert answer is not None
    assert list(answer.items) == items
