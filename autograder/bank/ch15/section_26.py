"""Section 15.26, Failures that come together: its questions."""

from __future__ import annotations

import math

from autograder.items import Estimate, Landmark, Slip

#: Failures of the published run that cost a node (GPUs and hosts, the table's kinds), its days, and the assumed repair.
NODE_FAILURES, DAYS, REPAIR = 321, 54, 3


def _spares(mean: float, sure: float = 0.99) -> int:
    """The smallest number that a Poisson count with this mean exceeds at most once in a hundred times."""
    term = total = math.exp(-mean)
    count = 0
    while total < sure:
        count += 1
        term *= mean / count
        total += term
    return count


QUESTIONS = (
    Estimate(
        id="cap-spares",
        title="How many spare nodes?",
        section="15.26",
        bonus=True,
        label="spares that suffice 99 percent of the time, when 321 nodes fail in 54 days and a repair takes 3 days",
        unit="nodes",
        answer=lambda: float(_spares(NODE_FAILURES * REPAIR / DAYS)),
        factor=1.4,
        scale=(1.0, 3000.0),
        landmarks=(
            Landmark(1.0, "1", "one spare"),
            Landmark(NODE_FAILURES / DAYS, "6", "failures in a day"),
            Landmark(NODE_FAILURES, "321", "failures in 54 days"),
            Landmark(2048.0, "2,048", "the whole job"),
        ),
        slips=(
            Slip("That replaces every node for good. They come back after three days.", value=NODE_FAILURES),
            Slip("That many fail in a month. But a node is back after three days.", value=NODE_FAILURES * 30 / DAYS),
            Slip("That many fail in a day, but each is away for three days.", value=NODE_FAILURES / DAYS),
        ),
        derivation=(
            "About 6 nodes fail in a day and each is away for 3, so 18 are in repair on average. Independent failures "
            "make that number vary by about its root, 4, and 99 cases in 100 lie below 18 + 2.3 times 4, or 28."
        ),
    ),
)
