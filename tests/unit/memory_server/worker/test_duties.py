from datetime import UTC, datetime

from memory_server.worker.duties import days_before


def test_turns_that_are_to_be_kept_for_ever_are_older_than_no_moment() -> None:
    now = datetime(2026, 5, 4, tzinfo=UTC)

    assert days_before(now, 30) == datetime(2026, 4, 4, tzinfo=UTC)
    assert days_before(now, 1_000_000) == datetime.min.replace(tzinfo=UTC)
