"""Serve the built book on this machine: ``python -m tools.serve [--port PORT]``; a free port unless one is named."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.common import HTML, fail, say


class Quiet(SimpleHTTPRequestHandler):
    """Files of one folder, without a line per request."""

    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def server(folder: Path = HTML, port: int = 0) -> ThreadingHTTPServer:
    """A server of ``folder`` on the loopback address; ``server_port`` is its port."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder)))


def main(argv: list[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tools.serve", description="Serve the built book.")
    parser.add_argument("--port", type=int, default=0, help="port (default: a free one)")
    arguments = parser.parse_args(argv)
    if not (HTML / "index.html").is_file():
        return fail("there is no built book: run make book")
    with server(port=arguments.port) as running:
        say(f"the book is at http://127.0.0.1:{running.server_port}/ (stop with Ctrl-C)")
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
