"""Section 6.15, The vocabulary: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

activations = lazily("solutions.ch06.activations")


def all_gather_bytes(size: float, ranks: int) -> float:
    return (ranks - 1) / ranks * size


QUESTIONS = (
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
