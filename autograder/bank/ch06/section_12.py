"""Section 6.12, Seeds, shapes and initial values: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, MB, MiB

#: Weights of a square layer, and of an MLP in fp32 bytes.
SQUARE, MLP = 8192**2, 2 * 4 * 4096**2 * 4

#: 12 h^2 L.
BLOCKS = 12 * LLAMA3_70B.hidden**2 * LLAMA3_70B.layers


def xavier(fan_in: int, fan_out: int) -> float:
    return 2 / (fan_in + fan_out)


QUESTIONS = (
    Question(
        id="06-init",
        kind="derive",
        title="Initialized by its own shape",
        section="6.12",
        bonus=True,
        ask="variance, relative to the full layer's",
        unit="x",
        answer=lambda: xavier(512, 2048 // 8) / xavier(512, 2048),
        slips=(
            Slip("The fan-out of a shard is smaller, so the variance changes.", value=1),
            Slip("Only the fan-out is split: the fan-in stays.", value=8),
        ),
        derivation="Xavier draws with variance $2 / (n_{in} + n_{out})$. The full layer has $512 + 2048$; a shard of "
        "its output features on 8 ranks has $512 + 2048/8$. So use the fan-in and fan-out of the full layer.",
    ),
    Question(
        id="06-shapes",
        kind="derive",
        title="Shapes of split layers",
        section="6.12",
        bonus=True,
        parts=(
            Part(
                "output features on a rank",
                "",
                lambda: 8192 / 8,
                tolerance=0,
                slips=(Slip("That is the whole layer: its output features are split.", value=8192),),
            ),
            Part(
                "parameters on a rank",
                "",
                lambda: SQUARE / 8,
                tolerance=0,
                slips=(
                    Slip("That is the whole matrix.", value=SQUARE),
                    Slip("Only one of the two dimensions is split.", value=SQUARE / 64),
                ),
            ),
            Part(
                "both MLP matrices on a rank",
                "MB",
                lambda: MLP / 8 / MB,
                slips=(
                    Slip("Those are both matrices, not split.", value=MLP / MB),
                    Slip("Those are MiB.", value=MLP / 8 / MiB),
                    Slip("That is one of the two matrices.", value=MLP / 16 / MB),
                ),
            ),
        ),
        derivation="A column-parallel layer keeps $h/t$ rows of $h$ weights, with $h = 8192$ and $t = 8$. The MLP of "
        "$h = 4096$ has two matrices of $4h \\times h$; on 8 ranks each keeps an eighth of both, at 4 bytes per "
        "weight.",
    ),
    Question(
        id="06-weights",
        kind="derive",
        title="Weights of 70B on a rank",
        section="6.12",
        bonus=True,
        parts=(
            Part(
                "all 70.6 billion parameters",
                "GB",
                lambda: 2 * LLAMA3_70B.parameters / 8 / GB,
                slips=(Slip("That is the model before it is split.", value=lambda: 2 * LLAMA3_70B.parameters / GB),),
            ),
            Part(
                "by 12 h² L",
                "GB",
                lambda: 2 * BLOCKS / 8 / GB,
                slips=(
                    Slip("That is the model before it is split.", value=2 * BLOCKS / GB),
                    Slip(
                        "That is the exact count: the formula is an estimate.",
                        value=lambda: 2 * LLAMA3_70B.parameters / 8 / GB,
                    ),
                ),
            ),
        ),
        derivation="Two bytes per parameter, and an eighth of them on each rank. $12 h^2 L$ with $h = 8192$ and $L = "
        "80$ leaves out the vocabulary and assumes a plain MLP and full attention in place of a gated MLP and "
        "grouped queries.",
    ),
)
