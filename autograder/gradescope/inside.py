"""Grades the one submission in Gradescope's container. ``run_autograder`` starts this program there, as root.

``source`` contains this program, ``exam.json`` (written by :func:`autograder.gradescope.bundle.archive`) and ``key``;
``submission`` contains what the learner handed in; the result goes to ``results``. The submission's code runs as
another user and can read none of them. Whatever happens, there is a result and the exit status is 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import bank, sandbox, submission
from autograder.items import Build
from autograder.marking import marks, report
from autograder.marking.marks import Grading
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.screen import complain, say
from autograder.submission.units import visible

ROOT = Path("/autograder")
#: Folders that only root may enter.
CLOSED = ("source", "submission", "results")
METADATA = "submission_metadata.json"


def main(root: Path = ROOT) -> int:
    """Grade what is in ``root / "submission"`` and print lines for the instructor. Always returns 0."""
    target = root / "results" / "results.json"
    try:
        report.write(target, report.unfinished())
        settings = json.loads((root / "source" / "exam.json").read_text(encoding="utf-8"))
        grading, stamps = graded(root, settings)
        report.write(target, report.results(grading, stamps))
        say(report.table(grading))
    except Exception as error:  # there must be a result, and this must not cost the learner an attempt
        sentence = f"the grader failed ({type(error).__name__}): tell your instructor"
        complain(f"the grader failed: {type(error).__name__}: {error}")
        report.write(target, report.results(marks.refused("submission", sentence), {}))
    return 0


def graded(root: Path, settings: Mapping[str, Any]) -> tuple[Grading, dict[str, Any]]:
    """The grading of the submission in ``root``, and the stamps for its result."""
    say("\n".join(sandbox.probe()))
    stamps: dict[str, Any] = {"grader": settings["grader"], "gradescope": known(root)}
    try:
        box = sandbox.Sandbox.measure(settings["sandbox"], alone=_close(root))
    except sandbox.SandboxRefused as error:
        return marks.refused("submission", str(error)), stamps
    key = (root / "source" / "key").read_bytes().strip()
    with exam(settings, key) as papers:
        stamps |= {"sandbox": box.line, "key_hash": papers.key_hash, "vectors": papers.vectors_hash}
        try:
            handed = submission.load(handed_in(root / "submission"), settings["topics"])
        except submission.Unreadable as error:
            return marks.refused("submission", str(error)), stamps
        return judging.judge(handed, papers, box), stamps


def exam(settings: Mapping[str, Any], key: bytes) -> Exam:
    """The exam that ``exam.json`` describes. Only the packed chapters of the bank are available."""
    bank.CHAPTERS = tuple(settings["chapters"])  # type: ignore[assignment]
    found = [bank.find(identifier) for identifier in settings["items"]]
    builds = [replace(item, points=settings["points"][item.id]) for item in found if isinstance(item, Build)]
    return Exam(builds, key, [item for item in found if not isinstance(item, Build)])


def handed_in(folder: Path) -> Path:
    """What to load: the folder or, if it contains a single file (a notebook, a module, an archive), that file."""
    files = [path for path in sorted(folder.iterdir()) if visible(path.name)] if folder.is_dir() else []
    alone = len(files) == 1 and files[0].is_file() and not files[0].is_symlink()
    return files[0] if alone else folder


def known(root: Path) -> dict[str, Any]:
    """What identifies the submission in Gradescope's metadata; nothing about the learner."""
    try:
        metadata = json.loads((root / METADATA).read_text(encoding="utf-8"))
        assignment = metadata.get("assignment") or {}
        found = {"submission": metadata.get("id"), "created": metadata.get("created_at")}
        found |= {"assignment": assignment.get("id"), "title": assignment.get("title")}
    except (OSError, ValueError, AttributeError):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, int | str)}


def _close(root: Path) -> list[Path]:
    """Let only root read the folders and the metadata, which names learner and scores; returns their paths."""
    closed = [path for path in map(root.joinpath, (*CLOSED, METADATA)) if path.exists()]
    for path in closed:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return closed


if __name__ == "__main__":
    sys.exit(main())
