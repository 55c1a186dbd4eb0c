import pytest

from tests.unit.memory_server.project_config.reading import only, read

SNAPSHOT = "memory: {{background_extraction: {{snapshot: {{{}}}}}}}"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('max_messages: "20"', "expected a whole number, found text: remove the quotes"),
        ("max_messages: 20.0", "expected a whole number, found a decimal number"),
        ("max_messages: 2e1", "expected a whole number, found a decimal number"),
        ("max_messages: true", "expected a whole number, found a boolean"),
        ("max_messages: 0x14", "another notation"),
        ("max_messages: 020", "write it in plain decimal digits"),
        ("max_messages: 1_000", "another notation"),
        ("max_messages: 1:30", "another notation"),
        ("max_messages: 2024-01-31", "found a date"),
        ("max_messages: twenty", "expected a whole number, found text"),
        ("max_messages: [20]", "expected a whole number, found a list"),
        ("max_messages: {a: 1}", "expected a whole number, found a mapping"),
        ("max_messages: 0", "must be between 1 and 1000000, is too small"),
        ("max_messages: -1", "is too small"),
        ("ttl_days: 1000001", "is too large"),
        (f"ttl_days: {'9' * 4_400}", "more than 400 digits"),
        ("ttl_days: null", "nothing (null): give a value, or remove the key"),
        ("ttl_days:", "nothing (null)"),
        ("topic_shift_threshold: .nan", "expected a number, found not-a-number (NaN)"),
        ("topic_shift_threshold: -.inf", "expected a number, found infinity"),
        ("topic_shift_threshold: 1e999", "expected a number, found infinity"),
        ("topic_shift_threshold: true", "expected a number, found a boolean"),
        ('topic_shift_threshold: "0.5"', "expected a number, found text: remove the quotes"),
        ("topic_shift_threshold: 1.01", "must be between 0 and 1, is too large"),
        ("topic_shift_enabled: 1", "expected a boolean (true or false), found a whole number"),
        ('topic_shift_enabled: "yes"', "expected a boolean (true or false), found text: remove"),
    ],
)
def test_a_wrong_kind_or_size_is_named_beside_the_right_one(entry: str, words: str) -> None:
    problem = only(SNAPSHOT.format(entry))

    assert problem.path == f"memory.background_extraction.snapshot.{entry.partition(':')[0]}"
    assert words in problem.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memory: {voyage: {model: 4}}", "expected text, found a whole number: put it in quotes"),
        ("memory: {voyage: {model: on}}", "without quotes are booleans"),
        ("memory: {voyage: {model: 2024-01-31}}", "expected text, found a date: put it in quotes"),
        ("memory: {log_level: on}", "expected one of debug, info, warning, error, critical"),
        ("memory: {voyage: []}", "expected a mapping, found a list: remove the dashes"),
        ("memory: [voyage]", "expected a mapping, found a list"),
        ("memory: text", "expected a mapping, found text"),
        ("- memory", "expected a mapping, found a list"),
        ("~", "expected a mapping, found nothing (null)"),
        ("memory: {extraction: {enabled: semantic}}", "write the items as `- item` lines"),
        ("memory: {}\nmemory_only: maybe", "expected a boolean (true or false), found text"),
        ("memory:", "found nothing (null): write `memory: {}` to take every default"),
        ("memory: {extraction: null}", "`enabled: []` below it to extract nothing"),
        ("memory: {extraction: {enabled: [~]}}", "give a value, or remove the item"),
    ],
)
def test_a_wrong_kind_comes_with_the_way_out(text: str, words: str) -> None:
    assert words in only(text).message


@pytest.mark.parametrize("word", ["true", "True", "yes", "on", "ON"])
def test_words_for_true_are_true(word: str) -> None:
    assert read(f"memory: {{short_term: {{embed_on_write: {word}}}}}").config.embed_on_write is True


@pytest.mark.parametrize("number", ["0.5", "5e-1", "+.5", "0.50"])
def test_a_number_may_be_written_in_any_decimal_form(number: str) -> None:
    config = read(SNAPSHOT.format(f"topic_shift_threshold: {number}")).config

    assert config.snapshot.topic_shift_threshold == 0.5


def test_a_whole_number_is_a_number() -> None:
    assert (
        read(SNAPSHOT.format("topic_shift_threshold: 1")).config.snapshot.topic_shift_threshold == 1
    )
