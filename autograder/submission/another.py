"""What a report says of a hand-in that has nothing of what was asked: an empty file, or the work of another week."""

from __future__ import annotations

from autograder import bank
from autograder.submission import homes
from autograder.submission.units import Submission
from rankzero.facts import chapters


def sentence(submission: Submission) -> str:
    """That nothing was found, and of which chapters there are functions instead."""
    if not any(unit.source.strip() for unit in submission.units):
        return f"{submission.name} has no code: is it the right hand-in?"
    items = {item.function: item for item in bank.builds()}
    modules = {function: item.module for function, item in items.items()}
    found = homes.defined(submission.name, submission.units, modules)
    written = {chapters.of_item(items[name].id).number for name, one in found.items() if not one.stub}
    listed = " and ".join(map(str, sorted(written)))
    instead = f", but functions of chapter {listed}" if written else ""
    return f"{submission.name} has none of the functions that were asked{instead}: is it the right hand-in?"
