"""Printing for the commands: text from a submission (a file name, say) cannot control the terminal or forge a line."""

from __future__ import annotations

import sys
from typing import TextIO

from autograder.submission import shown


def fit(line: str, stream: TextIO) -> str:
    """``line`` as the stream can show it: control characters, and letters that its encoding lacks, become ``?``."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return shown(line).encode(encoding, "replace").decode(encoding)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print lines of text, on standard output unless ``stream`` says otherwise."""
    stream = stream or sys.stdout
    print("\n".join(fit(line, stream) for line in text.split("\n")), file=stream, flush=True)


def complain(message: object) -> None:
    """Print one line on standard error, whatever the message holds."""
    print(f"autograder: {fit(str(message), sys.stderr)}", file=sys.stderr, flush=True)
