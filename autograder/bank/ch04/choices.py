"""Chapter 04: what to explain, to follow and to decide on the path."""

from __future__ import annotations

from autograder.items import Choice, Order

TREES = (
    Order(
        id="04-tree-way",
        kind="trace",
        title="From rank 7 to rank 5",
        section="4.3",
        steps=(
            "rank 7 sends to rank 6",
            "rank 6 sends to rank 4",
            "rank 4 sends to rank 0",
            "rank 0 sends to rank 4",
            "rank 4 sends to rank 5",
        ),
        derivation="Rank 7's number climbs from child to parent until it is part of the total on rank 0. Rank 4 has "
        "added it on the way, but it does not have the other ranks' numbers yet, so it has nothing to hand to rank 5 "
        "until the total comes back down.",
    ),
)

WINNERS = (
    Choice(
        id="04-best-of-both",
        kind="trace",
        title="Few start-ups and few bytes",
        section="4.4",
        options=(
            "the distance: half of the data goes far, over shared links",
            "the bytes: every rank sends more of them than in a ring",
            "the start-ups: every rank has more than in two trees",
            "the memory: every rank keeps a copy for each partner",
        ),
        correct=0,
        derivation="The model gives every pair of ranks a link of its own. In a real machine distant partners share "
        "links, and half of the tensor goes to the most distant one. Besides, when $N$ is not a power of two some "
        "ranks have no partner. In a ring or a tree a rank talks only to a few neighbors.",
        slips={
            1: "It moves 2(N-1)/N of S, exactly as much as the ring.",
            2: "It has two start-ups on each of log2 N levels, exactly as many as two trees.",
            3: "It adds what arrives to its own part of the tensor; a buffer of half the tensor is enough.",
        },
    ),
)

MEASURED = (
    Choice(
        id="04-busbw-above",
        kind="trace",
        title="Faster than the wire",
        section="4.6",
        options=(
            "the factor: it assumes a ring, and no ring was used",
            "the ports: NVLink's 450 GB/s and a port's 50 add up",
            "the directions: both together carry 900 GB/s",
            "the size: S is counted once on each of the nodes",
        ),
        correct=0,
        derivation="The tool knows S and t, not what traveled: it multiplies $S/t$ by $\\frac{2(N-1)}{N}$, what a "
        "ring of 16 would put on each wire. Over two nodes a tree sends one node's sum out and receives the total, $S$ "
        "each way, where rings send nearly twice as much. And inside the node the switch that joins the GPUs can do "
        "the adding itself (NVIDIA calls this NVLink SHARP), so that a GPU sends its data once.",
        slips={
            1: "Even over all links at once, rings push nearly 2 S out of each node: 16 GiB would take 80 ms at 400 "
            "GB/s, and the table says 66.",
            2: "Bus bandwidth is compared with one direction, and a ring, too, uses one direction of each link.",
            3: "S is the tensor of one rank, counted once, and the time is right too.",
        },
    ),
)

FITTED = (
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
        "switches from protocols that start fast but have little bandwidth to ones that start slowly but have all of "
        "it, so its curve is made of several lines.",
        slips={
            1: "In seconds, perhaps. The fit weighs relative errors, and the largest sizes determine its slope.",
            2: "The smallest copies all take about as long as a start-up, and that is what the fit takes from them.",
            3: "A link has one rate, and the largest copies are what the fit takes it from.",
        },
    ),
)

CHOICES = (*TREES, *WINNERS, *MEASURED, *FITTED)
