"""What the server and an agent's process say to each other: JSON objects with their length ahead.

The server says `call` and `cancel`; the process says `ready` or `unloadable` once, and for each
call any number of `event`, then `done` or `failed`. Both name the execution.
"""

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

HEAD = struct.Struct(">I")
"""The length of what follows, in bytes."""
LARGEST_CALL = 64 * 1024 * 1024
"""Bytes of a frame to the agent: a request body, and what is remembered for it."""
LARGEST_REPLY = 1024 * 1024
"""Bytes of a frame from the agent."""

READY = "ready"
UNLOADABLE = "unloadable"
CALL = "call"
CANCEL = "cancel"
EVENT = "event"
DONE = "done"
FAILED = "failed"

TEXT = "text"
STEPS = ("step", "subagent_start", "subagent_end")
"""The events beside text that an agent may tell of."""

PIECE_CHARACTERS = 64 * 1024
"""Longer pieces of text travel in several frames."""
ANSWER_BYTES = 256 * 1024
"""The longest answer, in bytes of UTF-8: what one turn of a conversation may hold."""
STEP_BYTES = 64 * 1024
"""The longest step event: its text and its metadata as JSON."""


# Ours, whatever the agent makes of the module that everybody uses.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode


class BadFrame(Exception):
    """The other side does not keep to the form."""


def encode(frame: Mapping[str, Any]) -> bytes:
    """Return a frame as it travels: halves of characters become question marks."""
    body = _encode(frame).encode("utf-8", "replace")
    return HEAD.pack(len(body)) + body


def length(head: bytes, *, largest: int) -> int:
    """Return how many bytes follow; raises `BadFrame` if they are too many."""
    (size,) = HEAD.unpack(head)
    if size > largest:
        raise BadFrame(f"a frame of {size} bytes; {largest} at most")
    return int(size)


def decode(body: bytes) -> dict[str, Any]:
    """Return a frame; raises `BadFrame` for what is none."""
    try:
        frame = _decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFrame("a frame that is not JSON") from error
    if not isinstance(frame, dict) or not isinstance(frame.get("kind"), str):
        raise BadFrame("a frame without a kind")
    return frame


def receive(channel: socket.socket) -> dict[str, Any] | None:
    """Wait for the next frame from the server; None when the server is gone."""
    head = _exactly(channel, HEAD.size)
    if head is None:
        return None
    body = _exactly(channel, length(head, largest=LARGEST_CALL))
    return None if body is None else decode(body)


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    pieces = bytearray()
    while len(pieces) < size:
        try:
            piece = channel.recv(min(size - len(pieces), 1 << 20))
        except OSError:
            return None
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)
