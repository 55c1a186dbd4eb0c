from datetime import datetime

import pytest

from agentengine_cli.commands import memory_type, search
from agentengine_cli.errors import WrongUsage
from memory_server.domain import custom_type, limits


def test_the_limits_of_a_search_are_the_servers() -> None:
    assert search.MOST == limits.MAX_SOURCE_TOP_K
    assert search.MOST_RECORDS == limits.MAX_CUSTOM_TOP_K


def test_the_words_for_types_that_are_switched_off_are_the_servers() -> None:
    assert memory_type.NOT_ENABLED == custom_type.NOT_ENABLED


@pytest.mark.parametrize("given", ["2026-04-01", "2026-04-01T18:30", "2026-04-01T18:30:00Z"])
def test_a_moment_of_the_past_is_sent_with_an_offset(given: str) -> None:
    sent = datetime.fromisoformat(search.moment(given))

    assert sent.tzinfo is not None
    assert sent == datetime.fromisoformat(given).astimezone()


@pytest.mark.parametrize("given", ["April", "2026-13-01", "01/04/2026"])
def test_what_is_no_moment_is_told_with_how_one_is_written(given: str) -> None:
    with pytest.raises(WrongUsage, match="--as-of"):
        search.moment(given)
