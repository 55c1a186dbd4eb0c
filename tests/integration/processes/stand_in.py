"""A process as a supervisor starts it, which answers each connection with its id.

Ends with the code that stands in the file `exit`, if there is one when it starts.
"""

import os
import select
import signal
import socket
import sys
from pathlib import Path

listener, lifeline, telling = (int(number) for number in sys.argv[-3:])
if (wish := Path("exit")).exists():
    sys.exit(int(wish.read_text()))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
shared = socket.socket(fileno=listener)
shared.listen()
os.write(telling, b"1")
os.close(telling)
while True:
    found, _, _ = select.select([shared.fileno(), lifeline], [], [])
    if lifeline in found:
        Path(f"orphan-{os.getpid()}").touch()
        sys.exit(0)
    try:
        caller, _ = shared.accept()
    except BlockingIOError:
        continue
    with caller:
        caller.sendall(str(os.getpid()).encode())
