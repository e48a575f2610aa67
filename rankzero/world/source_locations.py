"""Where something happened, in words a reader finds on the page: ``cell line 4``, ``line 12 of ring.py``.

A reader of a notebook knows her cell, a reader of a script knows its file; nobody wants a path. This module turns
frames and tracebacks into such words, and knows which frames are the reader's: no library's, not ours.
"""

from __future__ import annotations

import functools
import importlib.util
import linecache
import os
import re
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

OURS = str(Path(__file__).parent) + os.sep
STANDARD = sysconfig.get_path("stdlib") + os.sep
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](?!(?:labs|solutions|experiments|demos|autograder)[/\\])")
CELL = re.compile(r"ipykernel_\d+|^<?ipython-input-|[/\\]ipython-input-")


class Place(NamedTuple):
    """A line of a file in a function; ``file`` may be the made-up name of a notebook cell."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return name_of(self.file, self.line)


def name_of(file: str, line: int) -> str:
    """``cell line 4`` in a notebook, ``line 12 of ring.py`` in a file, ``line 3`` in text without a file."""
    if CELL.search(file):
        return f"cell line {line}"
    if file.startswith("<"):
        return f"line {line}"
    return f"line {line} of {Path(file).name}"


@functools.cache
def library() -> str:
    """The folder of torch, found without importing it."""
    spec = importlib.util.find_spec("torch")
    return str(Path(spec.origin).parent) + os.sep if spec and spec.origin else "\0"


@functools.cache
def is_readers(file: str) -> bool:
    """Whether a frame of ``file`` is the reader's own code: a cell, her files, the course's chapters; no library's."""
    if file.startswith((OURS, "<frozen", library())) or INSTALLED.search(file):
        return False
    return not file.startswith(STANDARD) or "-packages" in file


def of_frame(frame: FrameType | None) -> Place | None:
    """The innermost line of the reader's own code in a running stack, or None."""
    while frame is not None:
        if is_readers(frame.f_code.co_filename):
            return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def of_traceback(traceback: TracebackType | None) -> list[Place]:
    """The lines of the reader's own code that an exception went through, outermost first."""
    places = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_readers(code.co_filename):
            places.append(Place(code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return places


DUMPED = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def of_dump(dump: str) -> Place | None:
    """The reader's innermost line in what :mod:`faulthandler` wrote; its last block is the main thread's."""
    main_thread = re.split(r"\n(?=Thread 0x|Current thread 0x)", dump)[-1]
    for row in main_thread.splitlines():
        match = DUMPED.match(row)
        if match and is_readers(match["file"]):
            return Place(match["file"], int(match["line"]), match["function"])
    return None


def as_traceback(places: Iterable[Place], ending: str) -> str:
    """A traceback as Python writes it, with places for paths. Reads the source where this process can."""
    rows = ["Traceback (most recent call last):"]
    for place in places:
        rows.append(f"  {place}, in {place.function}")
        linecache.checkcache(place.file)
        source = linecache.getline(place.file, place.line).strip()
        rows += [f"    {source}"] if source else []
    return "\n".join([*rows, ending.rstrip()])


def rests_in_library(dump: str) -> bool:
    """Whether the main thread's innermost Python line is torch's, as it is during a backward pass."""
    rows = [row for row in dump.rsplit("most recent call first", 1)[-1].splitlines() if row.startswith("  File ")]
    return bool(rows) and rows[0].startswith(f'  File "{library()}')
