"""Chapter 6: the questions about what is split, and what goes wrong."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, MB, MiB

activations = lazily("solutions.ch06.activations")
attention_heads = lazily("solutions.ch06.heads")

HEADS, KV_HEADS = LLAMA3_70B.heads, LLAMA3_70B.kv_heads
#: Weights of a square layer, and of an MLP in fp32 bytes.
SQUARE, MLP = 8192**2, 2 * 4 * 4096**2 * 4
#: 12 h^2 L.
BLOCKS = 12 * LLAMA3_70B.hidden**2 * LLAMA3_70B.layers


def heads_of(ranks: int, place: int) -> int:
    """How many query (0) or key-value heads (1) a rank has, or how many ranks hold each of the latter (2)."""
    part = attention_heads.head_partition(HEADS, KV_HEADS, ranks, 0)[place]
    return part if isinstance(part, int) else len(part)


def all_gather_bytes(size: float, ranks: int) -> float:
    return (ranks - 1) / ranks * size


def xavier(fan_in: int, fan_out: int) -> float:
    return 2 / (fan_in + fan_out)


SHAPES = (
    Question(
        id="06-shapes",
        kind="derive",
        title="Shapes of split layers",
        section="6.1",
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
                    Slip("Those are both matrices in full.", value=MLP / MB),
                    Slip("Those are MiB.", value=MLP / 8 / MiB),
                    Slip("That is one of the two matrices.", value=MLP / 16 / MB),
                ),
            ),
        ),
        derivation="A column-parallel layer keeps $h/t$ rows of $h$ weights, with $h = 8192$ and $t = 8$. The MLP of "
        "$h = 4096$ has two matrices of $4h \\times h$; on 8 ranks each keeps an eighth of both, 4 bytes a weight.",
    ),
    Question(
        id="06-weights",
        kind="derive",
        title="Weights of 70B on a rank",
        section="6.1",
        parts=(
            Part(
                "all 70,553,706,496 parameters",
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
        derivation="Two bytes a parameter, an eighth on each rank. $12 h^2 L$ with $h = 8192$ and $L = 80$ leaves out "
        "the vocabulary, and takes a plain MLP for the gated one and full attention for grouped queries.",
    ),
    Question(
        id="06-init",
        kind="derive",
        title="Initialised by its own shape",
        section="6.1",
        parts=(
            Part(
                "variance, relative to the full layer's",
                "x",
                lambda: xavier(512, 2048 // 8) / xavier(512, 2048),
                slips=(
                    Slip("The fan-out of a shard is smaller, and so is the sum under the 2.", value=1),
                    Slip("Only the fan-out is split: the fan-in stays.", value=8),
                ),
            ),
        ),
        derivation="Xavier draws with variance $2 / (n_{in} + n_{out})$. The full layer has $512 + 2048$; a shard of "
        "its output features on 8 ranks has $512 + 2048/8$. So give it the full layer's fans.",
    ),
    Choice(
        id="06-missing-f",
        kind="trace",
        title="A column layer without f",
        section="6.2",
        options=(
            "the gradient of x alone: rank r holds the contribution of its own slice, a partial sum",
            "the output: rank r holds the product with its own slice",
            "the gradient of this layer's weight: rank r holds one part in t of it",
            "nothing that counts: the loss still falls",
        ),
        correct=0,
        derivation="$Y_r = X W_r^T$ needs nothing from other ranks, nor does $dW_r = dY_r^T X$. But $dX = \\sum_r dY_r "
        "W_r$, and without $f$ a rank has one term of it. Every layer below then learns from another gradient on each "
        "rank.",
        slips={
            1: "The output is right: a slice of it is what a column layer gives.",
            2: "A rank's weight gradient needs the gradient of its own outputs and all of x, and it has both.",
            3: "A loss may fall with a wrong gradient; the layers below do not learn what they should.",
        },
    ),
    Question(
        id="06-bias-error",
        kind="derive",
        title="A bias before the sum",
        section="6.3",
        parts=(
            Part(
                "error of Y, in biases",
                "",
                lambda: sum(1.0 for _ in range(4)) - 1,
                slips=(
                    Slip("That is how often it was added; once is right.", value=4),
                    Slip("The partial sums are added, not averaged.", value=3 / 4),
                ),
            ),
        ),
        derivation="Each of the $t = 4$ ranks adds the bias to its partial sum, and $g$ adds the sums up. Once would "
        "be right, so the error is what is added beyond that.",
    ),
    Question(
        id="06-gqa",
        kind="derive",
        title="64 query heads, 8 key-value heads",
        section="6.4",
        parts=(
            Part("query heads of a rank, t = 8", "", lambda: heads_of(8, 0), tolerance=0),
            Part("key-value heads of a rank, t = 8", "", lambda: heads_of(8, 1), tolerance=0),
            Part(
                "query heads of a rank, t = 16",
                "",
                lambda: heads_of(16, 0),
                tolerance=0,
                slips=(Slip("Twice the ranks, half the heads.", value=lambda: heads_of(8, 0)),),
            ),
            Part(
                "key-value heads of a rank, t = 16",
                "",
                lambda: heads_of(16, 1),
                tolerance=0,
                slips=(
                    Slip(
                        "There is no half of a head: where ranks outnumber them, heads are copied.", value=KV_HEADS / 16
                    ),
                ),
            ),
            Part(
                "ranks that keep the same key-value head, t = 16",
                "",
                lambda: heads_of(16, 2),
                tolerance=0,
                slips=(
                    Slip("8 heads on 16 ranks: some stand on more than one.", value=1),
                    Slip("That is how many query heads read one key-value head.", value=HEADS / KV_HEADS),
                ),
            ),
        ),
        derivation="Query heads: 64 divided by $t$. Key-value heads: 8 divided by $t$ while $t$ divides 8; beyond that "
        "each is copied to $t/8$ ranks, which then add up its weight gradient.",
    ),
    Question(
        id="06-vocab",
        kind="derive",
        title="A split vocabulary",
        section="6.5",
        parts=(
            Part(
                "50,257 tokens padded for 8 ranks",
                "",
                lambda: activations.padded_vocabulary(50_257, 8),
                tolerance=0,
                slips=(
                    Slip("A multiple of 8 alone: the rows of each rank are a multiple of 128 too.", value=50_264),
                    Slip("A multiple of 128 alone: each rank gets such a multiple.", value=50_304),
                ),
            ),
            Part(
                "sent to gather the logits",
                "bytes",
                lambda: all_gather_bytes(8192 * 128_256 * 2, 8),
                slips=(
                    Slip(
                        "That is all logits: in a ring every rank sends seven parts of eight.", value=8192 * 128_256 * 2
                    ),
                ),
            ),
            Part(
                "sent in three reductions",
                "bytes",
                lambda: 3 * 2 * all_gather_bytes(8192 * 4, 8),
                slips=(
                    Slip("An all-reduce has two phases.", value=3 * 7 / 8 * 8192 * 4),
                    Slip("That is one reduction.", value=2 * 7 / 8 * 8192 * 4),
                ),
            ),
        ),
        derivation="Padding: the next multiple of $128 t$. Gathering logits of $s = 8192$ tokens and $V = 128256$ in "
        "bf16 on $t = 8$ ranks: $\\frac{t-1}{t} \\cdot 2 s V$. Three all-reduces of $s$ fp32 numbers: $3 \\cdot "
        "2\\,\\frac{t-1}{t} \\cdot 4 s$.",
    ),
)
