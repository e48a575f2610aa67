"""``milestone SUBMISSION``: let a submission train, and measure what it has learnt."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from autograder.commands.common import (
    DONE,
    NO_SANDBOX,
    UNJUDGED,
    ExitStatus,
    Usage,
    add_sandbox_option,
    check_exported,
    read_key,
)
from autograder.screen import complain, say

if TYPE_CHECKING:
    from autograder.commands.common import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("milestone", help="train with a submission's own loop, and measure the result")
    parser.add_argument("submission", help="a .py file, a notebook, a folder or a .zip archive")
    parser.add_argument("--only", metavar="ID", default="12-train-cartpole", help="default: %(default)s")
    parser.add_argument("--key", metavar="FILE", help="secret key from which each try is drawn (- for standard input)")
    add_sandbox_option(parser)
    parser.set_defaults(command=_milestone)


def _milestone(options: argparse.Namespace) -> ExitStatus:
    from autograder import bank, submission
    from autograder.running import milestones
    from autograder.sandbox import Sandbox, SandboxRefused

    known = {one.id: one for one in bank.milestones()}
    found = known.get(options.only)
    if found is None:
        raise Usage(f"there is no milestone {options.only!r}; there is {', '.join(known)}")
    if not os.path.exists(options.submission):
        raise Usage(f"there is no file or folder {options.submission}")
    key = read_key(options.key)
    try:
        sandbox = Sandbox.measure(options.sandbox)
        check_exported(key, sandbox)
        handed = submission.load(options.submission)
    except SandboxRefused as error:
        complain(error)
        return NO_SANDBOX
    except submission.Unreadable as error:
        complain(error)
        return UNJUDGED
    say(f"{found.id}: {found.needed} of {found.tries} tries must reach {found.goal:g} {found.unit}")
    passed = 0
    for number, one in enumerate(milestones.tries(found, handed, sandbox, key.secret), start=1):
        passed += one.passed
        end = "reached" if one.passed else "not reached"
        say(f"  try {number}: {end}: {one.sentence} ({one.seconds:.0f} s)")
    say(f"{found.id}: {'passed' if passed >= found.needed else 'not passed'}; {sandbox.line}")
    if key.drawn:
        say(f"key: {key.secret.decode()} (drawn at random; give it to --key to play the same again)")
    return DONE
