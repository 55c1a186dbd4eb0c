"""A database that does not let a server in is told before anything is stopped."""

import pytest

from agentengine_cli.control.database import DatabaseRefused, check
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.status import State
from tests.integration.control.conftest import Bench
from tests.mongo import DatabaseProcess

WAIT = ApplyRequest(wait=True)


def test_a_server_that_runs_is_not_given_up_for_a_database_that_refuses_another(
    bench: Bench,
) -> None:
    def refuses(environ: object) -> None:
        raise DatabaseRefused("it rejects the password")

    bench.configure()
    before = bench.plane().apply(WAIT).status
    bench.configure(level="debug")

    with pytest.raises(DatabaseRefused):
        bench.plane(database=refuses).apply(WAIT)
    with pytest.raises(DatabaseRefused):
        bench.plane(database=refuses).restart()

    after = bench.plane().status()
    assert (after.state, after.pid) == (State.READY, before.pid)


def test_without_a_database_nobody_is_asked() -> None:
    check({})


def test_one_that_lets_servers_in_is_taken(mongodb: str) -> None:
    check({"MONGODB_URI": mongodb, "PROJECT_ID": "shop"})


def test_one_that_is_away_is_left_to_the_server_to_wait_for() -> None:
    check({"MONGODB_URI": DatabaseProcess().uri + "/?serverSelectionTimeoutMS=100"})


def test_one_that_is_no_replica_set_is_refused_with_what_to_do() -> None:
    pytest.importorskip("secantus")
    alone = DatabaseProcess(None, "--standalone")
    alone.start()
    try:
        with pytest.raises(DatabaseRefused, match=r"Nothing was stopped.*rs\.initiate"):
            check({"MONGODB_URI": alone.uri})
    finally:
        alone.stop()
