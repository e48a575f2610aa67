"""``gradescope-zip``: pack what Gradescope needs to grade."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.common import DONE, ExitStatus, Usage, add_exam_options, make_exam, read_key
from autograder.screen import say

if TYPE_CHECKING:
    from autograder.commands.common import Commands
    from autograder.items import Item


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("gradescope-zip", help="pack an autograder.zip for Gradescope")
    parser.add_argument("--out", metavar="FILE", default="autograder.zip", help="default: autograder.zip")
    parser.add_argument(
        "--points", metavar="FILE", help='JSON: points by item or chapter, {"03": 2, "05-zero-memory": 8}'
    )
    parser.add_argument(
        "--tensors", action="store_true", help="items that need torch too: pip installs it in the image"
    )
    parser.add_argument("--constraints", metavar="FILE", help="pins torch and NumPy (default: the course's own)")
    parser.add_argument("--sandbox", choices=("required", "best"), default="required", help="default: required")
    add_exam_options(parser)
    parser.set_defaults(command=_pack)


def _pack(options: argparse.Namespace) -> ExitStatus:
    from autograder.gradescope import bundle as gradescope

    key = read_key(options.key)
    exam = make_exam(options.only, key.secret, options.with_questions)
    items: list[Item] = [*exam.items, *exam.questions]
    items = _with_points(items, options.points) if options.points else items
    kept = [item for item in items if options.tensors or gradescope.is_closed_form(item)]
    if not kept:
        raise Usage("these items need torch: pack them with --tensors")
    heavy = not all(map(gradescope.is_closed_form, kept))
    data = gradescope.archive(kept, key.secret, options.sandbox, _requirements(options.constraints) if heavy else ())
    _write(options.out, data)
    say(f"{options.out}: {len(data) / 1000:.0f} kB, {_described(kept)}")
    if len(kept) < len(items):
        say(f"left out: {len(items) - len(kept)} items that need torch (--tensors packs them)")
    say(f"in Gradescope, set the time limit to {gradescope.minutes(kept)} minutes, and {_size(heavy)}")
    say("the file contains the key: anyone who has it knows the hidden inputs")
    if key.drawn:
        say(f"key: {key.secret.decode()} (drawn at random; give it to --key to pack the same file again)")
    return DONE


def _described(items: Sequence[Item]) -> str:
    from autograder.items import Build

    points = sum(item.points if isinstance(item, Build) else 1.0 for item in items if not item.bonus)
    return f"{len(items)} items, {points:g} points"


def _size(heavy: bool) -> str:
    return "choose a container of 2 CPUs and 3 GB or more" if heavy else "leave the container's size as it is"


def _with_points(items: Sequence[Item], source: str) -> list[Item]:
    """The items with the points that a file gives them."""
    from dataclasses import replace

    from autograder.commands.classes import read_points
    from autograder.items import Build

    points = dict(read_points(source, [item.id for item in items if isinstance(item, Build)]))
    return [
        replace(item, points=points[item.id]) if isinstance(item, Build) and item.id in points else item
        for item in items
    ]


def _requirements(source: str | None) -> list[str]:
    from autograder import closure
    from autograder.gradescope import bundle as gradescope

    path = Path(source) if source else closure.ROOT / "constraints.txt"
    try:
        return gradescope.pins(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"the constraints cannot be read from {path}: {error.strerror}") from None
    except ValueError as error:
        raise Usage(str(error)) from None


def _write(path: str, data: bytes) -> None:
    """Write the archive so that only its owner can read it: it contains the key."""
    from autograder import files

    try:
        files.save(path, data)
    except OSError as error:
        raise Usage(f"the archive cannot be written to {path}: {error.strerror}") from None
