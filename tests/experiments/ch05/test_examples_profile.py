"""The worked example of the section about profiles: each number that the text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch05.profile_runs import toy_step
from rankzero.facts import measured_traces as traces
from rankzero.facts.units import ms
from tests.worked_examples import examples, missing
from tools.common import BOOK

STEP = toy_step()
SENT = traces.select(STEP, "all_reduce", rank=0)
COMPUTING = traces.select(STEP, *traces.COMPUTING, rank=0)
HIDDEN, WHOLE = traces.overlap(SENT, COMPUTING) / ms, traces.total(SENT) / ms


def of_chapter_5() -> dict[str, str]:
    """The worked examples of the chapter's page and of the deeper one."""
    pages = [page.relative_to(BOOK).with_suffix("").as_posix() for page in sorted(BOOK.rglob("05-*.ipynb"))]
    return {name: text for page in pages for name, text in examples(page).items()}


def parts() -> list[str]:
    lengths = [f"{span.seconds / ms:g}" for span in SENT]
    start, end = SENT[1].start / ms, SENT[0].end / ms
    last = max(span.end for span in COMPUTING if span.kind == "backward") / ms
    gap = traces.largest_gap(COMPUTING)
    return [
        f"take {lengths[0]}, {lengths[1]} and {lengths[2]} ms",
        f"adds up to {sum(span.seconds for span in SENT) / ms:g} ms",
        f"From {start:g} to {end:g} ms two of them",
        f"communicates for only {WHOLE:g} ms",
        f"without a pause until {last:g} ms",
        f"{HIDDEN:g} of the {WHOLE:g} ms are **hidden**",
        f"{100 * HIDDEN / WHOLE:g} percent",
        f"the other {(gap[1] - gap[0]) / ms:g} ms are **exposed**",
        f"last {traces.steps(STEP, 0)[0][1] / ms:g} ms instead of {traces.total(COMPUTING) / ms:g} ms",
    ]


def test_the_numbers_of_the_example():
    assert missing(of_chapter_5()["profile-example"], parts()) == []


def test_the_gap_is_what_is_exposed():
    """The step's length is its computing and the exposed communication, and nothing else."""
    ((start, end),) = traces.steps(STEP, 0)
    assert pytest.approx(WHOLE - HIDDEN) == traces.waits(STEP, 0)[0] / ms
    assert pytest.approx(WHOLE - HIDDEN) == (end - start - traces.total(COMPUTING)) / ms
