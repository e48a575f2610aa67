"""Section 7.25, The advisor: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB

scale = lazily("solutions.ch01.scale")
zero = lazily("solutions.ch05.zero")


def _least_stage(parameters: float, gpus: int) -> int:
    """The least ZeRO stage whose states fit in 80 GB."""
    return next(stage for stage in range(4) if zero.zero_memory(parameters, stage, gpus) <= 80 * GB)


def _states(parameters: float, stage: int, gpus: int, optimizer: float = 12.0) -> float:
    """Model states of one GPU, in GB."""
    return zero.zero_memory(parameters, stage, gpus, optimizer_bytes=optimizer) / GB


QUESTIONS = (
    Question(
        id="07-advisor-table",
        kind="design",
        title="States of 70 billion parameters",
        section="7.25",
        bonus=True,
        parts=tuple(
            Part(
                f"TP {tp}, PP {pp}",
                "GB",
                partial(_states, 70e9 / (tp * pp), 0, 1),
                slips=(
                    Slip(
                        "A parameter takes 16 bytes: the fp32 master copy counts.",
                        value=partial(_states, 70e9 / (tp * pp), 0, 1, 8.0),
                    ),
                ),
            )
            for tp, pp in ((1, 1), (8, 1), (8, 2), (8, 4))
        ),
        derivation="16 bytes per parameter, divided among TP times PP GPUs.",
    ),
    Question(
        id="07-hybrid-512",
        kind="derive",
        title="A hundred billion parameters on 512 GPUs",
        section="7.25",
        bonus=True,
        ask="states",
        unit="GB per GPU",
        answer=lambda: _states(100e9 / 64, 1, 8),
        slips=(
            Slip(
                "ZeRO-1 divides the optimizer states among the 8 replicas.",
                value=lambda: _states(100e9 / 64, 0, 8),
            ),
            Slip(
                "Everything over 512 is ZeRO-3: with ZeRO-1 weights and gradients stay whole in a replica.",
                value=lambda: _states(100e9 / 64, 3, 8),
            ),
        ),
        derivation="A GPU holds a 64th of the parameters: $\\frac{100 \\cdot 10^9}{8 \\cdot 8} \\left(2 + 2 + "
        "\\frac{12}{8}\\right)$ bytes.",
    ),
    Question(
        id="07-floor",
        kind="derive",
        title="Below the floor",
        section="7.25",
        bonus=True,
        parts=(
            Part(
                "fully sharded on 8 GPUs",
                "GB per GPU",
                lambda: _states(70e9, 3, 8),
                slips=(
                    Slip(
                        "A parameter takes 16 bytes: the fp32 master copy counts.",
                        value=lambda: _states(70e9, 3, 8, 8.0),
                    ),
                    Slip(
                        "TP and PP cut the same states: 8 GPUs hold all of them.", value=lambda: _states(70e9 / 8, 3, 8)
                    ),
                ),
            ),
            Part(
                "fewest GPUs of 80 GB",
                "GPUs",
                lambda: scale.minimum_ranks(70e9, 80 * GB),
                tolerance=0,
                slips=(
                    Slip(
                        "A parameter takes 16 bytes: the fp32 master copy counts.",
                        value=lambda: scale.minimum_ranks(70e9, 80 * GB, 12.0),
                    ),
                    Slip("On 8 GPUs a GPU holds an eighth, however it is cut: that is more than 80 GB.", value=8),
                ),
            ),
        ),
        derivation="Every byte is on some GPU: the floor is $16 N$ over the number of GPUs, whether ZeRO, TP or PP "
        "cuts. So the fewest are $\\lceil 16 N / 80\\,\\text{GB} \\rceil$, with $N = 70$ billion.",
    ),
    Question(
        id="07-five-cases",
        kind="design",
        title="The least sharding that fits",
        section="7.25",
        bonus=True,
        parts=(
            Part(
                "124M on 1 GPU",
                "GB",
                lambda: _states(124e6, 0, 1),
                slips=(Slip("A parameter takes 16 bytes.", value=lambda: _states(124e6, 0, 1, 8.0)),),
            ),
            Part(
                "124M on 4 GPUs",
                "GB",
                lambda: _states(124e6, _least_stage(124e6, 4), 4),
                slips=(Slip("It fits whole on each: no sharding is needed.", value=lambda: _states(124e6, 3, 4)),),
            ),
            Part(
                "7B on 4 GPUs: ZeRO stage",
                "",
                lambda: _least_stage(7e9, 4),
                tolerance=0,
                slips=(
                    Slip("Unsharded it takes 112 GB.", value=0),
                    Slip("More than is needed: stage 1 fits already.", value=2),
                    Slip("Far more than is needed, and weights are gathered in every pass.", value=3),
                ),
            ),
            Part(
                "7B on 4 GPUs",
                "GB",
                lambda: _states(7e9, _least_stage(7e9, 4), 4),
                slips=(
                    Slip("That is without sharding, and does not fit.", value=lambda: _states(7e9, 0, 4)),
                    Slip("That is 12 bytes per parameter, without sharding.", value=lambda: _states(7e9, 0, 4, 8.0)),
                ),
            ),
            Part(
                "70B on 8 GPUs, all sharded",
                "GB",
                lambda: _states(70e9, 3, 8),
                slips=(
                    Slip(
                        "A parameter takes 16 bytes; and TP on the same GPUs would not help either.",
                        value=lambda: _states(70e9, 3, 8, 8.0),
                    ),
                ),
            ),
            Part(
                "175B on 64 GPUs: ZeRO stage",
                "",
                lambda: _least_stage(175e9, 64),
                tolerance=0,
                slips=(
                    Slip("Weights and gradients whole on each GPU take 700 GB.", value=1),
                    Slip("The weights whole on each GPU take 350 GB.", value=2),
                ),
            ),
            Part(
                "175B on 64 GPUs",
                "GB",
                lambda: _states(175e9, _least_stage(175e9, 64), 64),
                slips=(
                    Slip("With stage 2 the weights stay whole.", value=lambda: _states(175e9, 2, 64)),
                    Slip("A parameter takes 16 bytes.", value=lambda: _states(175e9, 3, 64, 8.0)),
                ),
            ),
        ),
        derivation="16 bytes per parameter; ZeRO divides 12 of them, then 14, then all, by the number of GPUs. Take "
        "the first stage below 80 GB. What does not fit at stage 3 does not fit on the same GPUs in any other layout.",
    ),
)
