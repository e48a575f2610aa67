"""What each test catches: a wrong program, a slip, a promise broken, a hostile file.

    python -m pytest --collect-only -qq -p tools.gates.catches --catches before.json tests
    python -m tools.gates.catches before.json after.json

The first writes, for each test, what it is there to catch: what the sentence after *Kills* in its docstring says, and
the objects among its parameters that stand for a wrong program, and the part of ``make proof`` that runs it, if any.
The second compares two such files: what is no longer caught by any test, and the test functions that are gone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.items import Item, Slip

#: The sentence of a docstring that names the wrong program.
KILLS = re.compile(r"\bKills:? (.*?)(?:\.(?=\s|$)|\Z)", re.DOTALL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--catches", type=Path, help="where to write what the tests catch, as JSON")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write what the collected tests catch."""
    rows = {test.nodeid: {"part": _part(test), "catches": sorted(set(caught(test)))} for test in session.items}
    session.config.getoption("--catches").write_text(json.dumps(rows, indent=0), encoding="utf-8")


def _part(test: pytest.Item) -> str:
    mark = test.get_closest_marker("proof")
    return mark.kwargs["part"] if mark else ""


def caught(test: pytest.Item) -> Iterator[str]:
    """The wrong programs of a test, in words."""
    document = getattr(getattr(test, "obj", None), "__doc__", None) or ""
    for sentence in KILLS.findall(document):
        yield f"kills {' '.join(sentence.split())}"
    parameters: dict[str, Any] = getattr(getattr(test, "callspec", None), "params", {})
    whose = next((value.id for value in parameters.values() if isinstance(value, Item)), "")
    name = test.nodeid.partition("::")[2].partition("[")[0]
    for key, value in parameters.items():
        if isinstance(value, Slip):
            yield f"slip of {whose}: {value.sentence}"
        elif isinstance(value, Item):
            yield f"{name} of {value.id}"
        elif isinstance(value, str | int):
            yield f"{name} with {key} {value}"


def programs(rows: dict[str, Any]) -> set[str]:
    return {program for row in rows.values() for program in row["catches"]}


def functions(rows: dict[str, Any]) -> set[str]:
    return {test.partition("[")[0] for test in rows}


def main(arguments: list[str]) -> int:
    """The command line; exit status 1 if something is caught no more."""
    parser = argparse.ArgumentParser(prog="python -m tools.gates.catches", description=__doc__.partition("\n")[0])
    for name in ("before", "after"):
        parser.add_argument(name, type=Path, help="a file that --catches wrote")
    chosen = parser.parse_args(arguments)
    if missing := [str(file) for file in (chosen.before, chosen.after) if not file.is_file()]:
        parser.error(f"there is no file {' or '.join(missing)}")
    before, after = (json.loads(file.read_text(encoding="utf-8")) for file in (chosen.before, chosen.after))
    lost = sorted(programs(before) - programs(after))
    print(*(f"no longer caught: {program}" for program in lost), sep="\n")
    print(*(f"gone: {test}" for test in sorted(functions(before) - functions(after))), sep="\n")
    kinds = {True: "in make proof", False: "in make test"}
    counts = [f"{sum(bool(row['part']) == where for row in after.values())} {kinds[where]}" for where in (False, True)]
    print(f"{len(programs(before))} wrong programs before, {len(programs(after))} after; tests: {', '.join(counts)}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
