"""Serve the built book on this machine: ``python -m tools.serve [--port PORT]``.

What a reader answers and writes is kept by the browser for one address, so the port is the same each time, and the next
one only where it is taken.

Text and WebAssembly are sent compressed. A browser revalidates what it has cached before it uses it, and is only told
"not modified" where nothing changed.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from tools.common import HTML, fail, say

#: Where the book is served unless a port is named, and how many ports after it are tried.
PORT, TRIES = 8642, 20
#: Kinds of file that compress well; pictures, fonts and archives are compressed already.
PACKABLE = ("text/", "application/json", "application/wasm", "image/svg+xml")
#: What a page needs to share memory with its workers: the ranks of a page send their messages through it.
ISOLATION = (("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"))


@lru_cache(maxsize=256)
def packed(path: Path, changed: int) -> bytes:
    """The compressed contents of a file that last ``changed`` at this time (nanoseconds)."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


class Quiet(SimpleHTTPRequestHandler):
    """Serves the files of one folder without logging requests."""

    protocol_version = "HTTP/1.1"  # one connection for many files
    disable_nagle_algorithm = True
    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        """Let the browser cache every response, to be revalidated before it is used again, and let pages have ranks."""
        for name, value in (("Cache-Control", "no-cache"), *ISOLATION):
            self.send_header(name, value)
        super().end_headers()

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send the headers of a response; returns the file, compressed where that helps and the browser can read it."""
        path, kind = Path(self.translate_path(self.path)), self.guess_type(self.path.split("?")[0])
        can = "gzip" in self.headers.get("Accept-Encoding", "") and path.is_file() and kind.startswith(PACKABLE)
        if not can or self.headers.get("If-Modified-Since") == formatdate(int(path.stat().st_mtime), usegmt=True):
            return super().send_head()
        state = path.stat()
        body = packed(path, state.st_mtime_ns)
        self.send_response(HTTPStatus.OK)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Encoding", "gzip"),
            ("Content-Length", str(len(body))),
            ("Vary", "Accept-Encoding"),
            ("Last-Modified", formatdate(int(state.st_mtime), usegmt=True)),
        ):
            self.send_header(name, value)
        self.end_headers()
        return BytesIO(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def server(folder: Path = HTML, port: int = 0, handler: type[Quiet] = Quiet) -> ThreadingHTTPServer:
    """A server of ``folder`` on the loopback address; ``server_port`` is its port."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(handler, directory=str(folder)))


def first_free(ports: Iterable[int], folder: Path = HTML) -> ThreadingHTTPServer:
    """A server at the first of ``ports`` that is free.

    Raises:
        OSError: none is.
    """
    refused = OSError("no port was named")
    for port in ports:
        try:
            return server(folder, port)
        except OSError as error:
            refused = error
    raise refused


def belongs(port: int, wanted: int) -> str:
    """The line that says what belongs to the address."""
    here = "your answers and functions stay in the browser, for this address only"
    return here if port == wanted else f"port {wanted} is taken: {here}, so those from port {wanted} do not show here"


def main(argv: list[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tools.serve", description="Serve the built book.")
    parser.add_argument("--port", type=int, help=f"port (default: {PORT}, or the next one that is free)")
    arguments = parser.parse_args(argv)
    if not (HTML / "index.html").is_file():
        return fail("there is no built book: run make book")
    wanted = PORT if arguments.port is None else arguments.port
    try:
        found = first_free(range(wanted, wanted + TRIES) if arguments.port is None else [wanted])
    except (OSError, OverflowError) as error:
        return fail(f"port {wanted} cannot be used: {error}")
    with found as running:
        say(f"the book is at http://127.0.0.1:{running.server_port}/ (stop with Ctrl-C)")
        say(belongs(running.server_port, wanted or running.server_port))
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
