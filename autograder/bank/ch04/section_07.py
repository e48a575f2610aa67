"""Section 4.7, Measure, then fit: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="04-barrier-cost",
        kind="trace",
        title="A barrier between the readings",
        section="4.7",
        options=(
            "those of 4 KiB",
            "those of 4 MiB",
            "both alike",
            "neither of them",
        ),
        correct=0,
        derivation="A barrier sends no data, but it has the start-ups of a collective: every rank must hear that every "
        "other rank has arrived. That is a constant number of microseconds, which is a lot only next to a time of "
        "microseconds.",
        slips={
            1: "When the barrier begins, the all-reduce is over: no bytes are under way.",
            2: "The barrier adds about as many microseconds to both, so the percentages differ.",
            3: "A barrier's messages are empty, but each of them has to start, travel and be received.",
        },
    ),
    Choice(
        id="04-fit-bends",
        kind="trace",
        title="Where one line is not enough",
        section="4.7",
        options=(
            "for the all-reduces, at medium sizes",
            "for the all-reduces, at the largest sizes",
            "for the copies, at the smallest sizes",
            "for the copies, at the largest sizes",
        ),
        correct=0,
        derivation="The small sizes determine a line's start-up and the large ones its slope, which leaves it no "
        "freedom in between. A copy over one link works the same way at every size, so nothing bends there. A library "
        "switches from protocols that start fast but have little bandwidth to protocols that start slowly but have "
        "the full bandwidth, so its curve is made of several lines.",
        slips={
            1: "In seconds, perhaps. The fit weighs relative errors, and the largest sizes determine its slope.",
            2: "The smallest copies all take about as long as a start-up, and that is what the fit takes from them.",
            3: "A link has one rate, and the fit takes it from the largest copies.",
        },
    ),
)
