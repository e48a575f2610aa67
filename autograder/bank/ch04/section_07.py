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
        derivation="A barrier sends none of your data, but it has the start-ups of a collective: every rank must hear "
        "that every other rank has arrived. That takes about as long after a small all-reduce as after a large one, so "
        "it is a lot only next to a short time.",
        slips={
            1: "A rank begins the barrier when its all-reduce is over, and the barrier sends none of the tensor.",
            2: "The barrier adds about as many microseconds to both, so the percentages differ.",
            3: "A barrier's messages are empty or tiny, but each of them has to start, travel and be received.",
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
        "freedom in between. These copies over one link stay close to a line at nearly every size. NCCL can switch "
        "from protocols that start fast but have little bandwidth to protocols that start slowly but have the full "
        "bandwidth, so its curve can be made of several lines.",
        slips={
            1: "In seconds, perhaps. The fit weighs relative errors, and the largest sizes determine its slope.",
            2: "The smallest copies all take about as long as a start-up, and that is what the fit takes from them.",
            3: "The largest copies all run at nearly the same rate, and the fit takes it from them.",
        },
    ),
)
