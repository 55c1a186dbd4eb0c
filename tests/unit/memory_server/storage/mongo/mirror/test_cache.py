"""The index file of each process."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_server.domain.chunk import Source
from memory_server.ports.search import Selection
from memory_server.search.local.entries import memory_entry
from memory_server.search.local.index import LocalIndex
from memory_server.storage.mongo.mirror.cache import Cache, Progress
from memory_server.storage.mongo.mirror.source import Entry
from tests.factories import a_fact, a_memory, a_scope
from tests.unit.memory_server.storage.mongo.mirror.stored import fact

HERE = "mongodb at db.example, database memory"
FACTS = Selection(scope=a_scope(), source=Source.SEMANTIC, limit=9)


def index_files(directory: Path) -> list[Path]:
    """Return the paths of the index files, by the number of their process."""
    return sorted(directory.glob("index-*.sqlite"))


def content(directory: Path) -> bytes:
    """Return all that is on the disk."""
    return b"".join(path.read_bytes() for path in directory.iterdir())


async def keep(cache: Cache, text: str) -> None:
    """Index one fact, and note that everything is loaded."""
    entry = Entry(document=memory_entry(a_memory(id="m1", body=a_fact(text=text))))
    await cache.write({fact(1): lambda: entry}, Progress(token=b"here", complete=True))


async def finds(cache: Cache, word: str) -> bool:
    """Whether a word is found."""
    return bool(await LocalIndex(cache, vector_memory_bytes=1).text(FACTS, [word]))


async def test_it_is_as_it_was_when_it_is_opened_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    await keep(cache, "a cello")
    await cache.close()

    progress = await cache.open(HERE)

    assert progress == Progress(token=b"here", complete=True)
    assert await finds(cache, "cello")
    await cache.close()


async def test_each_process_has_a_file_of_its_own_and_takes_a_free_one(tmp_path: Path) -> None:
    first, second, third = Cache(tmp_path), Cache(tmp_path), Cache(tmp_path)
    await first.open(HERE)
    await keep(first, "a cello")
    await second.open(HERE)
    assert not await finds(second, "cello")
    await first.close()

    await third.open(HERE)

    assert await finds(third, "cello")
    assert len(index_files(tmp_path)) == 2
    await second.close()
    await third.close()


async def test_another_database_has_another_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    await keep(cache, "a cello")
    await cache.close()

    assert await cache.open(f"{HERE}2") == Progress()
    assert not await finds(cache, "cello")
    await cache.close()


async def test_only_its_user_can_read_the_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)

    assert stat.S_IMODE(index_files(tmp_path)[0].stat().st_mode) == 0o600
    await cache.close()


async def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    await cache.close()
    index_files(tmp_path)[0].write_bytes(b"no database" * 1000)

    assert await cache.open(HERE) == Progress()
    await cache.close()


async def test_files_of_another_version_of_the_index_are_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    await cache.close()
    deployment, _, number = index_files(tmp_path)[0].name.removeprefix("index-").split("-")
    outdated = tmp_path / f"index-{deployment}-00000000-{number}"
    others = tmp_path / f"index-ffffffff-00000000-{number}"
    outdated.touch()
    others.touch()

    await cache.open(HERE)

    assert not outdated.exists()
    assert others.exists()
    await cache.close()


async def test_a_document_that_cannot_be_read_keeps_none_from_being_indexed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    entry = Entry(document=memory_entry(a_memory(body=a_fact(text="a cello"))))

    def foreign() -> Entry:
        raise KeyError("valid_from")

    await cache.write({fact(1): foreign, fact(2): lambda: entry}, Progress())

    assert await finds(cache, "cello")
    assert "memory_semantic 'm1' cannot be read" in caplog.text
    await cache.close()


async def test_words_of_what_is_gone_can_be_removed_from_the_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.open(HERE)
    await keep(cache, "a violoncello")
    assert not await cache.has_traces()

    await cache.write({fact(1): None}, Progress())
    assert await cache.has_traces()
    assert b"violoncel" in content(tmp_path)
    await cache.remove_traces()

    assert not await cache.has_traces()
    assert b"violoncel" not in content(tmp_path)
    await cache.close()


async def test_files_that_processes_left_behind_are_removed_in_time(tmp_path: Path) -> None:
    mine, others = Cache(tmp_path), Cache(tmp_path)
    await mine.open(HERE)
    await others.open(HERE)
    await keep(others, "a violoncello")
    await others.close()
    left = index_files(tmp_path)[1]
    written = datetime.fromtimestamp(left.stat().st_mtime, UTC)

    await mine.remove_abandoned(before=written - timedelta(hours=1))
    assert left.exists()
    await mine.remove_abandoned(before=written + timedelta(hours=1))

    assert b"violoncel" not in content(tmp_path)
    assert await mine.read(lambda db: db.execute("SELECT 1").fetchone()) is not None
    await mine.close()
