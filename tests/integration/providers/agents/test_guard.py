"""What an agent starts ends with it, however it was started and however the agent ends."""

import asyncio
from contextlib import aclosing

import psutil
import pytest

from memory_server.errors import AgentEnded, AgentRaised
from tests.integration.providers.agents.conftest import MakeAgent, a_call, answer_of

STARTER = """
    import os, subprocess, sys, threading, time

    SLEEP = [sys.executable, '-c', 'import time; time.sleep(3600)']

    def start(how):
        if how == 'child':
            return subprocess.Popen(SLEEP).pid
        if how == 'session':
            return subprocess.Popen(SLEEP, start_new_session=True).pid
        told, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            daemon = os.fork()
            if daemon == 0:
                os.execv(SLEEP[0], SLEEP)
            os.write(tell, str(daemon).encode())
            os._exit(0)
        os.wait()
        return int(os.read(told, 32))

    def answer(message, invocation):
        how, _, then = message.partition(' ')
        yield str(start(how))
        if then == 'die':
            os._exit(0)
        if then == 'hang':
            time.sleep(3600)
    """
WAYS = pytest.mark.parametrize("how", ["child", "session", "daemon"])


@WAYS
async def test_what_an_agent_started_ends_when_it_is_closed(make: MakeAgent, how: str) -> None:
    agent = make(STARTER)
    started = psutil.Process(int(await answer_of(agent, a_call(how))))

    await agent.close()

    assert not started.is_running()


@WAYS
async def test_what_an_agent_started_ends_when_it_dies(make: MakeAgent, how: str) -> None:
    agent = make(STARTER)

    async with aclosing(agent.answer(a_call(f"{how} die"))) as events:
        started = psutil.Process(int((await anext(events)).text))
        with pytest.raises(AgentEnded, match="exit code 0"):
            await anext(events)

    assert not started.is_running()


@WAYS
async def test_what_an_agent_started_ends_when_nobody_waits(make: MakeAgent, how: str) -> None:
    agent = make(STARTER)

    async with aclosing(agent.answer(a_call(f"{how} hang"))) as events:
        started = psutil.Process(int((await anext(events)).text))

    assert not started.is_running()


@WAYS
async def test_what_an_agent_started_lives_between_its_calls(make: MakeAgent, how: str) -> None:
    agent = make(STARTER)
    started = psutil.Process(int(await answer_of(agent, a_call(how))))

    await answer_of(agent, a_call("child", execution_id="e2"))

    assert started.is_running()


async def test_a_guard_that_is_ended_ends_the_agent(make: MakeAgent) -> None:
    agent = make(STARTER)
    started = psutil.Process(int(await answer_of(agent, a_call("daemon"))))
    [idle] = agent._idle

    psutil.Process(idle.pid).terminate()

    assert psutil.wait_procs([started], timeout=180)[1] == []


async def test_a_copy_of_the_agent_says_nothing_to_the_server(make: MakeAgent) -> None:
    agent = make("""
        import os
        def answer(message, invocation):
            copy = os.fork()
            if copy == 0:
                return 'from the copy'
            os.waitpid(copy, 0)
            return 'from the agent'
        """)

    told = [await answer_of(agent, a_call(execution_id=f"e{number}")) for number in range(3)]

    assert told == ["from the agent"] * 3


@pytest.mark.parametrize(
    ("source", "error"),
    [
        pytest.param("import builtins; builtins.str = None; return ''", AgentEnded, id="broken"),
        pytest.param("import sys; sys.exit(0)", AgentEnded, id="exit"),
        pytest.param("raise BaseException", AgentRaised, id="raised"),
    ],
)
async def test_threads_that_are_left_keep_no_call_waiting(
    make: MakeAgent, source: str, error: type[Exception]
) -> None:
    agent = make(f"""
        import threading, time
        def answer(message, invocation):
            threading.Thread(target=time.sleep, args=(3600,)).start()
            {source}
        """)

    with pytest.raises(error):
        async with asyncio.timeout(180):
            await answer_of(agent)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import sys; sys.stderr.close()", id="stderr closed"),
        pytest.param("import sys; sys.stderr = sys.stdout = None", id="no stderr"),
        pytest.param("import json; json.dumps = json.loads = None", id="json replaced"),
        pytest.param("import os; os.chdir('/')", id="elsewhere"),
    ],
)
async def test_an_exception_is_told_whatever_the_agent_did_to_its_process(
    make: MakeAgent, source: str
) -> None:
    agent = make(f"def answer(message):\n    {source}\n    raise ValueError")

    with pytest.raises(AgentRaised, match="ValueError"):
        await answer_of(agent)


async def test_an_exception_that_cannot_be_shown_is_told_by_its_kind(make: MakeAgent) -> None:
    agent = make("""
        class Odd(Exception):
            def __str__(self):
                raise SystemExit
        def answer(message):
            raise Odd
        """)

    with pytest.raises(AgentRaised, match="Odd"):
        await answer_of(agent)
