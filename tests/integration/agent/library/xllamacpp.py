"""Stands in for the native library in the child process: a tiny server that says one thing.

What it does is told by the model file's content: ``crash`` at loading, ``mute`` for ever.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    """Takes any parameter."""

    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(n_threads=0))


class Server:
    """Serves from the moment it is made."""

    def __init__(self, params: CommonParams) -> None:
        text = Path(params.model.path).read_text()
        if "crash" in text:
            sys.exit(3)
        if "mute" in text:
            time.sleep(3600)
        handler = type("Handler", (_Handler,), {"params": params})
        http = ThreadingHTTPServer((params.hostnames[0], params.port), handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        sys.stdout.write("loading...\n")
        self.listening_address = f"http://127.0.0.1:{http.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    params: CommonParams

    def do_GET(self) -> None:
        self._send(200, "application/json", b'{"status": "ok"}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        keys = [f"Bearer {key}" for key in self.params.api_keys]
        if self.headers["Authorization"] not in keys or "LOCAL_MODEL_KEY" in os.environ:
            self._send(401, "application/json", b"{}")
            return
        asked = body["messages"][-1]["content"]
        if asked == "die":
            os._exit(4)
        text = json.dumps([message["content"] for message in body["messages"]])
        chunk = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": next(iter(self.params.model_alias)),
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}],
        }
        sent = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        self._send(200, "text/event-stream", sent)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass
