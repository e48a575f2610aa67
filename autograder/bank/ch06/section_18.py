"""Section 6.18, What is kept, tensor by tensor: its questions."""

from __future__ import annotations

from autograder.bank.ch06.quantities import gpt3_layer
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, MB

layer_memory = lazily("solutions.ch06.layer_memory")


def large_batch(batch: int, **options: object) -> float:
    """All layers of the 70B shape under plain tensor parallelism on 8 ranks, the attention matrix kept."""
    shape = (4096, batch, LLAMA3_70B.hidden, LLAMA3_70B.heads)
    return LLAMA3_70B.layers * layer_memory.stored_by_layer(*shape, ranks=8, **options)


QUESTIONS = (
    Question(
        id="06-tp-acts",
        kind="derive",
        title="One GPT-3 layer on 8 ranks",
        section="6.18",
        bonus=True,
        parts=(
            Part(
                "tensor parallelism",
                "MB",
                lambda: gpt3_layer(ranks=8) / MB,
                slips=(
                    Slip(
                        "Norms, masks and residuals stay whole: not everything is divided.",
                        value=lambda: gpt3_layer() / 8 / MB,
                    ),
                    Slip("That is without any splitting.", value=lambda: gpt3_layer() / MB),
                ),
            ),
            Part(
                "and sequence parallelism",
                "MB",
                lambda: gpt3_layer(ranks=8, sequence_parallel=True) / MB,
                slips=(Slip("Now everything is divided.", value=lambda: gpt3_layer(ranks=8) / MB),),
            ),
            Part(
                "and selective recomputation",
                "MB",
                lambda: gpt3_layer(ranks=8, sequence_parallel=True, recompute="selective") / MB,
                slips=(
                    Slip(
                        "That is full recomputation.",
                        value=lambda: gpt3_layer(ranks=8, sequence_parallel=True, recompute="full") / MB,
                    ),
                ),
            ),
            Part(
                "the last of the first",
                "%",
                lambda: 100 * gpt3_layer(ranks=8, sequence_parallel=True, recompute="selective") / gpt3_layer(ranks=8),
                slips=(
                    Slip(
                        "That is the last of the second, not of the first.",
                        value=lambda: 100 * gpt3_layer(recompute="selective") / gpt3_layer(),
                    ),
                ),
            ),
        ),
        derivation="$s b h\\,(10 + 24/t + 5 a s/(h t))$; with sequence parallelism $s b h\\,(34 + 5 a s/h)/t$; without "
        "the attention matrix $34\\,s b h/t$. $s = 2048$, $b = 1$, $h = 12288$, $a = 96$, $t = 8$.",
    ),
    Question(
        id="06-batch",
        kind="derive",
        title="Activations and the batch",
        section="6.18",
        bonus=True,
        parts=(
            Part(
                "batch 1",
                "GB",
                lambda: large_batch(1) / GB,
                slips=(
                    Slip("Activations are not a multiple of the weights.", value=lambda: 10 * 2 * 70e9 / 8 / GB),
                    Slip(
                        "Norms, masks and residuals stay whole: not everything is divided.",
                        value=lambda: large_batch(1, sequence_parallel=True) / GB,
                    ),
                    Slip(
                        "That leaves the attention matrix out.",
                        value=lambda: large_batch(1, recompute="selective") / GB,
                    ),
                ),
            ),
            Part(
                "batch 64",
                "GB",
                lambda: large_batch(64) / GB,
                slips=(
                    Slip("Activations grow with the batch; weights do not.", value=lambda: 10 * 2 * 70e9 / 8 / GB),
                    Slip("That is batch 1.", value=lambda: large_batch(1) / GB),
                ),
            ),
        ),
        derivation="$80\\,s b h\\,(10 + 24/t + 5 a s/(h t))$ with $s = 4096$, $h = 8192$, $a = 64$ and $t = 8$: plain "
        "tensor parallelism, a classic layer, the attention matrix kept. Everything is proportional to $b$.",
    ),
)
