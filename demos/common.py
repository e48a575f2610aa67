"""What the demos share: the command line, loading functions by name, tables, saving, and exit statuses."""

from __future__ import annotations

import argparse
import csv
import functools
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from rankzero.world import WorldError


class Main(Protocol):
    """The type of a demo's ``main``: it takes the command line and returns the exit status."""

    def __call__(self, argv: Sequence[str] | None = None) -> int: ...


class OneLine(argparse.ArgumentParser):
    """A parser that reports an error in one line, without printing the usage first."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (--help lists the options)\n")


def parser(doc: str | None, picture: bool = True) -> argparse.ArgumentParser:
    """A parser with the options of every demo: ``--code``, ``--quick`` and ``--save``, for tables and pictures."""
    found = OneLine(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--code", choices=("solutions", "labs"), default="solutions", help="whose functions to run")
    found.add_argument("--quick", action="store_true", help="a small version, at most 3 s")
    kinds = (".csv", ".png", ".svg") if picture else (".csv",)
    what = "the table (.csv) or the picture (.png, .svg)" if picture else "the table (.csv)"
    found.add_argument("--save", type=_target(kinds), metavar="FILE", help=f"write {what}")
    return found


def _target(kinds: tuple[str, ...]) -> Callable[[str], Path]:
    def convert(text: str) -> Path:
        path = Path(text)
        if path.suffix not in kinds:
            raise argparse.ArgumentTypeError(f"FILE must end in {' or '.join(kinds)}, got {text}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
        return path

    return convert


def whole(low: int, high: int) -> Callable[[str], int]:
    """An argparse type: a whole number from ``low`` to ``high``."""

    def convert(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, got {text}")
        return int(text)

    return convert


def number(low: float, high: float) -> Callable[[str], float]:
    """An argparse type: a number from ``low`` to ``high``."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a number from {low:g} to {high:g}, got {text}")
        return value

    return convert


#: An argparse type: a number that is not negative.
amount = number(0, 1e15)


def part(code: str, module: str, name: str) -> Any:
    """The function ``name`` of a topic module, from ``solutions`` or ``labs``."""
    return getattr(importlib.import_module(f"{code}.{module}"), name)


@dataclass(frozen=True)
class Table:
    """Rows under a header, with numbers aligned to the right."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    def __str__(self) -> str:
        cells = [self.header, *([_text(value) for value in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.header))]
        right = [all(isinstance(row[i], int | float) for row in self.rows) for i in range(len(self.header))]
        pad = [str.rjust if numbers else str.ljust for numbers in right]
        return "\n".join("  ".join(pad[i](row[i], widths[i]) for i in range(len(widths))).rstrip() for row in cells)

    def csv(self) -> str:
        """The table as comma-separated values."""
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([self.header, *self.rows])
        return buffer.getvalue()


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show(arguments: argparse.Namespace, table: Table, picture: Callable[[], Any] | None = None) -> None:
    """Print the table; with ``--save``, also write the table or ``picture()``, either completely or not at all."""
    print(table)
    if arguments.save is None:
        return
    draft = arguments.save.with_name(f".{os.getpid()}-{arguments.save.name}")
    try:
        if picture and arguments.save.suffix != ".csv":
            picture().savefig(draft)
        else:
            draft.write_text(table.csv(), encoding="utf-8")
        draft.replace(arguments.save)
    finally:
        draft.unlink(missing_ok=True)
    print(f"wrote {arguments.save}")


def verdict(right: bool, sentence: str) -> int:
    """Print the last line of a demo and return its exit status: 0 if its own check holds, otherwise 1."""
    print(f"check: {sentence}: {'yes' if right else 'NO'}")
    return 0 if right else 1


def demo(main: Main) -> Main:
    """``main``, except that a function not yet written or a failed world prints its message and ends with status 1.

    If the reader of the output stops reading (``| head``), the demo ends without an error.
    """

    @functools.wraps(main)
    def guarded(argv: Sequence[str] | None = None) -> int:
        try:
            status = main(argv)
            sys.stdout.flush()
        except (NotImplementedError, WorldError) as error:
            sentence = str(error).partition("\n")[0]
            print(sentence if "NotImplementedError" in sentence else error, file=sys.stderr)
            return 1
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return status

    return guarded
