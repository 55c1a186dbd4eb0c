from memory_server.domain.rates import Bucket, Rate

RATE = Rate(a_second=2, burst=4)


def emptied(now: float = 0) -> Bucket:
    bucket = Bucket.full(RATE, now)
    for _ in range(4):
        assert bucket.wait(RATE) == 0
        bucket = bucket.drawn()
    return bucket


def test_a_full_bucket_gives_its_burst_and_then_says_how_long_to_wait() -> None:
    assert emptied().wait(RATE) == 0.5


def test_a_bucket_fills_by_its_rate_and_never_beyond_its_burst() -> None:
    assert emptied().filled(RATE, 1).left == 2
    assert emptied().filled(RATE, 1000).left == 4


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    assert emptied(now=100).filled(RATE, 50).left == 0
    assert emptied(now=100).filled(RATE, 50).filled(RATE, 51).left == 2


def test_a_rate_can_be_multiplied_and_read() -> None:
    assert str(RATE.times(3)) == "6 a second and 12 at once"
