"""``verify`` the bank on this host, ``release`` a learner's copy, and freeze, hash or replay ``vectors``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from autograder.commands.common import (
    DONE,
    NO_SANDBOX,
    UNJUDGED,
    ExitStatus,
    Usage,
    add_exam_options,
    add_sandbox_option,
    check_exported,
    chosen,
    make_exam,
    read_key,
    write,
)
from autograder.marking import marks
from autograder.screen import complain, say

if TYPE_CHECKING:
    from autograder.commands.common import Commands
    from autograder.items import Build
    from autograder.running.exam import Exam


def add(commands: Commands) -> None:
    """Add the commands to the parser."""
    verify = commands.add_parser("verify", help="check the bank on this host")
    verify.add_argument("--key", metavar="FILE", help="secret key for hidden inputs (- for standard input)")
    verify.add_argument("--only", nargs="+", action="extend", metavar="ID", help="items, or chapters such as 03 or cap")
    verify.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share it (default: 1)")
    add_sandbox_option(verify)
    verify.set_defaults(command=_verify)
    release = commands.add_parser("release", help="write a learner's copy: pages and labs, no solutions")
    release.add_argument("folder", metavar="DIR", help="a folder that is new, empty, or an earlier release")
    release.set_defaults(command=_release)
    _add_vectors(commands.add_parser("vectors", help="freeze, hash or replay the cases of an exam"))


def _add_vectors(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    freeze = actions.add_parser("freeze", help="write every case and its answer to a file")
    add_exam_options(freeze)
    freeze.add_argument("--out", required=True, metavar="FILE", help="where to write them; keep the file to yourself")
    freeze.set_defaults(command=_freeze)
    name = actions.add_parser("hash", help="print the hash of the set of cases, as results show it")
    add_exam_options(name)
    name.set_defaults(command=_hash)
    replay = actions.add_parser("replay", help="grade a submission with only frozen vectors")
    replay.add_argument("vectors", help="the file that freeze wrote")
    replay.add_argument(
        "submission", help="a .py file, a notebook, a folder, a .zip, or what the page Your course saves"
    )
    replay.add_argument("--out", metavar="FILE", help="write Gradescope's results.json here")
    add_sandbox_option(replay)
    replay.set_defaults(command=_replay)


def _verify(options: argparse.Namespace) -> ExitStatus:
    from autograder import bank
    from autograder.items import Build
    from autograder.maintenance import verifying
    from autograder.sandbox import Sandbox, SandboxRefused

    if options.workers < 1:
        raise Usage(f"--workers must be at least 1, got {options.workers}")
    key = read_key(options.key).secret
    items = chosen(options.only) if options.only else list(bank.items())
    try:
        Sandbox.measure(options.sandbox)
    except SandboxRefused as error:
        complain(error)
        return NO_SANDBOX
    faults = 0
    for fault in verifying.proven(items, key, options.sandbox, options.workers):
        say(str(fault))
        faults += 1
    builds = [item for item in items if isinstance(item, Build)]
    searched, leaking = _searched(builds, key)
    say(f"{_count(len(items), 'item')}: {_count(faults, 'fault') if faults else 'all hold'}; {searched}")
    return UNJUDGED if faults or leaking else DONE


def _searched(items: list[Build], key: bytes) -> tuple[str, int]:
    """The result of searching released files for hidden inputs, and the number of items whose inputs were found."""
    from autograder.maintenance import leaks, releasing
    from autograder.running.exam import Exam

    try:
        files = releasing.files(releasing.course())
    except releasing.NotReleased as error:
        return f"hidden inputs were not searched for ({error})", 0
    exam = Exam(items, key)
    found = leaks.standing(exam, files)
    for item, names in found.items():
        say(f"{item}: a hidden input is in {', '.join(names)}")
    searchable = sum(bool(leaks.secrets(exam, item)) for item in items)
    exercises = _count(len(items), "exercise")
    among = f"{_count(len(files), 'released file')} ({searchable} of {exercises} with some to look for)"
    return f"hidden inputs of {len(found) or 'none'} are in {among}", len(found)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _release(options: argparse.Namespace) -> ExitStatus:
    from pathlib import Path

    from autograder.maintenance import releasing

    try:
        written = releasing.release(releasing.course(), Path(options.folder))
    except releasing.NotReleased as error:
        raise Usage(str(error)) from None
    except OSError as error:
        raise Usage(f"the release cannot be written to {options.folder}: {error.strerror}") from None
    labs = sum(name.startswith("labs/") for name in written)
    say(f"{options.folder}: {len(written) - labs - 1} pages, {labs} files of labs, README.md")
    return DONE


def _exam(options: argparse.Namespace) -> Exam:
    key = read_key(options.key)
    if key.drawn:
        raise Usage("vectors need a key: give --key FILE, or set AUTOGRADER_KEY")
    return make_exam(options.only, key.secret, options.with_questions)


def _hash(options: argparse.Namespace) -> ExitStatus:
    say(_exam(options).vectors_hash)
    return DONE


def _freeze(options: argparse.Namespace) -> ExitStatus:
    from autograder.maintenance import freezing
    from autograder.marking.papers import CannotJudge

    with _exam(options) as exam:
        try:
            freezing.write(options.out, freezing.freeze(exam))
        except CannotJudge as error:
            complain(error)
            return UNJUDGED
        except OSError as error:
            raise Usage(f"the vectors cannot be written to {options.out}: {error.strerror}") from None
        cases = sum(len(exam.sheet(item).drawn) for item in exam.items)
        say(f"{options.out}: {_count(cases, 'case')} of {_count(len(exam.items), 'item')}, {exam.vectors_hash}")
    return DONE


def _replay(options: argparse.Namespace) -> ExitStatus:
    from autograder.commands import grading
    from autograder.maintenance import freezing
    from autograder.marking import report
    from autograder.sandbox import Sandbox, SandboxRefused

    key = read_key(None)  # not needed here, but removed from the environment, which submissions must not read
    try:
        exam = freezing.read(options.vectors)
        sandbox = Sandbox.measure(options.sandbox)
        check_exported(key, sandbox)
    except freezing.NotFrozen as error:
        raise Usage(str(error)) from None
    except SandboxRefused as error:
        if options.out:
            name = grading.name_of(options.submission)
            write(options.out, report.results(marks.refused(name, str(error)), {}))
        complain(error)
        return NO_SANDBOX
    if options.out:
        write(options.out, report.unfinished())
    with exam:
        graded = grading.graded(options.submission, exam, sandbox)
    if options.out:
        stamps = {"sandbox": sandbox.line, "key_hash": exam.key_hash, "vectors": exam.vectors_hash}
        write(options.out, report.results(graded, stamps))
    say(report.table(graded, sandbox.line))
    return UNJUDGED if graded.reason else DONE
