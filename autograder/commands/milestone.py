"""``milestone SUBMISSION``: let a submission train and measure what it has learnt, or judge a system by levels."""

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
    from collections.abc import Callable

    from autograder.commands.common import Commands
    from autograder.items import Milestone, System
    from autograder.sandbox import Sandbox
    from autograder.submission import Submission


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("milestone", help="grade a milestone, by what it learns or level by level")
    parser.add_argument(
        "submission", help="a .py file, a notebook, a folder, a .zip, or what the page Your course saves"
    )
    parser.add_argument("--only", metavar="ID", default="12-train-cartpole", help="as 07-trainer; default: %(default)s")
    parser.add_argument("--level", type=int, metavar="N", help="of a milestone with levels: this one alone, from 1")
    parser.add_argument("--key", metavar="FILE", help="secret key from which each try is drawn (- for standard input)")
    add_sandbox_option(parser)
    parser.set_defaults(command=_milestone)


def _milestone(options: argparse.Namespace) -> ExitStatus:
    from autograder import submission
    from autograder.sandbox import Sandbox, SandboxRefused

    shown = _chosen(options.only, options.level)
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
    shown(handed, sandbox, key.secret)
    if key.drawn:
        say(f"key: {key.secret.decode()} (drawn at random; give it to --key to play the same again)")
    return DONE


def _chosen(identifier: str, level: int | None) -> Callable[[Submission, Sandbox, bytes], None]:
    """What grades the milestone with this id, which may begin with the chapter's number, and prints the result.

    Raises:
        Usage: there is none, or it has no such level.
    """
    from functools import partial

    from autograder import bank
    from rankzero.facts import chapters

    known = {milestone.id: partial(_tries, milestone) for milestone in bank.milestones()}
    known |= {system.id: partial(_levels, system, level) for system in bank.systems()}
    numbered = {f"{chapters.of_item(one).number:02}-{one.partition('-')[2]}": shown for one, shown in known.items()}
    if identifier not in numbered | known:
        raise Usage(f"there is no milestone {identifier!r}; there are {' and '.join(known)}")
    found = (numbered | known)[identifier]
    most = len(found.args[0].levels) if found.func is _levels else 0
    if level is not None and not 1 <= level <= most:
        has = f"has levels 1 to {most}" if most else "has no levels"
        raise Usage(f"--level must name a level: {identifier} {has}, got {level}")
    return found


def _tries(milestone: Milestone, handed: Submission, sandbox: Sandbox, key: bytes) -> None:
    """Print each try of a program that learns."""
    from autograder.running import milestones

    say(f"{milestone.id}: {milestone.needed} of {milestone.tries} tries must reach {milestone.goal:g} {milestone.unit}")
    passed = 0
    for number, one in enumerate(milestones.tries(milestone, handed, sandbox, key), start=1):
        passed += one.passed
        end = "reached" if one.passed else "not reached"
        say(f"  try {number}: {end}: {one.sentence} ({one.seconds:.0f} s)")
    say(f"{milestone.id}: {'passed' if passed >= milestone.needed else 'not passed'}; {sandbox.line}")


def _levels(system: System, level: int | None, handed: Submission, sandbox: Sandbox, key: bytes) -> None:
    """Print the sheet of a system, one row a level, or the row of a single ``level``."""
    from autograder.commands import sheets
    from autograder.running import systems

    say(sheets.head(system))
    right, said = 0, ""
    for number, (_, verdict) in enumerate(systems.verdicts(system, handed, sandbox, key, level), start=level or 1):
        right += not verdict.wrong
        say(sheets.row(system, number, verdict, said))
        said = verdict.wrong
    say(sheets.foot(system, handed, right, 1 if level else len(system.levels)))
    say(sandbox.line)
