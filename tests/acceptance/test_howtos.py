"""What the how-tos tell people to type works as it is written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import Shell

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
BIN = Path(sys.executable).parent
PROXIES = {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}


def blocks(page: str, language: str) -> list[str]:
    text = (HOWTO / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run(shell: Shell, arguments: list[str], **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in PROXIES}
    done = subprocess.run(  # noqa: S603 - the pages of this project
        arguments,
        cwd=shell.directory,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=kept
        | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(shell.home)}
        | variables,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def url(running: Shell) -> str:
    return str(running.status()["url"])


@pytest.fixture
def credentials(running: Shell) -> dict[str, str]:
    made = running.ok(
        "service-account", "create", "howto", "--role", "AGENT_DEVELOPER", "--json"
    ).document
    return {
        "CLIENT_ID": made["service_account"]["client_id"],
        "CLIENT_SECRET": made["client_secret"],
    }


def test_python_sdk_page_runs_on_the_same_machine_and_from_anywhere(
    running: Shell, url: str, credentials: dict[str, str]
) -> None:
    here, anywhere = (
        block.replace("http://127.0.0.1:8080", url)
        for block in blocks("use-the-python-sdk.md", "python")
    )

    told = run(running, [sys.executable, "-W", "error", "-c", here])
    saved = run(running, [sys.executable, "-W", "error", "-c", anywhere], **credentials)

    assert told.count("aisle seat") == 2
    assert saved.strip() == "Ana prefers an aisle seat."


def test_curl_page_runs_without_and_with_a_token(
    running: Shell, url: str, credentials: dict[str, str]
) -> None:
    local, with_token = (
        f"set -eu\n{block}".replace("http://127.0.0.1:8080", url)
        for block in blocks("call-it-with-curl.md", "sh")
    )

    told = run(running, ["sh", "-c", local])
    found = run(running, ["sh", "-c", with_token], **credentials)

    assert "aisle seat" in told
    assert "always fly out of Boston" in told
    assert '"label":"seat"' in found


def test_smoke_test_is_fifteen_lines_and_passes_in_a_fresh_directory(empty: Shell) -> None:
    empty.ok("create", "--memory-only", "--name", "Smoke")
    project = Shell(empty.directory / "smoke", empty.home)
    [script] = blocks("smoke-test-in-ci.md", "sh")

    told = run(project, ["sh", "-c", script])

    assert len(script.splitlines()) == 15
    assert "memory works" in told.splitlines()
    assert project.status()["state"] == "stopped"
