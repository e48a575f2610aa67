"""``grade-class DIR``, ``regrade OUT``, ``merge OUT ...`` and ``diff OLD NEW``: a class, graded and kept."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograder.commands.common import (
    DONE,
    NO_SANDBOX,
    UNJUDGED,
    ExitStatus,
    Usage,
    add_exam_options,
    add_sandbox_option,
    check_exported,
    key_of_class,
    make_exam,
    read_key,
)
from autograder.screen import complain, say

if TYPE_CHECKING:
    from autograder.classroom.collecting import Handed
    from autograder.classroom.graded import Graded
    from autograder.classroom.storage import Folder
    from autograder.classroom.worker import Spec
    from autograder.commands.common import Commands


#: Seconds that a Dask cluster may take to answer.
DASK_TIMEOUT = 30


def add(commands: Commands) -> None:
    """Add the commands to the parser."""
    _add_grade(commands.add_parser("grade-class", help="grade a folder of submissions"))
    parser = commands.add_parser("regrade", help="mark stored answers again: runs no submission's code")
    parser.add_argument("old", metavar="OUT", help="a graded class")
    parser.add_argument("--to", required=True, metavar="NEW", help="the folder of the new grading")
    parser.add_argument("--key", metavar="FILE", help="the secret key of that grading (- for standard input)")
    parser.add_argument("--points", metavar="FILE", help="points by item or chapter, instead of the earlier ones")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="ID", help="items to mark again; others stay as they are"
    )
    parser.add_argument(
        "--learners", nargs="+", default=(), metavar="ID", help="the same for learners, as in class.csv"
    )
    parser.set_defaults(command=_regrade)
    parser = commands.add_parser("merge", help="join the shards of a class")
    parser.add_argument("parts", nargs="+", metavar="OUT", help="graded shards")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="the folder of the whole class")
    parser.add_argument("--key", metavar="FILE", help="the secret key of the parts (- for standard input)")
    parser.set_defaults(command=_merge)
    parser = commands.add_parser("diff", help="whose score moved between two gradings, and why")
    parser.add_argument("old", metavar="OLD", help="a graded class")
    parser.add_argument("new", metavar="NEW", help="another grading of it")
    parser.set_defaults(command=_diff)


def _add_grade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a platform's download, or a folder with each learner's work")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="answers, results, pages and class.csv")
    add_sandbox_option(parser, "required")
    parser.add_argument("--workers", type=int, metavar="N", help="submissions at the same time; default: usable cores")
    parser.add_argument("--resume", action="store_true", help="continue with what FOLDER already holds")
    parser.add_argument("--again", nargs="+", default=(), metavar="ID", help="with --resume: run these learners again")
    parser.add_argument("--points", metavar="FILE", help='JSON: {"03-ring-all-reduce-time": 8, "05": 2}')
    parser.add_argument("--per-submission", action="store_true", help="different hidden inputs for each submission")
    parser.add_argument("--shard", metavar="I/N", help="grade the I-th of N parts of the class")
    parser.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler whose workers run the submissions")
    add_exam_options(parser)
    parser.set_defaults(command=_grade)


def _grade(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom.storage import Folder, NotStored
    from autograder.sandbox import Sandbox, SandboxRefused

    shard = _shard(options.shard)
    if options.workers is not None and options.workers < 1:
        raise Usage(f"--workers must be at least 1, got {options.workers}")
    key = read_key(options.key)
    if key.drawn and (shard or options.resume):
        raise Usage(f"{'--shard' if shard else '--resume'} needs --key: every submission must be asked the same")
    spec = _spec(options, key.secret)
    _check_outside(options.out, options.folder)
    handed = _handed(options.folder, shard)
    if options.again and not options.resume:
        raise Usage("--again needs --resume: it runs learners of a graded class again")
    _check_named(options.again, [submission.id for submission in handed], "learner")
    folder = Folder(options.out, options.resume, options.shard or "")
    try:
        if not options.dask:  # Dask workers have an environment of their own
            check_exported(key, Sandbox.measure(options.sandbox))
        with _refusals(options.out):
            folder.check()
            if key.drawn:
                say(f"key: {key.secret.decode()} (drawn at random; keep it: --key needs it again)", sys.stderr)
            try:
                rows = _graded(options, handed, spec, folder)
            except NotStored as error:
                return _stopped(
                    f"{options.out} cannot be written ({error.strerror or error})", options.out, "make room, "
                )
    except KeyboardInterrupt:
        return _stopped("stopped", options.out)
    except SandboxRefused as error:
        complain(error)
        return NO_SANDBOX
    return _ended(rows, options.out)


def _stopped(why: str, out: str, first: str = "") -> ExitStatus:
    """Say that a class is not finished, and how to go on."""
    say("", sys.stderr)  # ends the line of the progress display
    go_on = f"{first}give the same command and key with --resume to continue"
    complain(f"{why}; what is finished is kept in {out}: {go_on}")
    return UNJUDGED


def _graded(options: argparse.Namespace, handed: Sequence[Handed], spec: Spec, folder: Folder) -> list[Graded]:
    from autograder.classroom import classes
    from autograder.classroom.progress_line import Progress

    with _terminated(), _executor(options.dask) as (executor, workers):
        watch = Progress(sys.stderr)
        again = frozenset(options.again)
        return classes.grade_class(handed, spec, folder, executor, options.workers or workers, watch, again)


@contextlib.contextmanager
def _terminated() -> Iterator[None]:
    """Within this context, SIGTERM, which job schedulers send, stops the class as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _executor(address: str | None) -> Iterator[tuple[Any, int | None]]:
    """The executor that runs submissions and its number of workers; None and None for threads of this process."""
    if address is None:
        yield None, None
        return
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError:
        raise Usage("--dask needs the package distributed: pip install 'rankzero[dask]'") from None
    try:
        scheme, place = parse_address(address)
        if scheme in ("tcp", "tls"):
            parse_host_port(place)  # checked here: a client that fails on it later keeps running for a minute
        client = Client(address, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Usage(f"there is no Dask scheduler at {address}: {' '.join(str(error).split())[:200]}") from None
    with client:
        client.wait_for_workers(1, timeout=DASK_TIMEOUT)
        yield client.get_executor(), max(1, sum(client.ncores().values()))


def _regrade(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import classes, storage
    from autograder.marking.answers import OtherVectors

    key = key_of_class(options.key, "regrade")
    with _refusals(options.to):
        old = storage.opened(options.old).verify(key)
        spec = _spec_of(old.stamps, key, options.points)
        try:
            _check_named(options.only, old.stamps["items"], "item")
            _check_named(options.learners, list(old.rows()), "learner")
            new = storage.Folder(options.to, shard=old.shard)
            rows = classes.remark(old, spec, new, options.only, options.learners)
        except (OtherVectors, classes.OtherPoints) as error:
            raise Usage(str(error)) from None
    return _ended(rows, options.to)


def _check_named(names: Sequence[str], there: Sequence[str], what: str) -> None:
    """Refuse the name of an item or learner that the class does not have."""
    from autograder.classroom import adjustments

    for name in names:
        if name not in there:
            raise Usage(f"the class has no {what} {name}{adjustments.similar(name, there)}")


def _merge(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import merging, storage

    key = key_of_class(options.key, "merge")
    with _refusals(options.out):
        parts = [storage.opened(part) for part in options.parts]
        rows = merging.merge(parts, storage.Folder(options.out), key)
    return _ended(rows, options.out)


def _diff(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import differences, storage

    with _refusals(options.new):
        old, new = (storage.opened(path).rows() for path in (options.old, options.new))
    say(differences.table(differences.moved(old, new)))
    return DONE


@contextlib.contextmanager
def _refusals(out: str) -> Iterator[None]:
    """Within this context, refusals of the classroom become one line for the person who typed the command."""
    from autograder.classroom.classes import OtherGrader
    from autograder.classroom.storage import NotAClass

    try:
        yield
    except (NotAClass, OtherGrader) as error:
        raise Usage(str(error)) from None
    except OSError as error:
        raise Usage(f"{out} cannot be written: {error.strerror or error}") from None


# What the submissions are asked.


def _spec(options: argparse.Namespace, key: bytes) -> Spec:
    from autograder.classroom.worker import Spec

    exam = make_exam(options.only, key, options.with_questions)
    return Spec(
        tuple(item.id for item in exam.items),
        key,
        tuple(question.id for question in exam.questions),
        read_points(options.points, [item.id for item in exam.items]) if options.points else (),
        options.sandbox,
        per_submission=options.per_submission,
    )


def _spec_of(stamps: Mapping[str, Any], key: bytes, points: str | None) -> Spec:
    """What a stored class was asked, with the points of that grading or those of a file."""
    from autograder.classroom.worker import Spec

    items = tuple(stamps["items"])
    worth = read_points(points, items) if points else tuple(stamps["points"].items())
    return Spec(items, key, tuple(stamps["questions"]), worth, "none", per_submission=stamps["per_submission"])


def read_points(path: str, asked: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """The points of the items ``asked``, by id, from a JSON file; an item's own entry overrides its chapter's.

    Raises:
        Usage: the file cannot be read, an entry names no item or chapter, or its points are not a number >= 0.
    """
    import json

    from autograder import bank

    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise Usage(f"the points cannot be read from {path}: {getattr(error, 'strerror', None) or error}") from None
    if type(content) is not dict:
        raise Usage(f'the points in {path} must be a JSON object such as {{"03": 2}}')
    builds = [item.id for item in bank.builds()]
    chapters = {name.split("-")[0] for name in builds}
    for name, worth in content.items():
        if name not in chapters and name not in builds:
            raise Usage(f"the points in {path} name {name}, which is neither a chapter nor a function of the course")
        if type(worth) not in (int, float) or not 0 <= worth < math.inf:
            raise Usage(f"the points of {name} in {path} must be a number >= 0, got {json.dumps(worth)}")
    worths = {name: content.get(name, content.get(name.split("-")[0])) for name in asked}
    return tuple((name, float(worth)) for name, worth in worths.items() if worth is not None)


def _shard(text: str | None) -> tuple[int, int] | None:
    """``(3, 16)`` of ``"3/16"``."""
    if text is None:
        return None
    number, _, of = text.partition("/")
    if not (number.isascii() and number.isdigit() and of.isascii() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise Usage(f"--shard must be like 3/16, the first of 16 is 1/16; got {text}")
    return int(number), int(of)


def _check_outside(out: str, folder: str) -> None:
    """Refuse a folder of results within the class, where it would be somebody's submission the next time."""
    there, here = os.path.realpath(out), os.path.realpath(folder)
    if os.path.isdir(here) and os.path.commonpath([there, here]) == here:
        raise Usage(f"{out} is within the class, and would count as a submission: name a folder outside {folder}")


def _handed(path: str, shard: tuple[int, int] | None) -> list[Handed]:
    from autograder import submission
    from autograder.classroom import classes, collecting

    try:
        found = collecting.collect(os.path.abspath(path))  # absolute, because workers may have another working folder
    except submission.Unreadable as error:
        raise Usage(str(error)) from None
    return found if shard is None else [one for one in found if classes.in_shard(one, *shard)]


# What is printed.


def _ended(rows: Sequence[Graded], out: str) -> ExitStatus:
    """Print how the grading of a class ended; returns the exit status."""
    faults = [row for row in rows if row.fault]
    unjudged = [row for row in rows if row.grading.reason and row.grading.all]  # a package is missing, for example
    refused = sum(bool(row.grading.reason) for row in rows) - len(faults) - len(unjudged)
    say(f"{len(rows)} submission{'s' * (len(rows) != 1)} in {out}: see class.csv and pages/index.html")
    if refused:
        say(f"{refused} could not be read; they cost no attempt, and their rows say why")
    for row in [*faults, *unjudged]:
        trouble = f": {row.trouble}" if row.trouble else ""
        complain(f"{row.handed.id}: {row.grading.reason}{trouble}")
    return UNJUDGED if faults or unjudged else DONE
