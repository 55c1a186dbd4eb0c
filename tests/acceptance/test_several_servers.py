"""The page on several servers works as it is written, on a real database."""

from tests.acceptance.conftest import Shell
from tests.acceptance.test_howtos import blocks, run
from tests.mongo import a_database
from tests.ports import free_port


def test_page_starts_two_servers_shows_them_and_stops_them(empty: Shell, mongodb: str) -> None:
    script = "".join(blocks("run-several-servers.md", "sh"))
    for written in ("8081", "8082"):
        script = script.replace(written, str(free_port()))

    with a_database(mongodb) as name:
        variables = {"MONGODB_URI": mongodb, "MONGOMEM_DB_NAME": name}
        told = run(empty, ["bash", "-eu", "-c", script], **variables)

    roles = [line.split()[1:3] for line in told.splitlines()]
    assert roles == [["api", "serving"], ["worker", "serving"]]
