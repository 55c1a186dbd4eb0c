"""The page on MongoDB works as it is written, on a real database."""

import pymongo

from tests.acceptance.conftest import Shell
from tests.acceptance.test_howtos import blocks, run
from tests.mongo import a_database

TURN = '{"session_id": "s", "user_id": "ana", "role": "user", "content": "hello"}\n'


def test_page_puts_the_store_of_a_project_on_a_deployment_that_no_output_shows(
    empty: Shell, mongodb: str
) -> None:
    [script] = blocks("use-mongodb.md", "sh")
    uri = mongodb + ("&" if "?" in mongodb else "/?") + "appName=hunter2"
    with a_database(mongodb) as name:
        # The whole name, for it ends in the project's id.
        base = f"{name}_local"
        empty.ok("create", "--memory-only", "--name", "Desk", "--dir", ".")
        (empty.directory / ".env").write_text(f"MONGOMEM_DB_NAME={base}\n")
        try:
            told = run(empty, ["bash", "-euo", "pipefail", "-c", script], MONGODB_URI=uri)
            stored = empty.status()["store"]
            empty.ok("memory", "import", "-", stdin=TURN)
            cleaned = empty.run("dev", "clean", "--yes")
        finally:
            empty.run("dev", "stop")
            with pymongo.MongoClient[dict[str, object]](mongodb) as client:
                turns = client[base]["memory_turns"].count_documents({})
                client.drop_database(base)

    assert "state: ready" in told
    assert "kind=mongodb" in told
    assert (stored["kind"], stored["database"]) == ("mongodb", base)
    assert "any MongoDB database stay" in cleaned.err
    assert turns == 1
    assert "hunter2" not in told + cleaned.out + cleaned.err
