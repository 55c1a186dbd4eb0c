"""Errors of invoking agents."""

from memory_server.errors.root import Conflict, MemoryServerError, NotFound


class ExecutionNotFound(NotFound):
    """No execution of that project and caller has that id, or it is forgotten."""

    code = "EXECUTION_NOT_FOUND"


class ExecutionCancelled(Conflict):
    """The execution was cancelled."""

    code = "EXECUTION_CANCELLED"


class NotSuspended(Conflict):
    """The execution is not suspended, so that it can be neither resumed nor interrupted."""

    code = "NOT_SUSPENDED"


class AgentError(MemoryServerError):
    """The agent failed."""

    code = "AGENT_FAILED"


class AgentUnloadable(AgentError):
    """The agent's entrypoint cannot be loaded."""

    code = "AGENT_UNLOADABLE"


class AgentRaised(AgentError):
    """The agent's code raised an exception."""

    code = "AGENT_RAISED"


class AgentEnded(AgentError):
    """The agent's process ended in the middle of an answer."""

    code = "AGENT_ENDED"


class AgentTimedOut(AgentError):
    """The agent did not answer in time and was stopped."""

    code = "AGENT_TIMEOUT"


class WrongAgentAnswer(AgentError):
    """The agent gave something that is no answer."""

    code = "WRONG_AGENT_ANSWER"


class AgentAnswerTooLong(AgentError):
    """The agent's answer is longer than the documented limit."""

    code = "AGENT_ANSWER_TOO_LONG"


class AgentBusy(AgentError):
    """Too many invocations wait for the agent."""

    code = "AGENT_BUSY"
    retryable = True
