import asyncio

import pytest

from memory_server.errors import SchemaTooNew, StorageUnavailable, StorageUnusable
from memory_server.services.opening import FIRST_SECONDS, LONGEST_SECONDS, Opening
from tests.clock import ManualClock


class Steps:
    """Fails as it is told to, one error for each try, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = [*errors]
        self.tries = 0

    async def __call__(self) -> None:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_store_that_is_away_is_tried_again_until_it_is_there(clock: ManualClock) -> None:
    steps = Steps(*(StorageUnavailable("away") for _ in range(10)))
    opening = Opening(steps, clock=clock, waits=True)

    await opening.begin()
    for _ in range(11):
        await settled()
        clock.advance(LONGEST_SECONDS)

    assert (steps.tries, clock.sleepers) == (11, 0)
    await opening.end()


async def test_the_pauses_between_tries_grow(clock: ManualClock) -> None:
    steps = Steps(*(StorageUnavailable("away") for _ in range(3)))
    opening = Opening(steps, clock=clock, waits=True)
    await opening.begin()

    await settled()
    clock.advance(FIRST_SECONDS)
    await settled()
    clock.advance(FIRST_SECONDS)
    await settled()

    assert steps.tries == 2
    await opening.end()
    assert steps.tries == 2


@pytest.mark.parametrize("error", [StorageUnusable("credentials"), SchemaTooNew("newer")])
async def test_what_a_person_has_to_mend_ends_the_start(
    clock: ManualClock, error: Exception
) -> None:
    with pytest.raises(type(error)):
        await Opening(Steps(error), clock=clock, waits=True).begin()


@pytest.mark.parametrize("error", [StorageUnusable("credentials"), SchemaTooNew("newer")])
async def test_what_a_person_has_to_mend_is_not_tried_again(
    clock: ManualClock, error: Exception
) -> None:
    steps = Steps(StorageUnavailable("away"), error)
    opening = Opening(steps, clock=clock, waits=True)
    await opening.begin()

    for _ in range(3):
        await settled()
        clock.advance(LONGEST_SECONDS)

    assert steps.tries == 2
    await opening.end()


async def test_a_store_on_this_machine_is_not_waited_for(clock: ManualClock) -> None:
    with pytest.raises(StorageUnavailable):
        await Opening(Steps(StorageUnavailable("no file")), clock=clock, waits=False).begin()
