"""``python -m autograder COMMAND``: grade a submission or a class, and look after the bank.

Exit status: 0 done (``grade``: graded, any score), 1 an item or a submission could not be judged, 2 usage, 3 refused
for lack of a sandbox. Errors are one line on standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from autograder.commands import COMMANDS
from autograder.commands.common import DONE, UNJUDGED, USAGE, ExitStatus, Usage
from autograder.items.edits import DoesNotApply
from autograder.screen import complain


class _Parser(argparse.ArgumentParser):
    """A parser that reports a wrong command line as all other errors are reported: on one line."""

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> ExitStatus:
    """Run the command line; returns the exit status."""
    try:
        options = _parser().parse_args(argv)
        status: ExitStatus = options.command(options)
        return status
    except Usage as error:
        complain(error)
        return USAGE
    except BrokenPipeError:  # the reader of the table, such as head, has closed it; the result file is written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        complain("stopped")
        return UNJUDGED
    except DoesNotApply as error:
        complain(f"a wrong program of the bank cannot be made: {error}")
        return UNJUDGED
    except Exception as error:
        complain(f"the grader failed: {type(error).__name__}: {error}")
        return UNJUDGED


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="python -m autograder", description="Grade submissions of the course."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
