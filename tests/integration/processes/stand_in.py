"""A process as a supervisor starts it, which answers each connection with its id.

Ends with the code that stands in the file `exit`, if there is one when it starts. With a file
`exit-one` only one does; the others never come to serve.
"""

import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

listener, lifeline, telling = (int(number) for number in sys.argv[-3:])
if (wish := Path("exit")).exists():
    sys.exit(int(wish.read_text()))
if (one := Path("exit-one")).exists():
    try:
        one.rename("exited")
    except FileNotFoundError:
        time.sleep(600)
    sys.exit(int(Path("exited").read_text()))
if Path("exited").exists():
    time.sleep(600)
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
