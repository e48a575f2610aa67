"""The sentences to remember, collected: ``python -m tools.takeaways [--check]`` (part of ``make stubs``).

A text cell with the tag ``takeaway`` is one quoted sentence, ``> **Remember:** ...``, at the end of its section. A page
that has such cells has them all in its summary, each with the number of its section; the page *Takeaways* has those of
the whole course.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

from tools.common import fail, notebooks, say, write
from tools.prose_numbers import stripped

TAG = "takeaway"
SUMMARY = "## Summary\n"
_SENTENCE = re.compile(r"> \*\*Remember:\*\* (.+)", re.DOTALL)
_SECTION = re.compile(r"^## (\d+\.\d+) ", re.MULTILINE)
_OLD = re.compile(r"^## Summary\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def sentence(source: str) -> str:
    """What a cell with the tag says, on one line.

    >>> sentence("> **Remember:** A ring has few bytes\\n> and many steps.")
    'A ring has few bytes and many steps.'

    Raises:
        ValueError: the cell is not one quoted sentence that begins with the word.
    """
    match = _SENTENCE.fullmatch(stripped(source).strip())
    if match is None:
        raise ValueError(f"a cell with the tag {TAG} must read '> **Remember:** ...', got {source!r}")
    return re.sub(r"\s*\n> ?", " ", match[1])


def collected(cells: Sequence[Any]) -> list[tuple[str, str]]:
    """Each takeaway of a page with the number of its section.

    Raises:
        ValueError: a cell is malformed, or stands before the first numbered section.
    """
    result, section = [], ""
    for cell in cells:
        if cell.cell_type == "markdown":
            section = (_SECTION.findall(cell.source) or [section])[-1]
            if TAG in cell.metadata.get("tags", ()):
                if not section:
                    raise ValueError(f"a cell with the tag {TAG} must stand in a section, got {cell.source!r}")
                result.append((section, sentence(cell.source)))
    return result


def summary(found: Sequence[tuple[str, str]]) -> str:
    """The list of a page's summary."""
    return "\n".join(f"- {text} ({section})" for section, text in found)


def renewed(text: str) -> str:
    """A notebook with its summary made anew; one without takeaways is left alone."""
    notebook = nbformat.reads(text, as_version=4)
    found = collected(notebook.cells)
    for cell in notebook.cells if found else ():
        if cell.cell_type == "markdown" and SUMMARY in cell.source:
            cell.source = _OLD.sub(lambda _: f"{SUMMARY}\n{summary(found)}\n\n", cell.source).rstrip("\n")
    return nbformat.writes(notebook).rstrip("\n") + "\n" if found else text


def stale(paths: Sequence[Path]) -> dict[Path, str]:
    """The notebooks whose summaries are out of date, with what they should contain."""
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    return {path: fresh for path, text in texts.items() if (fresh := renewed(text)) != text}


def main(argv: list[str] | None = None) -> int:
    """Write what is stale, or with ``--check`` only report it (status 1)."""
    parser = argparse.ArgumentParser(prog="python -m tools.takeaways", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if something is stale")
    arguments = parser.parse_args(argv)
    found = stale(notebooks())
    names = ", ".join(path.name for path in found)
    if found and arguments.check:
        return fail(f"stale (python -m tools.takeaways): {names}")
    for path, text in found.items():
        write(path, text)
    if found:
        say(f"written: {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
