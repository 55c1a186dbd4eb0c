"""Storing a configuration: everything that is wrong at once, and nothing by halves."""

from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.deployment import RunningConfig
from memory_server.domain.spaces import SpacesInUse
from memory_server.errors import InvalidProjectConfig
from memory_server.services.configuration import Configuration, Present
from memory_server.settings import ConfigSource
from memory_server.storage.files import DeploymentDirectory
from tests.clock import START, ManualClock

LOCAL: dict[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}
TIER = {"metadata_partition_key": [{"name": "tier", "type": "string"}]}
TICKETS = {"custom_memory_types": [{"name": "ticket", "collection": "tickets"}]}


def present(document: dict[str, Any] = LOCAL, **changes: Any) -> Present:
    """Return what services with that configuration are."""
    running = RunningConfig(
        document=document,
        digest="running",
        since=START,
        source=changes.pop("source", ConfigSource.APPLIED),
        local_models=False,
    )
    values: dict[str, Any] = {"running": running, "secrets": {}, "spaces": SpacesInUse()}
    return Present(**values | changes)


@pytest.fixture
def configuration(tmp_path: Path, clock: ManualClock) -> Configuration:
    return Configuration(records=DeploymentDirectory(tmp_path), clock=clock)


async def test_every_problem_is_told_at_once_and_nothing_is_stored(
    configuration: Configuration,
) -> None:
    wrong = {"log_level": "loud", "embeding": {}, "extraction": {"enabled": ["facts"]}}

    with pytest.raises(InvalidProjectConfig) as raised:
        await configuration.put(wrong, present())

    paths = {problem.path for problem in raised.value.details["problems"]}
    assert paths == {"memory.log_level", "memory.embeding", "memory.extraction.enabled[0]"}
    assert (await configuration.report(present().running)).stored is None


@pytest.mark.parametrize(
    "document",
    [
        {"extraction_llm": {"provider": "openai", "api_key_secret": "sk-abcdef0123456789"}},
        {"extraction_llm": {"provider": "openai", "model": "sk-abcdef0123456789"}},
        {"sk-abcdef0123456789": 1},
    ],
)
async def test_what_looks_like_a_secret_is_refused_and_not_repeated(
    configuration: Configuration, document: dict[str, Any]
) -> None:
    with pytest.raises(InvalidProjectConfig) as raised:
        await configuration.put(document, present())

    assert "sk-abcdef" not in str(raised.value) + repr(raised.value.details)


@pytest.mark.parametrize(
    ("ran", "path"),
    [(TIER, "memory.metadata_partition_key"), (TICKETS, "memory.custom_memory_types")],
)
async def test_what_ran_cannot_be_taken_out_again(
    configuration: Configuration, ran: dict[str, Any], path: str
) -> None:
    with pytest.raises(InvalidProjectConfig) as raised:
        await configuration.put(LOCAL, present(LOCAL | ran))

    assert [problem.path for problem in raised.value.details["problems"]] == [path]


async def test_what_was_stored_and_never_ran_may_be_taken_out_again(
    configuration: Configuration,
) -> None:
    await configuration.put(LOCAL | TIER | TICKETS, present())

    receipt = await configuration.put(LOCAL, present())

    assert receipt.stored.document == LOCAL


async def test_declared_types_are_refused_whole_where_they_are_off(
    configuration: Configuration,
) -> None:
    with pytest.raises(InvalidProjectConfig, match="custom_memory_types is not enabled"):
        await configuration.put(LOCAL | TICKETS, present(declares_types=False))

    assert (await configuration.report(present().running)).stored is None


async def test_a_receipt_says_what_differs_from_what_was_stored_before(
    configuration: Configuration,
) -> None:
    first = await configuration.put(LOCAL | {"log_level": "debug"}, present())
    second = await configuration.put(LOCAL | {"log_level": "error"}, present())

    assert first.changes == ["memory.log_level: info (default) -> debug"]
    assert second.changes == ["memory.log_level: debug -> error"]
    assert second.pending


async def test_the_same_configuration_keeps_the_time_it_was_stored(
    configuration: Configuration, clock: ManualClock
) -> None:
    first = await configuration.put(LOCAL | TIER, present())
    clock.advance(60)

    again = await configuration.put(TIER | LOCAL, present())

    assert again.stored == first.stored


async def test_all_types_by_an_absent_key_are_pointed_out(configuration: Configuration) -> None:
    absent = await configuration.put(LOCAL, present())
    listed = await configuration.put(LOCAL | {"extraction": {"enabled": []}}, present())

    assert [line for line in absent.warnings if "key absent" in line]
    assert not [line for line in listed.warnings if "key absent" in line]


async def test_a_receipt_names_every_key_that_an_apply_would_look_for(
    configuration: Configuration,
) -> None:
    receipt = await configuration.put({"extraction": {"enabled": []}}, present())

    [embedding, extraction] = receipt.warnings[:2]
    assert "VOYAGE_API_KEY" in embedding
    assert "OPENAI_API_KEY, then LLM_API_KEY" in extraction


async def test_a_configuration_stored_where_another_is_delivered_is_said_to_be_unused(
    configuration: Configuration,
) -> None:
    await configuration.put(LOCAL | TIER, present())
    delivered = present(source=ConfigSource.DELIVERED).running

    report = await configuration.report(delivered)

    assert not report.pending
    assert ["is not used" in warning for warning in report.warnings] == [True]


@pytest.mark.parametrize(
    ("source", "pending"),
    [
        (ConfigSource.BUILT_IN, True),
        (ConfigSource.APPLIED, True),
        (ConfigSource.DELIVERED, False),
    ],
)
async def test_a_stored_configuration_is_pending_until_it_is_applied(
    configuration: Configuration, source: ConfigSource, *, pending: bool
) -> None:
    await configuration.put(LOCAL, present())

    assert (await configuration.report(present(source=source).running)).pending is pending
