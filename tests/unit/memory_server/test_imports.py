import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["memory_server.__main__", "memory_server.client"])
def test_what_is_heavy_and_seldom_needed_is_not_loaded_at_the_start(module: str) -> None:
    program = (
        f"import sys, {module}; print(*{{'mcp', 'mcp_types', 'pydantic_ai'}} & set(sys.modules))"
    )

    done = subprocess.run(  # noqa: S603 our own program
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == ""
