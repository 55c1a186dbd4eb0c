"""A conversation on the terminal."""

import json
from collections.abc import Mapping
from typing import Any

from agentengine_cli.agent import Conversation
from agentengine_cli.context import run
from agentengine_cli.remote_errors import explain_at

COMMANDS = "/payload JSON, /payload clear, /resume, /quit"
PROMPT = "> "


def talk(conversation: Conversation) -> None:
    """Talk until the user has had enough; a failed answer does not end it."""
    output = conversation.output
    output.note(f"Talk to the agent. {COMMANDS}; Ctrl-D ends it.")
    while True:
        try:
            line = output.ask(PROMPT).strip()
        except EOFError:
            output.note("")
            return
        if line == "/quit":
            return
        if line.startswith("/"):
            output.note(_obeyed(line, conversation))
        elif line:
            _answer(line, conversation)


def _answer(line: str, conversation: Conversation) -> None:
    output = conversation.output
    try:
        run(conversation.ask(line, streamed=True))
        output.result("")
    except KeyboardInterrupt:
        output.note("\nStopped")
    except Exception as error:
        told = explain_at(error, conversation.server)
        if told is None:
            raise
        output.error(told)


def _obeyed(line: str, conversation: Conversation) -> str:
    """Do what a line that begins with a slash asks, and return what to say about it."""
    command, _, argument = line.partition(" ")
    if command == "/resume":
        return "There is nothing to resume: the built-in agent never suspends"
    if command != "/payload":
        return f"There is {COMMANDS}"
    try:
        return _payload(argument.strip(), conversation)
    except ValueError as error:
        return f"Not a payload: {error}"


def _payload(argument: str, conversation: Conversation) -> str:
    if argument == "clear":
        conversation.payload = None
        return "No payload"
    if argument:
        conversation.payload = parse_payload(argument)
        return "The payload goes with every message from now on"
    shown = json.dumps(conversation.payload) if conversation.payload is not None else "none"
    return f"Payload: {shown}"


def parse_payload(text: str) -> Mapping[str, Any]:
    """Return the JSON object; raise `ValueError` saying what else it is."""
    try:
        payload = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    if not isinstance(payload, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004 - one kind for the caller
    return payload
