"""Projects in a file: one written before there were several, and what is remembered of them."""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from memory_server.domain.account import AccountRole
from memory_server.storage.sqlite import SqliteStore
from memory_server.storage.sqlite.connection import open_writer
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.projects import SqliteProjects
from memory_server.storage.sqlite.schema import migrate, migrations
from tests.clock import START, ManualClock
from tests.factories import a_project, a_turn

T = TypeVar("T")

BEFORE_PROJECTS = 3
AT = int(START.timestamp() * 1_000_000)
ACCOUNT = (
    "INSERT INTO accounts (client_id, project_id, name, role, description, secrets,"
    " ip_access_list, is_active, created_at, updated_at, last_used_at)"
    " VALUES (?, ?, 'ci', 'PROJECT_READ_ONLY', 'builds', '[[\"salt\",\"digest\",0]]',"
    " '[\"10.0.0.0/8\"]', 1, ?, ?, ?)"
)
SESSION = (
    "INSERT INTO sessions (project_id, session_id, last_seq, last_activity)"
    " VALUES ('bank', 'monday', 1, ?)"
)


def an_old_file(path: Path) -> None:
    connection = open_writer(path)
    steps = [step for step in migrations() if step.number <= BEFORE_PROJECTS]
    migrate(connection, steps, str(path))
    for project_id in ("shop", "farm"):
        connection.execute(ACCOUNT, (f"client-{project_id}", project_id, AT, AT, AT))
    connection.execute(SESSION, (AT,))
    connection.close()


async def test_each_project_that_has_something_is_there_after_the_migration(
    tmp_path: Path, clock: ManualClock
) -> None:
    an_old_file(tmp_path / "memory.db")
    store = SqliteStore(tmp_path / "memory.db", clock=clock)
    await store.open()

    projects = await store.projects.list()
    account = await store.accounts.find("client-shop")
    await store.turns.append(a_turn(project_id="shop"))
    await store.close()

    assert sorted(project.id for project in projects) == ["bank", "farm", "shop"]
    assert {project.created_at for project in projects} == {START}
    assert account is not None
    assert (account.project_id, account.role) == ("shop", AccountRole.PROJECT_READ_ONLY)
    assert (account.ip_access_list, account.last_used_at) == (("10.0.0.0/8",), START)


class LateAnswers(Database):
    """Reads at once, and answers when the test says so."""

    def __init__(self) -> None:
        super().__init__(None, migrations())
        self.has_read = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        found = await super().read(query)
        self.has_read.set()
        await self.may_answer.wait()
        return found


@pytest.fixture
async def late() -> LateAnswers:
    database = LateAnswers()
    await database.open()
    return database


async def test_what_was_read_before_a_change_is_not_remembered_after_it(late: LateAnswers) -> None:
    projects = SqliteProjects(late)
    await projects.add(project := a_project())
    changed = replace(project, enforce_identity=True)
    reading = asyncio.create_task(projects.find(project.id))
    await late.has_read.wait()

    await projects.put(changed, expected_updated_at=project.updated_at)
    late.may_answer.set()

    assert await reading == project
    assert await projects.find(project.id) == changed
    await late.close()
