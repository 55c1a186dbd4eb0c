"""The store that a server would serve is looked at before anything is stopped."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentengine_cli.control.environment import machine
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.status import State
from agentengine_cli.control.stores import DatabaseAway, DatabaseRefused, StoreFound, look
from tests.integration.control import conftest
from tests.integration.control.conftest import Bench
from tests.mongo import DatabaseProcess, a_database

MACHINE = machine(os.environ)
WAIT = ApplyRequest(wait=True)
NAMED = "MONGODB_URI=mongodb://db.test/?replicaSet=rs0\n"


def say(bench: Bench, text: str) -> None:
    (bench.directory / ".env").write_text(text)


@pytest.mark.parametrize("problem", [DatabaseRefused, DatabaseAway])
def test_a_server_that_works_is_not_given_up_for_a_database_that_takes_no_other(
    bench: Bench, problem: type[DatabaseRefused | DatabaseAway]
) -> None:
    def refuses(*_: object, **__: object) -> StoreFound:
        raise problem("it rejects the password")

    bench.configure()
    before = bench.plane().apply(WAIT).status
    bench.configure(level="debug")
    say(bench, NAMED)

    with pytest.raises(problem, match="it rejects"):
        bench.plane(look=refuses).apply(WAIT)
    with pytest.raises(problem, match="it rejects"):
        bench.plane(look=refuses).restart()

    after = bench.plane().status()
    assert (after.state, after.pid) == (State.READY, before.pid)


def test_where_none_works_a_server_is_started_to_wait_for_its_database(bench: Bench) -> None:
    def away(*_: object, **__: object) -> StoreFound:
        raise DatabaseAway("nothing listens")

    bench.configure()
    say(bench, NAMED)

    assert bench.plane(look=away).apply(WAIT).status.state is State.READY


def test_of_the_embedded_store_nothing_is_asked(bench: Bench) -> None:
    def unasked(*_: object, **__: object) -> StoreFound:
        raise AssertionError

    bench.configure()

    assert bench.plane(look=unasked).apply(WAIT).warnings == ()


def test_a_switch_says_what_stays_in_the_former_store_and_how_it_is_moved(bench: Bench) -> None:
    bench.configure()
    bench.plane().apply(WAIT)

    say(bench, NAMED)
    [there] = bench.plane().apply(WAIT).warnings
    say(bench, "")
    [back] = bench.plane().apply(WAIT).warnings

    assert "3 turns and 1 memory stay in memory.db" in there
    assert "take MONGODB_URI away again" in there
    assert "3 turns and 1 memory stay in db.test, database mdb_memory_local" in back
    for told in (there, back):
        assert "agentengine memory export --output memory.jsonl" in told
        assert "agentengine memory import memory.jsonl" in told


def test_a_dry_run_says_what_a_switch_leaves_behind_and_claims_nothing(bench: Bench) -> None:
    def unclaimed(
        environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
    ) -> StoreFound:
        assert claim is None
        return conftest.look(environ, counts=counts, claim=claim)

    bench.configure()
    before = bench.plane().apply(WAIT).status
    say(bench, NAMED)

    applied = bench.plane(look=unclaimed).apply(ApplyRequest(dry_run=True))

    [told] = applied.warnings
    assert "3 turns and 1 memory stay in memory.db" in told
    assert bench.plane().status().pid == before.pid


def test_a_switch_while_the_server_is_stopped_is_noticed_too(bench: Bench) -> None:
    bench.configure()
    say(bench, NAMED)
    bench.plane().apply(WAIT)
    bench.plane().stop()
    say(bench, "")

    [told] = bench.plane().apply(WAIT).warnings

    assert "What it holds stays in db.test" in told


def test_nothing_is_said_where_the_former_store_is_empty_or_the_same(bench: Bench) -> None:
    def empty(
        environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
    ) -> StoreFound:
        found = conftest.look(environ, counts=counts, claim=claim)
        assert found.holdings is not None
        return replace(found, holdings=replace(found.holdings, turns=0, memories=0))

    bench.configure()
    bench.plane(look=empty).apply(WAIT)
    say(bench, NAMED)
    switched = bench.plane(look=empty).apply(WAIT)
    bench.configure("debug")
    again = bench.plane(look=empty).apply(ApplyRequest())

    assert (switched.warnings, again.warnings) == ([], [])


def test_a_database_that_another_project_made_is_named_unless_it_was_chosen(bench: Bench) -> None:
    def of_another(
        environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
    ) -> StoreFound:
        found = conftest.look(environ, counts=counts, claim=claim)
        return replace(found, made_in="/home/ana/desk", made_on="laptop")

    bench.configure()
    say(bench, NAMED)
    [told] = bench.plane(look=of_another).apply(WAIT).warnings
    say(bench, NAMED + "MONGOMEM_DB_NAME=mdb_memory\n")
    chosen = bench.plane(look=of_another).apply(WAIT)

    assert "made by the project in /home/ana/desk on laptop" in told
    assert f"MONGOMEM_DB_NAME=mdb_memory_{bench.directory.name}" in told
    assert chosen.warnings == []


def test_the_first_project_is_noted_as_the_maker_and_stays_so(mongodb: str) -> None:
    with a_database(mongodb) as base:
        given = MACHINE | {"MONGODB_URI": mongodb, "MONGOMEM_DB_NAME": base}
        looked = look(given)
        first, second = look(given, claim="/a"), look(given, claim="/b", counts=True)

    assert (looked.made_in, first.made_in, second.made_in) == (None, "/a", "/a")
    assert (first.kind, first.database, first.holdings) == ("mongodb", base, None)
    assert second.holdings is not None
    assert (second.holdings.turns, second.holdings.vectors) == (0, 0)


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    found = look(MACHINE | {"AGENTENGINE_DATA_DIR": str(tmp_path)})

    assert found.holdings is not None
    assert (found.kind, found.holdings.vectors) == ("sqlite", 0)


def test_one_that_is_away_is_told_apart_from_one_that_refuses() -> None:
    with pytest.raises(DatabaseAway, match=r"127\.0\.0\.1"):
        look(MACHINE | {"MONGODB_URI": DatabaseProcess().uri + "/?serverSelectionTimeoutMS=100"})


def test_one_that_is_no_replica_set_is_refused_with_what_to_do() -> None:
    pytest.importorskip("secantus")
    alone = DatabaseProcess(None, "--standalone")
    alone.start()
    try:
        with pytest.raises(DatabaseRefused, match=r"Nothing was stopped.*rs\.initiate"):
            look(MACHINE | {"MONGODB_URI": alone.uri})
    finally:
        alone.stop()
