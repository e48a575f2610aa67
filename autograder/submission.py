"""What a learner handed in, as text: found in a file, a notebook, a folder or an archive, and never run here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A piece of source that is compiled and run on its own, so that a broken one costs only itself.

    ``label`` is what a report calls it: ``"cell 4"`` or ``"collectives.py"``. ``module`` is the topic module it stands
    for when the submission is a folder of them (``"collectives"``); None for a single file or notebook, whose units
    share one namespace.
    """

    label: str
    source: str
    module: str | None = None


@dataclass(frozen=True)
class Submission:
    """The units of a submission, sentences about parts that could not be read, the SHA-256 of what was handed in."""

    name: str
    units: tuple[Unit, ...]
    problems: tuple[str, ...] = ()
    sha256: str = ""


class Unreadable(Exception):
    """The submission cannot be graded at all; the message is one sentence for the learner."""
