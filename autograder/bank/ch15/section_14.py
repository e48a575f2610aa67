"""Section 15.14, Utilization: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, PEAK, TOKENS, matrix_parameters
from autograder.items import Question, Slip, lazily
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.models import LLAMA2_70B
from rankzero.facts.units import day, hour

flops = lazily("solutions.ch15.flops")

#: GPU-hours that the model cards print: Llama 3.1 405B on H100, Llama 2 70B on A100.
CARD_HOURS, CARD_HOURS_70B = 30.84e6, 1_720_320


QUESTIONS = (
    Question(
        id="cap-hfu",
        kind="derive",
        title="Hardware utilization with recomputation",
        section="15.14",
        bonus=True,
        ask="HFU",
        unit="%",
        answer=lambda: 100 * flops.utilization(400e12 * GPUS, 1, GPUS, PEAK, 1.0)[1],
        slips=(
            Slip("The forward pass is a third of a step: it adds a third.", value=lambda: 200 * 400e12 / PEAK),
            Slip("That is the MFU: HFU counts the second forward pass, too.", value=lambda: 100 * 400e12 / PEAK),
        ),
        derivation="MFU is 400 of 989.4 TFLOP/s. Recomputing every forward pass makes 3 parts of work 4: "
        "$\\mathrm{HFU} = \\frac43\\,\\mathrm{MFU}$.",
    ),
    Question(
        id="cap-70b-a100",
        kind="derive",
        title="What Llama 2 70B reached",
        section="15.14",
        bonus=True,
        ask="MFU",
        unit="%",
        answer=lambda: 100 * 6 * LLAMA2_70B.parameters * 2e12 / (CARD_HOURS_70B * hour * A100_SXM.peak_bf16),
        slips=(
            Slip("That is a guess. Compute it from the GPU-hours.", value=50),
            Slip(
                "That is the peak with sparsity.",
                value=lambda: 50 * 6 * LLAMA2_70B.parameters * 2e12 / (CARD_HOURS_70B * hour * A100_SXM.peak_bf16),
            ),
        ),
        derivation="$$\\frac{6 N D}{\\text{GPU-hours} \\cdot 3600 \\cdot \\text{peak}}$$\n\nwith $N$ = 69.0e9, "
        "$D$ = 2e12, 1.72 million GPU-hours and 312 TFLOP/s dense.",
    ),
    Question(
        id="cap-mfu-hours",
        kind="derive",
        title="Utilization from end to end",
        section="15.14",
        bonus=True,
        ask="MFU",
        unit="%",
        answer=lambda: 100 * 6 * matrix_parameters() * TOKENS / (CARD_HOURS * hour * PEAK),
        slips=(
            Slip(
                "That takes the 54 days of the failure log for the training.",
                value=lambda: 100 * 6 * matrix_parameters() * TOKENS / (54 * day * GPUS * PEAK),
            ),
        ),
        derivation="$6ND$ over GPU-hours times 3,600 times the peak, with $N$ = 404e9, $D$ = 15.6e12, 30.84 "
        "million GPU-hours and 989.4 TFLOP/s. Whether the GPU-hours include restarts is not published.",
    ),
)
