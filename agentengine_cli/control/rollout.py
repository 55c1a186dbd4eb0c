"""Replaces the running server by one with another configuration, or puts the old one back.

The store admits one server at a time, so the old one has to end before the new one can start.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentengine_cli.control import addresses
from agentengine_cli.control.environment import KeySources
from agentengine_cli.control.log import last_lines
from agentengine_cli.control.server import Outcome, Report, Server, describe
from agentengine_cli.control.state import Delivery, ServerRecord
from agentengine_cli.control.status import State, Status
from agentengine_cli.errors import CliError

RESTORE_SECONDS = 30.0
BLOCKED_SECONDS = 60.0
"""How long a blocked server is kept in the place of one that was ready."""
PORT_RACES = 3
"""How often another port is chosen when a program takes the chosen one before our server does."""
LOG_HINT = "See its log: agentengine dev logs --no-follow"


class StartFailed(CliError):
    """The server ended, or stayed blocked, after it was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One replacement; expects the operation lock to be held."""

    server: Server
    before: Status
    """What ran until now."""
    previous: Delivery | None
    """What it ran with."""
    sources: KeySources
    report: Report

    def run(self, delivery: Delivery, *, port: Callable[[], int], seconds: float) -> Outcome:
        """Start a server with the delivery and watch it.

        Raises `StartFailed` when it ends, or when it is still blocked at the end of the time
        while a ready server with another configuration was given up for it. The old server is
        then started again, and the old configuration is the delivered one as before. `port` is
        asked once the old server has given its own back.
        """
        record = self._replace(delivery, port)
        better = self._gave_up_better(delivery)
        blocked_seconds = BLOCKED_SECONDS if better else math.inf
        outcome = self._watch(record, seconds, blocked_seconds)
        for _ in range(PORT_RACES):
            if not outcome.lost_its_port:
                break
            record = self._start(delivery, port)
            outcome = self._watch(record, seconds, blocked_seconds)
        if not outcome.is_alive:
            raise StartFailed(self._died(outcome) + self._restore(delivery), hint=LOG_HINT)
        if outcome.answer.status == "blocked" and better:
            self.server.stop(record)
            reason = f"The memory server does not become ready: {describe(outcome.answer)}."
            raise StartFailed(reason + self._restore(delivery), hint=LOG_HINT)
        return outcome

    def _replace(self, delivery: Delivery, port: Callable[[], int]) -> ServerRecord:
        """End the old server and start the new one, or leave things as they were."""
        # First, because a full disk must not cost the running server.
        self.server.state.deliver(delivery)
        try:
            self._end_old()
        except CliError as error:
            raise StartFailed(f"{error}.{self._restore(delivery)}", hint=error.hint) from error
        return self._start(delivery, port)

    def _start(self, delivery: Delivery, port: Callable[[], int]) -> ServerRecord:
        try:
            return self.server.start(delivery, port=port(), sources=self.sources)
        except CliError as error:
            raise StartFailed(f"{error}.{self._restore(delivery)}", hint=error.hint) from error

    def _watch(self, record: ServerRecord, seconds: float, blocked_seconds: float) -> Outcome:
        return self.server.watch(
            record, seconds=seconds, report=self.report, blocked_seconds=blocked_seconds
        )

    def _end_old(self) -> None:
        if self.before.record and self.before.state.is_running:
            self.report("stopping the running server")
            self.server.stop(self.before.record)

    def _gave_up_better(self, delivery: Delivery) -> bool:
        was_ready = self.before.state is State.READY
        return was_ready and self.previous is not None and _differ(self.previous, delivery)

    def _restore(self, delivery: Delivery) -> str:
        """Put back what was there as far as possible, and say how far that was."""
        try:
            return self._put_back(delivery)
        except CliError as error:
            return f" The previous state could not be restored: {error}"

    def _put_back(self, delivery: Delivery) -> str:
        if self.previous is None:
            self.server.state.withdraw()
            return " The configuration stays pending"
        self.server.state.deliver(self.previous)
        old = self.before.record
        if old is None or not self.before.state.is_running:
            return " The configuration stays pending" if _differ(self.previous, delivery) else ""
        if old.process.is_running:
            return " The running server was left alone; the new configuration stays pending"
        self.report("starting the previous configuration again")
        port = addresses.choose(pinned=None, recorded=old.port)
        record = self.server.start(self.previous, port=port, sources=self.sources)
        outcome = self.server.watch(record, seconds=RESTORE_SECONDS, report=self.report)
        return _restored(record, outcome)

    def _died(self, outcome: Outcome) -> str:
        return f"The memory server ended right after its start{ending(self.server, outcome)}."


def ending(server: Server, outcome: Outcome) -> str:
    """Say how a server that is gone went: its exit code and its last words."""
    code = f" (exit code {outcome.exit_code})" if outcome.exit_code is not None else ""
    words: Sequence[str] = [line for line in _own_lines(server, outcome) if line.strip()]
    return f"{code}: {words[-1].strip()}" if words else code


def _own_lines(server: Server, outcome: Outcome) -> Sequence[str]:
    return last_lines(server.state.log, 3, start=outcome.record.log_offset)


def _differ(old: Delivery, new: Delivery) -> bool:
    return old.digest != new.digest or old.local_models != new.local_models


def _restored(record: ServerRecord, outcome: Outcome) -> str:
    if not outcome.is_alive:
        return " The previous configuration could not be started again either"
    state = "" if outcome.is_ready else f", {describe(outcome.answer)}"
    return (
        f" The previous configuration runs again at {record.url}{state}; the new one stays pending"
    )
