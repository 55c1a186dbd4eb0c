"""A server whose database is not there, at the start or later, or does not let it in."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pymongo
import pytest

from tests.mongo import DatabaseProcess
from tests.processes import ServerProcess, running, until

TURNS = "/api/v1/memory/turns"
DATABASE = "mdb_memory_shop"
PASSWORD = "hunter2"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[DatabaseProcess]:
    """A database of its own, for it is killed."""
    pytest.importorskip("secantus")
    process = DatabaseProcess(tmp_path / "database")
    yield process
    process.kill()


def a_server(tmp_path: Path, uri: str) -> AbstractContextManager[ServerProcess]:
    return running(tmp_path / "server", MONGODB_URI=uri, PROJECT_ID="shop")


def is_ready(server: ServerProcess) -> bool:
    return bool(server.ready()["status"] == "ready")


def blocked_by(server: ServerProcess, reason: str) -> bool:
    answer = server.ask("GET", "/ready")
    told = answer.json()["blocked_on"]
    return answer.status_code == 503 and any(reason in one for one in told)


def record(server: ServerProcess, content: str) -> httpx.Response:
    turn = {"session_id": "s", "user_id": "ana", "role": "user", "content": content}
    return server.ask("POST", TURNS, json=turn)


def stored(database: DatabaseProcess) -> dict[str, int]:
    with pymongo.MongoClient[dict[str, object]](database.uri) as client:
        found = list(client[DATABASE]["memory_turns"].find())
    return {str(turn["content"]): int(str(turn["turn_seq"])) for turn in found}


class Recorder:
    """Records turns one after another, and notes which were acknowledged."""

    def __init__(self, server: ServerProcess) -> None:
        self.acknowledged: list[str] = []
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._record, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _record(self) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            if record(self._server, f"said {number}").status_code == 201:
                self.acknowledged.append(f"said {number}")


@pytest.mark.parametrize("way", ["kill", "pause"])
def test_a_database_that_goes_away_costs_no_acknowledged_turn_and_no_restart(
    tmp_path: Path, database: DatabaseProcess, way: str
) -> None:
    database.start()
    with a_server(tmp_path, database.uri) as server:
        server.until(is_ready)
        recorder = Recorder(server)
        until(lambda: len(recorder.acknowledged) >= 10)

        getattr(database, way)()
        server.until(lambda server: blocked_by(server, "store: mongodb at"))
        assert server.ask("GET", "/health").status_code == 200
        refused = record(server, "while it was away")
        (database.start if way == "kill" else database.resume)()

        server.until(is_ready)
        before = len(recorder.acknowledged)
        until(lambda: len(recorder.acknowledged) >= before + 5)
        recorder.stop()

        assert (refused.status_code, refused.json()["code"]) == (503, "STORAGE_UNAVAILABLE")
        assert int(refused.headers["Retry-After"]) > 0
        kept = stored(database)
        assert {*recorder.acknowledged} <= {*kept}
        assert sorted(kept.values()) == [*range(1, len(kept) + 1)]
        assert not server.has_ended


def test_a_server_without_its_database_lives_and_serves_as_soon_as_that_is_there(
    tmp_path: Path, database: DatabaseProcess
) -> None:
    with a_server(tmp_path, database.uri) as server:
        server.until(lambda server: blocked_by(server, "nothing listens there"))
        assert server.ask("GET", "/health").status_code == 200
        assert record(server, "too early").status_code == 503

        database.start()

        server.until(is_ready)
        assert record(server, "hello").json()["turn_seq"] == 1


def test_a_server_with_a_wrong_password_ends_and_says_what_to_mend(
    tmp_path: Path, database: DatabaseProcess
) -> None:
    database.start()
    with pymongo.MongoClient[dict[str, object]](database.uri) as client:
        client.admin.command("createUser", "ana", pwd="right", roles=["root"])
    database.stop()
    guarded = DatabaseProcess(tmp_path / "database", "--auth", port=database.port)
    guarded.start()
    uri = database.uri.replace("//", f"//ana:{PASSWORD}@")
    try:
        with a_server(tmp_path, uri) as server:
            code, told = server.ended(), "\n".join(server.told)
        with a_server(tmp_path, uri.replace(PASSWORD, "right")) as server:
            server.until(is_ready)
            shown = server.ask("GET", "/ready").text + server.ask("GET", "/metrics").text
            command = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    finally:
        guarded.kill()

    assert code == 1
    assert "rejects the user or the password" in told
    assert f"mongodb at 127.0.0.1:{database.port}" in told
    assert PASSWORD not in told
    assert not any("right@" in text for text in (shown, command.decode(), *server.told))


def test_a_standalone_server_is_refused_with_what_to_do(
    tmp_path: Path, database: DatabaseProcess
) -> None:
    alone = DatabaseProcess(tmp_path / "alone", "--standalone")
    alone.start()
    try:
        with a_server(tmp_path, alone.uri) as server:
            assert server.ended() == 1
    finally:
        alone.kill()

    assert any("rs.initiate()" in line for line in server.told)
