"""``list`` the items, ``slips`` of one with what is wrong in each, and ``probe`` what this host can isolate."""

from __future__ import annotations

import argparse
import difflib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from autograder.commands.common import DONE, Usage
from autograder.screen import say


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    listing = commands.add_parser("list", help="list every item of the course")
    listing.add_argument("--json", action="store_true", help="as JSON: id, chapter, kind, topic, function")
    listing.set_defaults(command=_list)
    slips = commands.add_parser("slips", help="show an item's mistakes: what is wrong, and what is said of it")
    slips.add_argument("id", metavar="ID", help="an item, such as 03-ring-all-reduce-time")
    slips.set_defaults(command=_slips)
    commands.add_parser("probe", help="say what this host can isolate").set_defaults(command=_probe)


def _list(options: argparse.Namespace) -> int:
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


def _description(item: Any) -> dict[str, str]:
    from autograder.items import Build, Debug

    kind = "debug" if isinstance(item, Debug) else "build" if isinstance(item, Build) else item.kind
    topic = item.topic if isinstance(item, Build) else item.title
    function = f"{item.home}.{item.function}" if isinstance(item, Build) else ""
    return {"id": item.id, "chapter": item.id.split("-")[0], "kind": kind, "topic": topic, "function": function}


def _slips(options: argparse.Namespace) -> int:
    from autograder import bank

    try:
        item = bank.find(options.id)
    except KeyError as error:
        raise Usage(error.args[0]) from None
    for sentence, wrong in _mistakes(item):
        say(f"{sentence}\n{textwrap.indent(wrong, '    ')}\n")
    return DONE


def _mistakes(item: Any) -> Iterator[tuple[str, str]]:
    """What is said of each mistake, and what is wrong: an edit, a program, a number, an option."""
    from autograder.items import Build, Choice, Question
    from autograder.predicting import slip_value

    if isinstance(item, Build):
        yield from ((slip.sentence, _wrong(item, slip)) for slip in item.slips)
    elif isinstance(item, Question):
        yield from ((slip.sentence, f"{slip_value(slip):g}") for part in item.parts for slip in part.slips)
    elif isinstance(item, Choice):
        yield from ((sentence, item.options[place]) for place, sentence in item.slips.items())


def _wrong(item: Any, slip: Any) -> str:
    """The lines that an edit takes away and puts there, or the whole program where it is another one."""
    if slip.program:
        return inspect.getsource(slip.program).strip()
    reference = inspect.getsource(sys.modules[item.solution().__module__]).splitlines()
    changes = list(difflib.unified_diff(reference, item.source_of(slip).splitlines(), n=0, lineterm=""))[2:]
    return "\n".join("" if line.startswith("@@") else line for line in changes).strip("\n")


def _probe(_options: argparse.Namespace) -> int:
    from autograder import sandbox

    say("\n".join(sandbox.probe()))
    return DONE
