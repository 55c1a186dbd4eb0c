"""What operators are shown of a user is read at once."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from memory_server.ports.memories import Add, Replace
from memory_server.ports.store import Store
from memory_server.services.administration import Administration
from tests.clock import ManualClock
from tests.conformance.memory_changes import changed
from tests.factories import PROJECT, a_memory, a_scope


async def test_many_histories_and_their_turns_take_as_many_reads_as_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        memory = a_memory()
        await store.memories.apply(PROJECT, [Add(memory=memory)])
        await store.memories.apply(
            PROJECT, [Replace(memory=changed(memory), former_id=f"former-{number}")]
        )
    reads: Counter[str] = Counter()
    for port, name in (
        (store.memories, "find"),
        (store.memories, "history"),
        (store.memories, "histories"),
        (store.turns, "get_many"),
    ):
        monkeypatch.setattr(port, name, _counted(getattr(port, name), name, reads))

    shown = await Administration(store=store, clock=ManualClock()).remembered(
        a_scope(), include_history=True
    )

    assert [len(one.history) for one in shown] == [1] * 5
    assert reads["find"] == reads["histories"] == 1
    assert reads["history"] == 0
    assert reads["get_many"] <= 1


def _counted(read: Callable[..., Any], name: str, reads: Counter[str]) -> Callable[..., Any]:
    async def counted(*args: Any, **more: Any) -> Any:
        reads[name] += 1
        return await read(*args, **more)

    return counted
