"""A supervisor over stand-ins, as a process of its own: it is signalled, and killed."""

import asyncio
import os
import socket
import sys
from pathlib import Path

from memory_server.supervisor import Supervisor

COUNT = 2


async def run(listener: socket.socket) -> int:
    return await Supervisor(
        [sys.executable, str(Path(__file__).with_name("stand_in.py"))],
        count=COUNT,
        listener=listener,
        environ=os.environ,
        on_serving=lambda: Path("serving").touch(),
    ).run()


if __name__ == "__main__":
    shared = socket.create_server(("127.0.0.1", 0))
    shared.setblocking(False)
    Path("port").write_text(str(shared.getsockname()[1]))
    sys.exit(asyncio.run(run(shared)))
