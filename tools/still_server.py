"""A process that draws the charts of explorers for all kernels of a build: a script, started by
``tools/kernel_server.py``. The engine that draws takes a second to start, and each page would start its own."""

from __future__ import annotations

import json
import select
import socket
import sys

import vl_convert


def main(address: str) -> None:
    """Answer each request that arrives at ``address``, until standard input ends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        with connection:
            asked = json.loads(connection.makefile().readline())
            connection.sendall(json.dumps(drawn(**asked)).encode())


def drawn(spec: str, version: str) -> dict[str, str]:
    """The chart as SVG text, or why it cannot be drawn."""
    try:
        return {"svg": vl_convert.vegalite_to_svg(spec, vl_version=version)}
    except ValueError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    main(sys.argv[1])
