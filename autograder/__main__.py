"""``python -m autograder COMMAND``: grade a submission or a class, and look after the bank.

Exit status: 0 done (``grade``: graded, any score), 1 an item or a submission could not be judged, 2 usage, 3 refused
for lack of a sandbox. Errors are one line on standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from autograder.commands import COMMANDS
from autograder.commands.common import DONE, UNJUDGED, USAGE, Usage


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(argv)
    try:
        return options.command(options)
    except Usage as error:
        print(f"autograder: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # whoever read the table has seen enough; the result file is written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        print(f"autograder: the grader failed: {type(error).__name__}: {error}", file=sys.stderr)
        return UNJUDGED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description="Grade submissions of the course.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
