"""A memory server in miniature, run as a real process by the control plane's tests.

How it behaves is decided by the configuration delivered to it, in the key `log_level`:
info ready; debug starting; warning blocked for ever; error exits at once; critical serves under
another instance's name and ignores SIGTERM. Blocked with the model wordllama, it says that the
model cannot be loaded. Every file in its data directory is a vector. It exits with 98 when its port
is taken.
"""

import argparse
import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

BEHAVIOUR = {"info": "ready", "debug": "starting", "warning": "blocked", "critical": "ready"}


class Handler(BaseHTTPRequestHandler):
    level = "info"
    reason = "embedding: the model is missing"

    def do_GET(self) -> None:
        status = BEHAVIOUR[self.level]
        stranger = self.level == "critical"
        body = {
            "status": status,
            "blocked_on": [self.reason] if status == "blocked" else [],
            "version": "0.1.0",
            "instance_id": "other" if stranger else os.environ["AGENTENGINE_INSTANCE_ID"],
            "pid": os.getpid(),
            "environment": dict(os.environ),
            "store": store(),
            "search": {"vectors": len(list(Path(os.environ["AGENTENGINE_DATA_DIR"]).iterdir()))},
        }
        self.send_response(200 if status == "ready" else 503)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def store() -> dict[str, str]:
    """Return the store that the environment names."""
    if "MONGODB_URI" not in os.environ:
        return {"kind": "sqlite", "location": "memory.db"}
    return {"kind": "mongodb", "location": "db.test", "database": "mdb_memory_local"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    document = json.loads(Path(os.environ["AGENTENGINE_MEMORY_CONFIG"]).read_text())
    Handler.level = document.get("log_level", "info")
    if document.get("embedding", {}).get("model") == "wordllama":
        Handler.reason = "embedding: The local embedding model cannot be loaded"
    if Handler.level == "error":
        sys.stderr.write("cannot open the store\n")
        sys.exit(3)
    if Handler.level == "critical":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        server = HTTPServer((options.host, options.port), Handler)
    except OSError:
        sys.exit(98)
    server.serve_forever()


if __name__ == "__main__":
    main()
