"""``list`` the items, show the ``slips`` of one, and ``probe`` what this host can isolate."""

from __future__ import annotations

import argparse
import difflib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autograder.commands.common import DONE, ExitStatus, Usage
from autograder.screen import say

if TYPE_CHECKING:
    from autograder.commands.common import Commands
    from autograder.items import Build, Item, Slip


def add(commands: Commands) -> None:
    """Add the commands to the parser."""
    listing = commands.add_parser("list", help="list every item of the course")
    listing.add_argument("--json", action="store_true", help="as JSON: id, chapter, kind, topic, function")
    listing.set_defaults(command=_list)
    slips = commands.add_parser("slips", help="show an item's mistakes, and what the report says of each")
    slips.add_argument("id", metavar="ID", help="an item, such as 03-ring-all-reduce-time")
    slips.set_defaults(command=_slips)
    commands.add_parser("probe", help="say what this host can isolate").set_defaults(command=_probe)


def _list(options: argparse.Namespace) -> ExitStatus:
    from autograder import bank

    rows = [_description(item) for item in bank.items()]
    if options.json:
        import json

        say(json.dumps(rows, indent=1))
        return DONE
    widths = [max(len(row[name]) for row in rows) for name in ("id", "kind")]
    for row in rows:
        say(f"{row['id'].ljust(widths[0])}  {row['kind'].ljust(widths[1])}  {row['topic']}")
    return DONE


def _description(item: Item) -> dict[str, str]:
    from autograder.items import Build, Debug

    kind = "debug" if isinstance(item, Debug) else "build" if isinstance(item, Build) else item.kind
    topic = item.topic if isinstance(item, Build) else item.title
    function = f"{item.home}.{item.function}" if isinstance(item, Build) else ""
    return {"id": item.id, "chapter": item.id.split("-")[0], "kind": kind, "topic": topic, "function": function}


def _slips(options: argparse.Namespace) -> ExitStatus:
    from autograder import bank

    try:
        item = bank.find(options.id)
    except KeyError as error:
        raise Usage(error.args[0]) from None
    for sentence, wrong in _mistakes(item):
        say(f"{sentence}\n{textwrap.indent(wrong, '    ')}\n")
    return DONE


def _mistakes(item: Item) -> Iterator[tuple[str, str]]:
    """The sentence about each mistake, and the mistake itself: an edit, a program, a number or an option."""
    from autograder.items import Build, Choice, Estimate, Question
    from autograder.marking.questions import slip_value

    if isinstance(item, Build):
        yield from ((slip.sentence, _wrong(item, slip)) for slip in item.slips)
    elif isinstance(item, Question):
        yield from ((slip.sentence, f"{slip_value(slip):g}") for part in item.parts for slip in part.slips)
    elif isinstance(item, Estimate):
        yield from ((slip.sentence, f"{slip_value(slip):g}") for slip in item.slips)
    elif isinstance(item, Choice):
        yield from ((sentence, item.options[index]) for index, sentence in item.slips.items())


def _wrong(item: Build, slip: Slip) -> str:
    """The lines that an edit removes and adds, or the whole program if the slip is one."""
    if slip.program and not slip.changes:
        return inspect.getsource(slip.program).strip()
    base = inspect.getsource(slip.program or sys.modules[item.solution().__module__]).splitlines()
    changes = list(difflib.unified_diff(base, item.source_of(slip).splitlines(), n=0, lineterm=""))[2:]
    return "\n".join("" if line.startswith("@@") else line for line in changes).strip("\n")


def _probe(_options: argparse.Namespace) -> ExitStatus:
    from autograder import sandbox

    say("\n".join(sandbox.probe()))
    return DONE
