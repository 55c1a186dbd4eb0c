import pytest

from agentengine_cli.errors import CliError, ExitCode, Refused, ServerNotRunning, explain
from memory_server import errors as server
from memory_server.client import ServerTimeout, ServerUnreachable

CASES = [
    pytest.param(CliError("no"), "FAILED", id="own"),
    pytest.param(Refused("no"), "REFUSED", id="named"),
    pytest.param(server.RateLimited(), "RATE_LIMITED", id="server"),
    pytest.param(server.MemoryServerError("x", code="AGENT_GONE"), "AGENT_GONE", id="unknown-code"),
    pytest.param(ServerUnreachable("http://x"), "SERVER_NOT_RUNNING", id="unreachable"),
    pytest.param(ServerTimeout("http://x"), "TIMEOUT", id="timeout"),
    pytest.param(FileNotFoundError(2, "No such file", "f"), "FILE_NOT_FOUND_ERROR", id="file"),
]


@pytest.mark.parametrize(("error", "code"), CASES)
def test_an_expected_failure_keeps_its_code(error: Exception, code: str) -> None:
    told = explain(error)

    assert told is not None
    assert (told.code, told.exit_code) == (code, ExitCode.FAILED)


def test_a_defect_is_nobodys_expected_failure() -> None:
    assert explain(ZeroDivisionError()) is None


def test_an_unreachable_server_is_told_with_what_starts_it() -> None:
    told = explain(ServerUnreachable("http://127.0.0.1:1"))

    assert isinstance(told, ServerNotRunning)
    assert str(told) == "The memory server does not answer at http://127.0.0.1:1"
    assert told.hint == "agentengine memory apply --wait"


def test_every_problem_of_a_configuration_is_told() -> None:
    told = explain(server.InvalidProjectConfig("two problems", problems=["a: no", "b: no"]))

    assert told is not None
    assert told.problems == ("a: no", "b: no")


def test_every_field_of_an_invalid_request_is_told() -> None:
    entries = [{"loc": ["body", "top_k"], "msg": "at most 100"}]

    told = explain(server.InvalidRequest("no", errors=entries, request_id="r1", status=422))

    assert told is not None
    assert told.problems == ("top_k: at most 100",)
    assert told.hint is None, "the answer has said it all"


def test_the_log_is_named_for_a_fault_of_the_server() -> None:
    told = explain(server.MemoryServerError("no", request_id="r1", status=500))

    assert told is not None
    assert "under request r1" in (told.hint or "")


def test_a_full_path_is_named_with_an_error_of_the_system() -> None:
    told = explain(PermissionError(13, "Permission denied", "/etc/shadow"))

    assert str(told) == "/etc/shadow: Permission denied"
