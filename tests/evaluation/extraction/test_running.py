"""Labelled lives on a real server: said in order, read back whole, and none lived twice."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.extraction.cases import Labelled, read_cases
from evaluation.extraction.living import Life
from evaluation.extraction.records import CaseRecord
from evaluation.extraction.report import Measured, measure
from evaluation.extraction.running import RECORDS, Measuring
from memory_server.client import MemoryServerClient
from tests.evaluation.extraction.labelled import MINI
from tests.evaluation.watching import Remembering

CONFIGURATION = "c"


@pytest.fixture
def cases() -> list[Labelled]:
    return list(read_cases(MINI))


@pytest.fixture
def measuring(tmp_path: Path, cases: list[Labelled], watcher: Remembering) -> Measuring:
    return Measuring(cases=cases, directory=tmp_path, watcher=watcher, concurrency=4)


def a_life(client: MemoryServerClient, cases: list[Labelled], name: str) -> Life:
    [case] = [one.case for one in cases if one.case.id == name]
    return Life(client=client, case=case, configuration=CONFIGURATION)


async def test_a_changed_fact_has_its_history_and_what_was_decided_on_it(
    client: MemoryServerClient, cases: list[Labelled]
) -> None:
    record = await a_life(client, cases, "en-moved-to-lisbon").live()

    [fact] = [memory for memory in record.memories if memory.type == "semantic"]
    assert (fact.text, fact.is_live) == ("The user lives in Lisbon.", True)
    assert (fact.former, fact.actions) == (["The user lives in Boston."], ["ADD", "UPDATE"])
    assert record.as_of[0] == ["The user lives in Boston."]
    assert record.extractors[0].startswith("rules/")


async def test_what_was_taken_back_is_read_too(
    client: MemoryServerClient, cases: list[Labelled]
) -> None:
    record = await a_life(client, cases, "en-smoke-forgotten").live()

    [fact] = [memory for memory in record.memories if memory.type == "semantic"]
    assert (fact.is_live, fact.actions) == (False, ["ADD", "RETRACT"])


async def test_the_time_of_an_event_is_read(
    client: MemoryServerClient, cases: list[Labelled]
) -> None:
    record = await a_life(client, cases, "en-told-by-a-tool").live()

    days = {str(memory.start)[:10] for memory in record.memories if memory.type == "semantic"}
    assert "2026-03-01" in days


async def test_a_life_that_was_broken_off_goes_on_and_is_not_said_twice(
    client: MemoryServerClient, cases: list[Labelled]
) -> None:
    life = a_life(client, cases, "en-jazz-twice")
    first = await life.live()

    again = await life.live()

    assert again.memories == first.memories
    assert len(await client.memories(user_id=life.user_id, type="semantic")) == 1


async def test_figures_are_those_of_the_labels(
    client: MemoryServerClient, measuring: Measuring, cases: list[Labelled]
) -> None:
    records = await measuring.run(client, CONFIGURATION)

    measured = a_measure(cases, records, measuring.directory)

    counted = {
        one["measure"]: (one["hits"], one["n"])
        for one in measured.document["figures"]
        if (one["type"], one["language"]) == ("semantic", "all")
    }
    assert counted == {
        "precision": (6, 7),
        "recall": (7, 9),
        "recall_single": (3, 4),
        "actions": (4, 5),
        "times": (2, 3),
        "history": (1, 1),
        "as_of": (1, 2),
        "made_up": (1, 8),
    }
    assert {(one["case"], one["kind"]) for one in measured.document["details"]} == {
        ("en-nurse", "misses"),
        ("zh-lives-in-beijing", "misses"),
        ("es-vive-en-sevilla", "false"),
        ("en-wrong-label", "made_up"),
        ("en-wrong-label", "actions"),
        ("en-wrong-label", "times"),
        ("en-moved-to-lisbon", "as_of"),
    }


async def test_what_was_lived_is_not_lived_again_unless_something_changed(
    client: MemoryServerClient, measuring: Measuring, watcher: Remembering
) -> None:
    first = await measuring.run(client, CONFIGURATION)
    watcher.stages.clear()

    again = await measuring.run(client, CONFIGURATION)
    assert (again, watcher.stages) == (first, {})

    await measuring.run(client, "another")
    assert watcher.stages["extraction"].done == 10


async def test_a_run_that_was_broken_off_does_only_the_rest(
    client: MemoryServerClient, measuring: Measuring, watcher: Remembering
) -> None:
    await measuring.run(client, CONFIGURATION)
    path = measuring.directory / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]) + lines[7][:40])

    records = await measuring.run(client, CONFIGURATION)

    assert (len(records), watcher.stages["extraction"].done) == (10, 3)


async def test_lived_anew_leaves_the_same(client: MemoryServerClient, measuring: Measuring) -> None:
    first = await measuring.run(client, CONFIGURATION)

    again = await measuring.run(client, CONFIGURATION, anew=True)

    assert [told(record) for record in again] == [told(record) for record in first]


async def test_what_another_program_left_goes_from_a_server_of_its_own(
    client: MemoryServerClient, measuring: Measuring, cases: list[Labelled]
) -> None:
    await measuring.run(client, CONFIGURATION, is_own=True)
    user_id = a_life(client, cases, "en-jazz-twice").user_id
    await measuring.run(client, CONFIGURATION, is_own=True)
    assert await client.memories(user_id=user_id)

    await measuring.run(client, "another", is_own=True)

    assert not await client.memories(user_id=user_id)


async def test_the_held_half_is_shown_in_figures_unless_it_is_revealed(
    client: MemoryServerClient, measuring: Measuring, cases: list[Labelled]
) -> None:
    records = await measuring.run(client, CONFIGURATION)
    held = [Labelled(case=one.case, half="held", file=one.file) for one in cases]

    hidden = a_measure(held, records, measuring.directory, shown=["misses"])
    shown = a_measure(held, records, measuring.directory, shown=["misses"], reveal=True)

    assert hidden.document["details"] == []
    assert hidden.document["not_right"]["held"]["misses"] == 2
    assert hidden.document["made_up"] == {"held": {"absent": 1}}
    assert (hidden.tables[-1].rows, len(hidden.tables[-1].notes)) == ([], 1)
    assert "zh-lives-in-beijing" in {row[0] for row in shown.tables[-1].rows}
    assert hidden.document["figures"] == shown.document["figures"]


async def test_a_figure_that_is_not_reached_is_told(
    client: MemoryServerClient, measuring: Measuring, cases: list[Labelled]
) -> None:
    records = await measuring.run(client, CONFIGURATION)

    measured = a_measure(
        cases, records, measuring.directory, wanted={"recall": 0.99, "precision": 0.1}
    )

    [told] = measured.missed
    assert told.startswith("recall is ")


def a_measure(
    cases: list[Labelled],
    records: Sequence[CaseRecord],
    directory: Path,
    **more: Any,
) -> Measured:
    given: Mapping[str, Any] = {"server": {}, "wanted": {}, "shown": [], **more}
    return measure(cases, records, directory, **given)


def told(record: CaseRecord) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.type, one.text, tuple(one.actions)) for one in record.memories]
