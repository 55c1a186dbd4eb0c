"""The official JavaScript SDK against our server, for those who have it.

No test leaves this machine unasked: the environment variable `JAVASCRIPT_SDK` names a directory
whose `node_modules` hold the package, or is `npm`, to have it installed from there.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT
from tests.wire.conftest import Served

PACKAGE = "@mongodb-js/agent-engine-sdk-memory"
DRIVER = Path(__file__).parent / "javascript" / "drive.mjs"
CHECKS = DRIVER.read_text(encoding="utf-8").count("\ncheck(")
"""How many checks the driver has at the least; those in loops are more."""
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "use-the-javascript-sdk.md"


def run(*command: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory where the driver finds the SDK."""
    source = os.environ.get("JAVASCRIPT_SDK", "")
    if not source:
        pytest.skip("JAVASCRIPT_SDK does not say where the JavaScript SDK is: a directory, or npm")
    if shutil.which("node") is None:
        pytest.skip("needs node")
    directory = tmp_path_factory.mktemp("javascript")
    shutil.copy(DRIVER, directory)
    if source == "npm":
        install(directory)
    else:
        (directory / "node_modules").symlink_to(Path(source).resolve() / "node_modules")
    return directory


def install(directory: Path) -> None:
    """Install the SDK, or skip if npm does not serve it."""
    if run("npm", "view", PACKAGE, "version", cwd=directory).returncode != 0:
        pytest.skip(f"npm does not serve {PACKAGE}")
    (directory / "package.json").write_text('{"private": true}')
    done = run("npm", "install", "--ignore-scripts", PACKAGE, cwd=directory)
    assert done.returncode == 0, done.stderr


def service_account_token(url: str) -> str:
    accounts = f"{url}/api/v1/projects/{PROJECT}/service-accounts"
    made = httpx.post(
        accounts,
        json={"name": "javascript", "roles": ["AGENT_DEVELOPER"]},
        headers={"Authorization": f"Bearer {OWNER_TOKEN}"},
        trust_env=False,
    ).json()
    credentials = (made["service_account"]["client_id"], made["client_secret"])
    grant = {"grant_type": "client_credentials"}
    answer = httpx.post(
        f"{url}/api/v1/oauth/token", data=grant, auth=credentials, trust_env=False
    ).json()
    return str(answer["access_token"])


@pytest.mark.parametrize("mode", ["flat", "project"])
def test_every_method_of_the_javascript_sdk(served: Served, workshop: Path, mode: str) -> None:
    target: dict[str, Any] = {"baseUrl": served.url}
    if mode == "project":
        token = service_account_token(served.url)
        target |= {"projectId": PROJECT, "serviceAccountToken": token}

    done = run("node", "drive.mjs", json.dumps(target), cwd=workshop)

    assert done.returncode == 0, done.stderr
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    failed = {check["check"]: check["error"] for check in checks if check["error"] is not None}
    assert not failed, json.dumps(failed, indent=1, ensure_ascii=False)
    assert len(checks) >= CHECKS


def test_the_page_about_it_runs_as_it_stands(served: Served, workshop: Path) -> None:
    [example] = re.findall(r"```js\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = example.replace("http://127.0.0.1:8080", served.url)
    (workshop / "page.mjs").write_text(code, encoding="utf-8")

    done = run("node", "page.mjs", cwd=workshop)

    assert done.returncode == 0, done.stderr
    assert "[ 'Ana prefers an aisle seat.' ]" in done.stdout
