"""Section 4.14, Levels in closed form: its questions."""

from __future__ import annotations

from collections.abc import Callable

from autograder.bank.ch04.quantities import all_reduce_ms
from autograder.items import Part, Question, Slip
from rankzero.facts.hardware import DGX_H100, NVLINK3, NVLINK4
from rankzero.facts.units import GB

PORT = DGX_H100.port.bandwidth


def _levels(inside: float) -> Callable[[], float]:
    """The hierarchical plan of 20 GB on 8 x 8 GPUs in milliseconds, with ``inside`` times its part inside the nodes."""
    within = all_reduce_ms("ring", 20 * GB, 8, NVLINK4.bandwidth, 0.0, times=inside)
    return lambda: within() + all_reduce_ms("ring", 20 * GB / 8, 8, PORT)()


QUESTIONS = (
    Question(
        id="04-64-gpus-naive",
        kind="derive",
        title="64 GPUs, as if on one NVLink",
        section="4.14",
        bonus=True,
        ask="time",
        unit="ms",
        answer=all_reduce_ms("ring", 20 * GB, 64, NVLINK3.bandwidth),
        slips=(
            Slip(
                "That adds both directions of the link: a ring sends in one.",
                value=all_reduce_ms("ring", 20 * GB, 64, 2 * NVLINK3.bandwidth),
            ),
        ),
        derivation="Half of the advertised sum goes one way. Then $\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 64$ "
        "and $S = 20$ GB. (In reality 64 GPUs in nodes of eight do not share one NVLink.)",
    ),
    Question(
        id="04-hierarchy-total",
        kind="derive",
        title="Both levels",
        section="4.14",
        bonus=True,
        parts=(
            Part(
                "total",
                "ms",
                _levels(inside=1.0),
                slips=(
                    Slip("The way back inside the node is missing.", value=_levels(inside=0.5)),
                    Slip("That is the step across nodes alone.", value=_levels(inside=0.0)),
                ),
            ),
            Part(
                "of it across nodes",
                "%",
                lambda: 100 * _levels(inside=0.0)() / _levels(inside=1.0)(),
                slips=(
                    Slip(
                        "That is the part inside the nodes.",
                        value=lambda: 100 - 100 * _levels(inside=0.0)() / _levels(inside=1.0)(),
                    ),
                ),
            ),
        ),
        derivation="Inside: a reduce-scatter and an all-gather of $S$ among $g$ GPUs, "
        "$\\frac{2(g-1)}{g}\\cdot\\frac{S}{B_1}$. Across: $\\frac{2(n-1)}{n}\\cdot\\frac{S/g}{B_2}$. With $S = 20$ "
        "GB, $n = g = 8$, and 450 and 50 GB/s.",
    ),
    Question(
        id="04-one-port",
        kind="derive",
        title="Flat rings over one port and over eight",
        section="4.14",
        bonus=True,
        parts=(
            Part(
                "one port",
                "ms",
                all_reduce_ms("ring", 20 * GB, 64, PORT),
                slips=(
                    Slip(
                        "That is the part across nodes of the plan with levels.",
                        value=all_reduce_ms("ring", 20 * GB / 8, 8, PORT),
                    ),
                ),
            ),
            Part(
                "eight ports",
                "ms",
                all_reduce_ms("ring", 20 * GB, 64, DGX_H100.network_bandwidth),
                slips=(
                    Slip(
                        "That is the least of any plan that adds on the GPUs: a ring of 64 moves a little more.",
                        value=all_reduce_ms("ring", 20 * GB / 8, 8, PORT),
                    ),
                ),
            ),
        ),
        derivation="A ring over all 64 GPUs enters and leaves each node once, and is as fast as that hop: "
        "$\\frac{2(N-1)}{N}\\cdot\\frac{S}{B}$ with $N = 64$, $S = 20$ GB and $B = 50$ GB/s. Eight rings, one for "
        "each port, carry an eighth each at the same time.",
    ),
)
