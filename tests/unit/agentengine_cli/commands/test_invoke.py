import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from agentengine_cli.context import CliContext
from agentengine_cli.main import main
from agentengine_cli.output import Output
from tests.unit.agentengine_cli.conftest import Cli, Ran, Terminal
from tests.unit.agentengine_cli.stand_in import CLIENT_ID, OWNER_TOKEN, SECRET, StandIn

AS_ANA = ("--user-id", "ana")
OVERRIDDEN = "identity ae_sa_id_1 is used; user_id ana is ignored"
ACCOUNT = {"AGENTENGINE_CLIENT_ID": CLIENT_ID, "AGENTENGINE_CLIENT_SECRET": SECRET}


def test_the_answer_goes_to_stdout_and_its_session_to_stderr(cli: Cli, stack: Path) -> None:
    ran = cli("invoke", "Hello", *AS_ANA)

    assert (ran.code, ran.out) == (0, "You said Hello\n")
    assert ran.err == "Session: made-up\n"


def test_as_json_the_answer_is_one_document(cli: Cli, stack: Path) -> None:
    ran = cli("invoke", "Hello", "--session", "s1", "--json", *AS_ANA)

    assert (ran.json["response"], ran.json["session_id"]) == ("You said Hello", "s1")
    assert ran.err == ""


def test_everything_that_is_said_reaches_the_server(cli: Cli, stack: Path, server: StandIn) -> None:
    cli("invoke", "Hello", "--payload", '{"a": 1}', "--session", "s1", *AS_ANA)

    said = {"message": "Hello", "payload": {"a": 1}, "user_id": "ana", "session_id": "s1"}
    assert server.bodies == [said]
    assert server.seen[-1][2] == f"Bearer {OWNER_TOKEN}"


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        pytest.param(("--file", "said.txt"), b"", id="file"),
        pytest.param(("-",), "Zoë".encode(), id="dash"),
        pytest.param((), "Zoë\n".encode(), id="pipe"),
    ],
)
def test_a_message_may_come_from_a_file_or_standard_input(
    cli: Cli, stack: Path, arguments: tuple[str, ...], stdin: bytes
) -> None:
    (stack / "said.txt").write_bytes("\ufeffZoë\n".encode())

    assert cli("invoke", *arguments, *AS_ANA, stdin=stdin).out == "You said Zoë\n"


@pytest.mark.parametrize("stdin", [b"", b"not to be read"])
def test_a_payload_without_a_message_is_what_is_said(
    cli: Cli, stack: Path, server: StandIn, stdin: bytes
) -> None:
    ran = cli("invoke", "--payload", '{"a": 1}', *AS_ANA, stdin=stdin)

    assert ran.code == 0
    assert server.bodies == [{"message": '{"a": 1}', "payload": {"a": 1}, "user_id": "ana"}]


def test_standard_input_is_read_beside_a_payload_when_it_is_asked_for(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    cli("invoke", "-", "--payload", '{"a": 1}', *AS_ANA, stdin=b"Hello")

    assert (server.bodies[0]["message"], server.bodies[0]["payload"]) == ("Hello", {"a": 1})


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(("Hi",), "Nobody is named whose memory this is", id="nobody"),
        pytest.param(("Hi", "--file", "f", *AS_ANA), "exclude each other", id="two-messages"),
        pytest.param((*AS_ANA,), "There is nothing to say", id="empty-stdin"),
        pytest.param(("Hi", "--resume", *AS_ANA), "--resume needs --session", id="resume"),
        pytest.param(
            ("Hi", "--resume", "--session", "s", *AS_ANA), "--resume excludes", id="resume-said"
        ),
        pytest.param(("Hi", "--payload", "[]", *AS_ANA), "expected a JSON object", id="payload"),
        pytest.param(("Hi", "--payload", "{", *AS_ANA), "--payload: not JSON", id="payload-json"),
        pytest.param(("--payload", "{", *AS_ANA), "--payload: not JSON", id="only-payload-json"),
        pytest.param(("--payload", "1", *AS_ANA), "expected a JSON object", id="only-payload"),
        pytest.param(("Hi", "--session", "a b", *AS_ANA), "--session: 1 to 128", id="session"),
        pytest.param(("Hi", "--timeout", "10", *AS_ANA), "is not a span of time", id="timeout"),
        pytest.param(("Hi", "--client-secret-stdin", *AS_ANA), "is empty", id="secret"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage_and_asks_nobody(
    cli: Cli, stack: Path, server: StandIn, arguments: tuple[str, ...], reason: str
) -> None:
    ran = cli("invoke", *arguments)

    assert (ran.code, server.seen) == (2, [])
    assert reason in ran.err


def test_a_streamed_answer_is_written_as_it_comes(cli: Cli, stack: Path) -> None:
    ran = cli("invoke", "Hello", "--stream", "-v", *AS_ANA)

    assert ran.out == "You said it\n"
    assert "step: searching" in ran.err


def test_a_streamed_answer_as_json_is_still_one_document(cli: Cli, stack: Path) -> None:
    ran = cli("invoke", "Hello", "--stream", "--json", *AS_ANA)

    assert (ran.json["response"], ran.json["session_id"]) == ("You said it", "made-up")


def test_an_error_within_a_stream_fails_the_command(cli: Cli, stack: Path, server: StandIn) -> None:
    failed = {"chunk_type": "error", "content": "no model", "metadata": {"code": "KEY_REJECTED"}}
    server.frames = [{"chunk_type": "text", "content": "You"}, failed]

    ran = cli("invoke", "Hello", "--stream", "--json", *AS_ANA)

    assert (ran.code, ran.out) == (1, "")
    assert (ran.error["code"], ran.error["message"]) == ("KEY_REJECTED", "no model")


def test_a_stream_that_breaks_off_is_a_failure(cli: Cli, stack: Path, server: StandIn) -> None:
    server.frames = [{"chunk_type": "text", "content": "You"}]

    ran = cli("invoke", "Hello", "--stream", *AS_ANA)

    assert ran.code == 1
    assert "broke off" in ran.err


def test_a_service_account_speaks_with_a_token_of_its_own(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    ran = cli("invoke", "Hello", environ=ACCOUNT)

    assert ran.code == 0
    assert server.seen[-1][2] == "Bearer token-1"


def test_its_secret_may_be_piped_in(cli: Cli, stack: Path, server: StandIn) -> None:
    who = ("--service-account", CLIENT_ID, "--client-secret-stdin")

    assert cli("invoke", "Hello", *who, stdin=f"{SECRET}\n".encode()).code == 0
    assert server.bodies[0]["client_secret"] == SECRET


def test_an_account_without_a_secret_is_told_where_it_was_looked_for(cli: Cli, stack: Path) -> None:
    ran = cli("invoke", "Hello", "--service-account", CLIENT_ID)

    assert ran.code == 1
    assert "AGENTENGINE_CLIENT_SECRET" in ran.err


def test_a_wrong_secret_is_refused_without_being_shown(cli: Cli, stack: Path) -> None:
    ran = cli(
        "invoke", "Hello", environ=ACCOUNT | {"AGENTENGINE_CLIENT_SECRET": "ae_sa_sk_wrong-one"}
    )

    assert ran.code == 1
    assert "ae_sa_sk_wrong-one" not in ran.err


def test_that_a_user_id_was_overridden_is_told_on_stderr_in_json_and_in_the_log(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.warnings = [OVERRIDDEN]

    ran = cli("invoke", "Hello", *AS_ANA, "--json", environ=ACCOUNT)

    assert ran.json["warnings"] == [OVERRIDDEN]
    assert ran.err == f"Warning: {OVERRIDDEN}\n"
    assert OVERRIDDEN in (stack / "state/agentengine/agentengine.log").read_text()


@pytest.fixture
def talk(
    stack: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Sit at a terminal and type lines."""

    def run(
        *typed: str, arguments: tuple[str, ...] = AS_ANA, environ: Mapping[str, str] = {}
    ) -> Ran:
        lines: Iterator[str] = iter(typed)

        def ask(self: Output, prompt: str) -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(Output, "ask", ask)
        monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO()))
        code = main(["invoke", *arguments], {"HOME": str(stack), **environ})
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


def test_a_conversation_stays_in_one_session(talk: Callable[..., Ran], server: StandIn) -> None:
    ran = talk("Hello", "Again")

    assert (ran.code, ran.out) == (0, "You said it\nYou said it\n")
    assert [body.get("session_id") for body in server.bodies] == [None, "made-up"]


def test_a_payload_goes_with_every_message_until_it_is_cleared(
    talk: Callable[..., Ran], server: StandIn
) -> None:
    talk('/payload {"a": 1}', "one", "two", "/payload clear", "three", "/quit", "four")

    assert [body.get("payload") for body in server.bodies] == [{"a": 1}, {"a": 1}, None]


def test_an_unknown_slash_command_is_not_said_to_the_agent(
    talk: Callable[..., Ran], server: StandIn
) -> None:
    ran = talk("/paylod {}", "/payload {", "/resume")

    assert server.seen == []
    assert "/payload JSON, /payload clear" in ran.err
    assert "Not a payload: not JSON" in ran.err


def test_a_failed_answer_does_not_end_the_conversation(
    talk: Callable[..., Ran], server: StandIn
) -> None:
    server.frames = [{"chunk_type": "error", "content": "no model"}]

    ran = talk("one", "two")

    assert ran.code == 0
    assert ran.err.count("Error: no model") == 2


def test_an_expired_token_is_renewed_within_a_conversation(
    talk: Callable[..., Ran], server: StandIn
) -> None:
    server.expired = {"Bearer token-1", "token-1"}

    ran = talk("one", "two", arguments=(), environ=ACCOUNT)

    assert (ran.code, ran.out) == (0, "You said it\nYou said it\n")
    assert server.tokens == 2


def test_a_conversation_cannot_be_json(talk: Callable[..., Ran]) -> None:
    assert talk(arguments=(*AS_ANA, "--json")).code == 2


def test_the_context_never_shows_the_environment() -> None:
    assert SECRET not in repr(CliContext(output=Output(), environ=ACCOUNT))
