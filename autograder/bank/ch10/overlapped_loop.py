"""Chapter 10: ``overlapped_loop``, one step ahead."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


def _runs(rng: Random) -> Case:
    return Case((rng.randint(3, 9), None))


def _ended(rng: Random) -> Case:
    """An end token shows in the results of a step in the middle: the step after it has been launched already."""
    steps = rng.randint(5, 9)
    return Case((steps, rng.randint(0, steps - 3)))


def _short(rng: Random) -> list[Case]:
    return [Case((0, None)), Case((1, None)), Case((2, None)), Case((1, 0)), Case((2, 0))]


EXERCISE = Build(
    "10 measuring.overlapped_loop",
    section="10.20",
    topic="one step ahead",
    bonus=True,
    probe="ch10_loops.looped",
    cases=(Case((3, None)), Case((6, 1)), Case((0, None))),
    groups=(
        Group("runs", _runs, 4, "Launch the next step, then process the one before it; at the end one is left."),
        Group(
            "an end that comes late",
            _ended,
            4,
            "Ask before each launch; what was launched by then is processed all the same.",
        ),
        Group("few steps", lambda rng: rng.choice(_short(rng)), 5, "None, one, two: write the calls down.", _short),
    ),
    slips=(
        Slip(
            "That runs in turn: a step is processed before the next one is launched, and the device waits for the CPU.",
            edit=("if len(before) > 1:", "if before:"),
        ),
        Slip(
            "The last step is never processed: its tokens are lost.",
            edit=("    for work in before:\n        process(work)\n", ""),
        ),
        Slip(
            "Two steps ahead: the results of a step come later than they have to.",
            edit=("if len(before) > 1:", "if len(before) > 2:"),
        ),
        Slip(
            "Everything is launched first and processed in the end: nobody gets a word before all is over.",
            edit=("        if len(before) > 1:\n            process(before.pop(0))\n", ""),
        ),
        Slip(
            "Steps are processed in the order in which they were launched; yours takes the newest first.",
            edit=("process(before.pop(0))", "process(before.pop())"),
        ),
    ),
    promises=(
        Promise(
            "Steps are processed in their order, each once, and the last one too.",
            edit=("    for work in before:\n        process(work)\n", ""),
        ),
    ),
)
