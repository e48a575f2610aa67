"""``list`` the items, and ``probe`` what this host can isolate."""

from __future__ import annotations

import argparse
from typing import Any

from autograder.commands.common import DONE
from autograder.screen import say


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    listing = commands.add_parser("list", help="list every item of the course")
    listing.add_argument("--json", action="store_true", help="as JSON: id, chapter, kind, topic, function")
    listing.set_defaults(command=_list)
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


def _probe(_options: argparse.Namespace) -> int:
    from autograder import sandbox

    say("\n".join(sandbox.probe()))
    return DONE
