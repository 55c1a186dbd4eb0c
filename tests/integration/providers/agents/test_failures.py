"""What an agent may do wrong; the server tells it and goes on."""

import asyncio
import logging
import os
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from memory_server.errors import AgentBusy, AgentEnded, AgentRaised, AgentUnloadable
from memory_server.providers.agents import process
from tests.integration.providers.agents.conftest import (
    KnownBadges,
    MakeAgent,
    a_call,
    answer_of,
)

SWITCH = """
    import os, sys, time
    def answer(message, invocation):
        if message == 'raise': raise ValueError('the password is hunter2')
        if message == 'exit': sys.exit(3)
        if message == 'die': os._exit(7)
        if message == 'kill': os.kill(os.getpid(), 9)
        if message == 'close': os.closerange(3, 64)
        return f'fine {os.getpid()}'
    """


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def other(message): ...\n", "the module demo has no answer"),
        ("answer = 'text'\n", "demo:answer is a str, not a callable"),
        ("def answer(a, b, c): ...\n", "cannot be called with"),
        ("def answer() -> str: ...\n", "cannot be called with"),
        ("def answer(\n", "SyntaxError"),
        ("import sys; sys.exit(3)\n", "SystemExit: 3"),
        ("import os; os._exit(5)\n", "ended with exit code 5"),
        ("import os; os.abort()\n", "ended by the signal SIGABRT"),
    ],
)
async def test_an_agent_that_cannot_be_loaded_says_why(
    make: MakeAgent, source: str, said: str
) -> None:
    agent = make(source)

    with pytest.raises(AgentUnloadable, match="demo:answer cannot be loaded") as caught:
        await answer_of(agent)

    assert said in str(caught.value)
    assert (agent.state.status, agent.state.problem) == ("failed", str(caught.value))


async def test_an_import_without_end_is_given_up(make: MakeAgent) -> None:
    agent = make("import time\ntime.sleep(3600)\n", load_seconds=0.5)

    with pytest.raises(AgentUnloadable, match=r"not loaded within 0\.5 seconds"):
        await answer_of(agent)


@pytest.mark.parametrize("settings", [{"python": "/no/python"}, {"directory": Path("/no/place")}])
async def test_a_process_that_cannot_be_started_is_told(
    make: MakeAgent, settings: dict[str, object]
) -> None:
    with pytest.raises(AgentUnloadable, match="no process could be started"):
        await answer_of(make("def answer(message): return ''", **settings))


async def test_an_exception_is_told_by_its_kind_and_its_words_stay_in_the_log(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make(SWITCH)

    with caplog.at_level(logging.INFO):
        with pytest.raises(AgentRaised) as caught:
            await answer_of(agent, a_call("raise"))
        after = await answer_of(agent)
        await agent.close()

    assert "ValueError" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "ValueError: the password is hunter2" in caplog.text
    assert after.startswith("fine")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("exit", "ended its own process"),
        ("die", "exit code 7"),
        ("kill", "SIGKILL"),
        ("close", "exit code 1"),
    ],
)
async def test_a_process_that_ends_is_told_and_another_takes_over(
    make: MakeAgent, message: str, said: str
) -> None:
    agent = make(SWITCH)
    first = await answer_of(agent)

    with pytest.raises(AgentEnded, match=said):
        await answer_of(agent, a_call(message))
    second = await answer_of(agent)

    assert second.startswith("fine")
    assert first != second


async def test_crashes_in_a_row_are_paused_for(make: MakeAgent) -> None:
    agent = make(SWITCH)
    for _ in range(2):
        with pytest.raises(AgentEnded):
            await answer_of(agent, a_call("die"))

    with pytest.raises(AgentEnded) as caught:
        await answer_of(agent)

    assert 0 < caught.value.details["retry_after"] <= 1


async def test_changed_files_are_tried_at_once_whatever_failed_before(make: MakeAgent) -> None:
    agent = make("import no_such_module\n")
    for _ in range(3):
        with pytest.raises(AgentUnloadable):
            await answer_of(agent)

    again = make("def answer(message): return 'mended'")

    assert await answer_of(agent) == "mended"
    assert again is not agent
    assert agent.state.status == "ready"


async def test_a_call_nobody_waits_for_is_ended_and_the_process_kept(make: MakeAgent) -> None:
    agent = make("""
        import asyncio, os
        ended = []
        async def answer(message, invocation):
            if message == 'ask':
                yield f'{os.getpid()} {ended}'
                return
            yield str(os.getpid())
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append('cleaned up')
        """)

    async with aclosing(agent.answer(a_call("wait"))) as events:
        pid = (await anext(events)).text
    after = await answer_of(agent, a_call("ask", execution_id="e2"))

    assert after == f"{pid} ['cleaned up']"


async def test_an_agent_that_does_not_stop_is_killed_with_all_it_started(
    make: MakeAgent, badges: KnownBadges
) -> None:
    agent = make("""
        import subprocess, sys, time
        def answer(message, invocation):
            child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])
            yield str(child.pid)
            while True:
                try:
                    time.sleep(3600)
                except BaseException:
                    pass
        """)

    async with aclosing(agent.answer(a_call())) as events:
        child = int((await anext(events)).text)

    assert not _is_alive(child)
    assert badges.out == []


async def test_cancelling_the_task_that_waits_ends_the_call(make: MakeAgent) -> None:
    agent = make("import time\ndef answer(message): time.sleep(3600)")
    waiting = asyncio.create_task(answer_of(agent))
    while not agent._busy:  # noqa: ASYNC110 a process is being started
        await asyncio.sleep(0.01)
    [busy] = agent._busy

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not _is_alive(busy.pid)


async def test_what_is_printed_is_logged_and_never_taken_for_an_answer(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make(r"""
        import os, sys
        def answer(message, invocation):
            print('{"kind": "done"}')
            os.write(1, b'\xff\xfe garbage \x00\x1b[31m\n')
            print('to stderr', file=sys.stderr)
            os.write(2, b'no end of line')
            return 'fine'
        """)

    with caplog.at_level(logging.INFO, logger="agent"):
        assert await answer_of(agent) == "fine"
        await agent.close()

    lines = [record.getMessage() for record in caplog.records if record.name == "agent"]
    assert lines == [
        '{"kind": "done"}',
        r"\xff\xfe garbage \x00\x1b[31m",
        "to stderr",
        "no end of line",
    ]


async def test_keys_are_taken_out_of_what_is_printed(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make(
        """
        import os
        def answer(message, invocation):
            print('key', os.environ['LLM_API_KEY'])
            print('badge', os.environ['AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN'])
            print(os.environ['PEM'])
            return 'fine'
        """,
        environment={"LLM_API_KEY": "sk-very-secret", "PEM": "BEGIN-OF-PEM\nMIDDLE-OF-PEM"},
    )

    with caplog.at_level(logging.INFO, logger="agent"):
        await answer_of(agent)
        await agent.close()

    assert [r.getMessage() for r in caplog.records if r.name == "agent"] == [
        "key [LLM_API_KEY]",
        "badge [token of the execution]",
        "[PEM]",
        "[PEM]",
    ]


async def test_a_key_at_the_end_of_what_is_kept_of_a_line_is_not_torn(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make(
        """
        import os
        def answer(message, invocation):
            for ahead in range(131_000, 131_100):
                os.write(1, b'x' * ahead + os.environ['LLM_API_KEY'].encode() + b'\\n')
            return 'fine'
        """,
        environment={"LLM_API_KEY": "0123456789" * 10},
    )

    with caplog.at_level(logging.INFO, logger="agent"):
        await answer_of(agent)
        await agent.close()

    printed = [r for r in caplog.records if r.name == "agent" and r.levelname == "INFO"]
    assert len(printed) > 60
    assert {record.getMessage().strip("x") for record in printed} == {"... (cut)"}


async def test_a_flood_of_prints_is_bounded_in_the_log_and_blocks_nobody(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make("""
        import os
        def answer(message, invocation):
            for _ in range(200):
                os.write(1, b'x' * 99 + b'\\n' + (b'y' * 9999 + b'\\n') * 5)
            os.write(1, b'z' * 1_000_000)
            return 'fine'
        """)

    with caplog.at_level(logging.INFO, logger="agent"):
        assert await answer_of(agent) == "fine"
        await agent.close()

    logged = sum(len(r.getMessage()) for r in caplog.records if r.name == "agent")
    assert logged < 300_000
    assert "lines more, not kept here" in caplog.text


async def test_lines_without_number_are_counted_and_not_kept(
    make: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make("def answer(message):\n    print('x\\n' * 2000, end='')\n    return 'fine'")

    with caplog.at_level(logging.INFO, logger="agent"):
        await answer_of(agent)
        await agent.close()

    printed = [r for r in caplog.records if r.name == "agent" and r.levelname == "INFO"]
    assert len(printed) == 500
    assert "printed 1500 lines more, not kept here" in caplog.text


async def test_garbage_in_the_channel_ends_the_process(make: MakeAgent) -> None:
    agent = make("""
        import os, stat
        def answer(message, invocation):
            for number in range(3, 64):
                try:
                    if stat.S_ISSOCK(os.fstat(number).st_mode):
                        os.write(number, b'\\xff' * 64)
                except OSError:
                    pass
            return 'fine'
        """)

    with pytest.raises(AgentEnded):
        await answer_of(agent)


async def test_calls_run_side_by_side_up_to_a_number_and_the_others_wait(
    make: MakeAgent,
) -> None:
    agent = make("import os\ndef answer(message): return str(os.getpid())", most_processes=2)

    pids = await asyncio.gather(
        *(answer_of(agent, a_call(execution_id=f"e{number}")) for number in range(8))
    )

    assert 1 <= len(set(pids)) <= 2


async def test_waiting_for_a_process_has_an_end(make: MakeAgent) -> None:
    agent = make(
        "import time\ndef answer(message):\n    yield 'begun'\n    time.sleep(3600)",
        most_processes=1,
        wait_seconds=0.01,
    )

    async with aclosing(agent.answer(a_call())) as events:
        await anext(events)
        with pytest.raises(AgentBusy, match="became free"):
            await answer_of(agent, a_call(execution_id="e2"))


async def test_an_idle_process_that_died_is_replaced(make: MakeAgent) -> None:
    agent = make(SWITCH)
    first = await answer_of(agent)
    [idle] = agent._idle
    os.kill(idle.pid, 9)
    await idle._process.wait()

    assert await answer_of(agent) != first


async def test_closing_ends_every_process(make: MakeAgent, badges: KnownBadges) -> None:
    agent = make(SWITCH)
    pid = int((await answer_of(agent)).split()[1])

    await agent.close()

    assert not _is_alive(pid)
    assert badges.out == []


async def test_the_first_process_is_started_ahead(make: MakeAgent) -> None:
    agent = make(SWITCH)

    await agent.start()
    assert agent._warming is not None
    await agent._warming

    assert (agent.state.status, len(agent._idle)) == ("ready", 1)


def test_the_grace_is_short() -> None:
    assert process.GRACE_SECONDS <= 2


def _is_alive(pid: int) -> bool:
    """Whether a process that was killed is still there long after."""
    try:
        found = psutil.Process(pid)
        if found.status() != psutil.STATUS_ZOMBIE:
            found.wait(timeout=180)
    except psutil.NoSuchProcess:
        return False
    except psutil.TimeoutExpired:
        return True
    return False
