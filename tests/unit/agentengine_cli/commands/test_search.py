from agentengine_cli.commands import memory_type, search
from memory_server.domain import custom_type, limits


def test_the_limits_of_a_search_are_the_servers() -> None:
    assert search.MOST == limits.MAX_SOURCE_TOP_K
    assert search.MOST_RECORDS == limits.MAX_CUSTOM_TOP_K


def test_the_words_for_types_that_are_switched_off_are_the_servers() -> None:
    assert memory_type.NOT_ENABLED == custom_type.NOT_ENABLED
