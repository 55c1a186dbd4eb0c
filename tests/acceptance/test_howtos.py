"""What the how-tos tell people to type works as it is written."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


def test_page_of_blocks_records_and_finds_exchanges(
    running: Shell, url: str, credentials: dict[str, str]
) -> None:
    [typed] = blocks("exchange-blocks.md", "sh")
    [program] = blocks("exchange-blocks.md", "python")
    [_, with_token] = blocks("call-it-with-curl.md", "sh")
    token = with_token.split("\n\n")[1] + '\necho "$token"'
    local = "http://127.0.0.1:8080"

    told = run(running, ["sh", "-euc", typed.replace(local, url)])
    [token] = run(running, ["sh", "-euc", f"url={url}\n{token}"], **credentials).split()
    found = run(running, [sys.executable, "-c", program.replace(local, url)], TOKEN=token)

    metrics = run(running, ["curl", "-fsS", f"{url}/metrics"])
    for stage in ("embed", "write", "extract", "vector_search", "extraction"):
        assert f'memory_server_stage_seconds_count{{stage="{stage}"}}' in metrics
    assert '"extraction":"done"' in told
    assert "greyhound called Pixel" in told
    assert "Take the one at eight" in found


def test_smoke_test_is_fifteen_lines_and_passes_in_a_fresh_directory(empty: Shell) -> None:
    empty.ok("create", "--memory-only", "--name", "Smoke")
    project = Shell(empty.directory / "smoke", empty.home)
    [script] = blocks("smoke-test-in-ci.md", "sh")

    told = run(project, ["bash", "-eo", "pipefail", "-c", script], PYTHONUNBUFFERED="1")

    assert len(script.splitlines()) == 15
    assert "memory works" in told.splitlines()
    assert project.status()["state"] == "stopped"


def test_configuration_page_configures_a_server_that_is_reached_only_over_http(
    empty: Shell,
) -> None:
    first, more = blocks("configure-a-server-over-http.md", "sh")
    with remote(empty.directory) as (address, token):
        variables = {"URL": address, "TOKEN": token, "PROJECT": "local"}
        out = run(empty, ["bash", "-euc", first + more], **variables)

    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["applied"] for answer in answers if "applied" in answer] == [False, True]
    assert answers[6]["state"] == "ready"
    assert answers[6]["config"]["pending"] is False
    assert "the-key" not in out


def test_page_of_a_server_elsewhere_leads_from_its_start_to_a_found_memory(empty: Shell) -> None:
    of_operator, of_ana, of_program = blocks("work-with-a-server-elsewhere.md", "sh")
    empty.ok("create", "--memory-only", "--name", "Desk", "--dir", ".")
    (empty.directory / "conversations.jsonl").write_text(
        '{"session_id": "s", "user_id": "ana", "role": "user", "content": "I fly from Boston."}\n'
    )
    with remote(empty.directory) as (address, _):

        def typed(script: str, **variables: str) -> str:
            script = script.replace("https://memory.example.com", address)
            return run(empty, ["sh", "-euc", script], URL=address, ID="support-desk", **variables)

        [password] = re.findall(r"password: (\S+)", typed(of_operator))
        told = typed(of_ana, AGENTENGINE_PASSWORD=password)
        made = typed(of_program.splitlines()[0])
        account = dict(re.findall(r"(client_id|client_secret): (\S+)", made))
        variables = {f"AGENTENGINE_{name.upper()}": value for name, value in account.items()}
        again = typed(of_program.splitlines()[-1], **variables)

    assert "state: ready" in told
    assert "I fly from Boston." in told
    assert "already there: 1" in again


def test_archive_page_exports_imports_copies_and_erases(running: Shell) -> None:
    moving, copying, erasing = blocks("back-up-and-move.md", "sh")
    turns = running.directory / "conversations.jsonl"
    turns.write_text(
        '{"session_id": "s", "user_id": "ana", "role": "user", "content": "I fly from Boston."}\n'
    )
    running.ok("memory", "import", str(turns))

    moved = run(running, ["sh", "-c", moving])
    copied = run(running, ["sh", "-c", copying])
    erased = run(running, ["sh", "-c", erasing])

    assert "dry_run: yes" in moved
    assert "new: 0" in moved.splitlines()
    assert "integrity: ok" in copied
    assert "traces: none" in erased
    assert "0" in erased.splitlines()
    assert "erased: 2" in erased.splitlines()


def test_page_of_reviewing_keeps_exactly_what_was_approved(project: Shell) -> None:
    file = project.directory / "project-config.yaml"
    text = file.read_text(encoding="utf-8").replace("#approval: automatic", "approval: manual")
    file.write_text(text, encoding="utf-8")
    project.ok("memory", "configure", "--yes")
    project.ok("memory", "apply", "--wait")
    typed, over_http = blocks("review-before-remembering.md", "sh")

    told = run(project, ["sh", "-euc", typed])
    answers = run(project, ["sh", "-euc", over_http])

    *_, shown = told.partition("Facts (semantic): 2")
    assert "Bergen" in shown
    assert "allergic to hazelnuts" in shown
    assert "carpenter" not in shown
    assert "waiting: " in told
    assert '"state":"pending"' in answers
    assert "PROPOSAL_NOT_FOUND" in answers
    assert "NOT_AUTHENTICATED" in answers


@contextmanager
def remote(directory: Path) -> Iterator[tuple[str, str]]:
    """Start a server that no command of ours manages; yield its address and owner token."""
    data = directory / ".agentengine" / "data"
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_server", "--port", "0"],
        cwd=directory,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = next(line for line in process.stderr if line.startswith("memory server: "))
        yield said.split()[-1], (data / "owner-token").read_text()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
