"""Chapter 6: the questions about what is split, and what goes wrong."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
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
    Question(
        id="06-init",
        kind="derive",
        title="Initialized by its own shape",
        section="6.12",
        bonus=True,
        parts=(
            Part(
                "variance, relative to the full layer's",
                "x",
                lambda: xavier(512, 2048 // 8) / xavier(512, 2048),
                slips=(
                    Slip("The fan-out of a shard is smaller, so the variance changes.", value=1),
                    Slip("Only the fan-out is split: the fan-in stays.", value=8),
                ),
            ),
        ),
        derivation="Xavier draws with variance $2 / (n_{in} + n_{out})$. The full layer has $512 + 2048$; a shard of "
        "its output features on 8 ranks has $512 + 2048/8$. So use the fan-in and fan-out of the full layer.",
    ),
    Question(
        id="06-bias-error",
        kind="derive",
        title="A bias before the sum",
        section="6.13",
        bonus=True,
        parts=(
            Part(
                "error of Y, in biases",
                "",
                lambda: sum(1.0 for _ in range(4)) - 1,
                slips=(
                    Slip("That is how often it was added, and once is right.", value=4),
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
            Part("query heads of a rank, on 8 ranks", "", lambda: heads_of(8, 0), tolerance=0),
            Part("key-value heads of a rank, on 8 ranks", "", lambda: heads_of(8, 1), tolerance=0),
            Part(
                "query heads of a rank, on 16 ranks",
                "",
                lambda: heads_of(16, 0),
                tolerance=0,
                slips=(Slip("Twice the ranks, half the heads.", value=lambda: heads_of(8, 0)),),
            ),
            Part(
                "key-value heads of a rank, on 16 ranks",
                "",
                lambda: heads_of(16, 1),
                tolerance=0,
                slips=(
                    Slip(
                        "There is no half of a head: where ranks outnumber the heads, these are copied.",
                        value=KV_HEADS / 16,
                    ),
                ),
            ),
            Part(
                "ranks that keep the same key-value head, of 16",
                "",
                lambda: heads_of(16, 2),
                tolerance=0,
                slips=(
                    Slip("8 heads on 16 ranks: each is held by more than one.", value=1),
                    Slip("That is how many query heads read one key-value head.", value=HEADS / KV_HEADS),
                ),
            ),
        ),
        derivation="Each of $t$ ranks holds $64/t$ query heads. As long as $t$ divides 8, it also holds $8/t$ "
        "key-value heads; beyond that each of these is copied to $t/8$ ranks, which add up its gradient.",
    ),
    Question(
        id="06-vocab",
        kind="derive",
        title="A split vocabulary",
        section="6.15",
        bonus=True,
        parts=(
            Part(
                "50,257 tokens padded for 8 ranks",
                "",
                lambda: activations.padded_vocabulary(50_257, 8),
                tolerance=0,
                slips=(
                    Slip(
                        "That is only a multiple of 8: the rows of each rank have to be a multiple of 128, too.",
                        value=50_264,
                    ),
                    Slip("That is only a multiple of 128: each rank has to get such a multiple.", value=50_304),
                ),
            ),
            Part(
                "sent to gather the logits",
                "bytes",
                lambda: all_gather_bytes(8192 * 128_256 * 2, 8),
                slips=(
                    Slip(
                        "That is all the logits: in a ring, every rank sends seven eighths of them.",
                        value=8192 * 128_256 * 2,
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
