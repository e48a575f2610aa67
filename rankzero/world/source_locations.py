"""Source locations in words that readers recognize: ``cell line 4``, ``line 12 of ring.py``.

Readers of a notebook know their cell and readers of a script know its file, so neither needs a path. This module turns
frames and tracebacks into such words, and tells the reader's frames from those of libraries and of this package.
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
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

OURS = str(Path(__file__).parents[1]) + os.sep
#: The folder of what runs ranks in a page, which is no reader's code either.
PAGE = str(Path(__file__).parents[2] / "autograder" / "page") + os.sep
STANDARD = sysconfig.get_path("stdlib") + os.sep
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](?!(?:labs|solutions|experiments|demos|autograder)[/\\])")
CELL = re.compile(r"ipykernel_\d+|^<?ipython-input-|[/\\]ipython-input-")


class Location(NamedTuple):
    """A line of a file and its function; for a notebook cell, ``file`` is the name that Jupyter made up for it."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return describe(self.file, self.line)


def describe(file: str, line: int) -> str:
    """``cell line 4`` in a notebook, ``line 12 of ring.py`` in a file, ``line 3`` in text without a file."""
    if CELL.search(file):
        return f"cell line {line}"
    if file.startswith("<"):
        return f"line {line}"
    return f"line {line} of {Path(file).name}"


@functools.cache
def torch_folder() -> str:
    """The folder of torch, found without importing it."""
    spec = importlib.util.find_spec("torch")
    return str(Path(spec.origin).parent) + os.sep if spec and spec.origin else "\0"


@functools.cache
def is_user_code(file: str) -> bool:
    """Whether ``file`` is the reader's own code, which includes the course's chapters but no library."""
    if file.startswith((OURS, PAGE, "<frozen", torch_folder())) or INSTALLED.search(file):
        return False
    return not file.startswith(STANDARD) or "-packages" in file


def is_of_reader(code: CodeType) -> bool:
    """Whether ``code`` is the reader's own. What a dataclass generates is nobody's: it calls checks of the course."""
    generated = code.co_filename == "<string>" and code.co_qualname.startswith("__create_fn__.")
    return not generated and is_user_code(code.co_filename)


def of_frame(frame: FrameType | None) -> Location | None:
    """The innermost line of the reader's own code in a running stack, or None."""
    while frame is not None:
        if is_of_reader(frame.f_code):
            return Location(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def of_traceback(traceback: TracebackType | None) -> list[Location]:
    """The lines of the reader's own code that an exception passed through, outermost first."""
    places = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_of_reader(code):
            places.append(Location(code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return places


DUMPED = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def of_dump(dump: str) -> Location | None:
    """The reader's innermost line in a stack dump by :mod:`faulthandler`, whose last block is the main thread's."""
    main_thread = re.split(r"\n(?=Thread 0x|Current thread 0x)", dump)[-1]
    for row in main_thread.splitlines():
        match = DUMPED.match(row)
        if match and is_user_code(match["file"]):
            return Location(match["file"], int(match["line"]), match["function"])
    return None


def as_traceback(places: Iterable[Location], ending: str) -> str:
    """A traceback in Python's format, with locations in place of paths, and source lines where they can be read."""
    rows = ["Traceback (most recent call last):"]
    for place in places:
        rows.append(f"  {place}, in {place.function}")
        linecache.checkcache(place.file)
        source = linecache.getline(place.file, place.line).strip()
        rows += [f"    {source}"] if source else []
    return "\n".join([*rows, ending.rstrip()])


def is_in_torch(dump: str) -> bool:
    """Whether the innermost Python line of the main thread belongs to torch, as it does during a backward pass."""
    rows = [row for row in dump.rsplit("most recent call first", 1)[-1].splitlines() if row.startswith("  File ")]
    return bool(rows) and rows[0].startswith(f'  File "{torch_folder()}')
