"""Section 6.19, Where to put checkpoints: its questions."""

from __future__ import annotations

import math

from autograder.bank.ch06.quantities import GPT3_HIDDEN, GPT3_LAYERS, GPT3_SEQUENCE, gpt3_layer
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB

activations = lazily("solutions.ch06.activations")


def eight_bytes() -> float:
    """The rule 8 s b h L."""
    return 8 * GPT3_SEQUENCE * GPT3_HIDDEN * GPT3_LAYERS


def segment_peak() -> float:
    return activations.best_segment(GPT3_LAYERS, gpt3_layer(), gpt3_layer(recompute="full"))[1]


def core_share() -> float:
    """Attention scores and sums in a forward pass: 4 s^2 b h of (24 h + 4 s) s b h."""
    return 4 * GPT3_SEQUENCE / (24 * GPT3_HIDDEN + 4 * GPT3_SEQUENCE)


QUESTIONS = (
    Question(
        id="06-gpt3",
        kind="derive",
        title="Activations of GPT-3",
        section="6.19",
        bonus=True,
        parts=(
            Part(
                "nothing recomputed",
                "GB",
                lambda: GPT3_LAYERS * gpt3_layer() / GB,
                slips=(
                    Slip("8 s b h per layer leaves out most of it.", value=lambda: eight_bytes() / GB),
                    Slip(
                        "That leaves the attention matrix out.",
                        value=lambda: GPT3_LAYERS * gpt3_layer(recompute="selective") / GB,
                    ),
                ),
            ),
            Part(
                "full recomputation, with the layer that is alive",
                "GB",
                lambda: segment_peak() / GB,
                slips=(
                    Slip(
                        "The square root of the number of layers is right only if a checkpoint is as large as a layer.",
                        value=lambda: eight_bytes() / math.sqrt(GPT3_LAYERS) / GB,
                    ),
                    Slip(
                        "While a layer runs again, its own activations are alive, too.",
                        value=lambda: GPT3_LAYERS * gpt3_layer(recompute="full") / GB,
                    ),
                ),
            ),
        ),
        derivation="$L\\,s b h\\,(34 + 5 a s/h)$, and $L \\cdot 2 s b h$ for the inputs of all layers plus one layer "
        "in full, with $L = 96$, $s = 2048$, $b = 1$, $h = 12288$, $a = 96$.",
    ),
    Question(
        id="06-selective",
        kind="derive",
        title="What selective recomputation repeats",
        section="6.19",
        bonus=True,
        parts=(
            Part(
                "attention core, of all forward matrix FLOPs",
                "%",
                lambda: 100 * core_share(),
                slips=(
                    Slip(
                        "That is relative to the other matrix products, but the core is one of them itself.",
                        value=100 * GPT3_SEQUENCE / (6 * GPT3_HIDDEN),
                    ),
                    Slip("That is its share of a whole step.", value=lambda: 100 * core_share() / 3),
                ),
            ),
            Part(
                "recomputing it, of a whole step",
                "%",
                lambda: 100 * core_share() / 3,
                slips=(
                    Slip(
                        "That is relative to a forward pass, and a step takes three times as long.",
                        value=lambda: 100 * core_share(),
                    ),
                    Slip("That is full recomputation.", value=100 / 3),
                ),
            ),
        ),
        derivation="Scores and weighted sums take $4 b s^2 h$ FLOP per layer, the other products $24\\, b s h^2$, and "
        "a backward pass takes twice as many as a forward pass. So the core is $s/(6h + s)$ of all forward matrix "
        "products and $s/(18h + 3s)$ of a step, with $s = 2048$ and $h = 12288$.",
    ),
    Question(
        id="06-microbatch",
        kind="derive",
        title="Small micro-batches or recomputation",
        section="6.19",
        bonus=True,
        parts=(
            Part(
                "micro-batch 8",
                "units of time",
                lambda: 2048 / 8 / 8,
                slips=(Slip("That is one rank: eight share the batch.", value=2048 / 8),),
            ),
            Part(
                "micro-batch 16, full recomputation",
                "units of time",
                lambda: 2048 / 8 / 16 * 2 * 4 / 3,
                slips=(
                    Slip("A micro-batch of 16 takes twice as long as one of 8.", value=16 * 4 / 3),
                    Slip("Recomputing repeats the forward pass, a third of a step, not all of it.", value=16 * 2 * 2),
                    Slip("That leaves the recomputation out.", value=16 * 2),
                ),
            ),
        ),
        derivation="Each of 8 ranks gets 256 of the 2,048 sequences. In micro-batches of 8 these take one unit each. "
        "In micro-batches of 16 there are half as many, each takes twice as long, and repeating the forward pass "
        "makes it $\\frac43$ of that. Here recomputation has only cost time: it pays where it makes something fit.",
    ),
    Question(
        id="06-segment",
        kind="trace",
        title="How many layers between checkpoints",
        section="6.19",
        bonus=True,
        parts=(
            Part(
                "100 layers as large as a checkpoint",
                "layers",
                lambda: activations.best_segment(100, 1, 1)[0],
                tolerance=0,
                slips=(Slip("That keeps the fewest layers alive at once, but all 100 inputs.", value=1),),
            ),
            Part(
                "their peak",
                "layers",
                lambda: activations.best_segment(100, 1, 1)[1],
                tolerance=0,
                slips=(
                    Slip(
                        "Those are the checkpoints alone: while a segment runs backward, its own layers live too.",
                        value=10,
                    ),
                    Slip("That is every input and one layer that is alive.", value=101),
                ),
            ),
            Part(
                "80 layers, each 17 checkpoints large",
                "layers",
                lambda: activations.best_segment(80, 17, 1)[0],
                tolerance=0,
                slips=(
                    Slip(
                        "The square root of L is right only if a checkpoint is as large as a layer.",
                        value=round(math.sqrt(80)),
                    ),
                    Slip(
                        "A longer segment has one more layer alive but keeps fewer checkpoints: compare the peaks.",
                        value=1,
                    ),
                ),
            ),
        ),
        derivation="The peak is $\\lceil L/k \\rceil\\,c + k\\,a$, lowest near $k = \\sqrt{L c/a}$: try the whole "
        "numbers around it, with $a = c$ and $L = 100$, then with $a = 17 c$ and $L = 80$.",
    ),
    Choice(
        id="06-offload",
        kind="trace",
        title="Copy or compute again",
        section="6.19",
        bonus=True,
        options=(
            "offloading: 43 ms are more than 31",
            "offloading: the copies go out and come back, 86 ms against 31",
            "recomputation: it adds its 31 ms, while copies add only what outlasts the computation beside them",
            "neither: both run beside the computation of other layers",
        ),
        correct=2,
        derivation=(
            "In the forward pass a layer's copy has 31 ms of computation beside it and takes 43, so each layer adds 12 "
            "ms. In the backward pass the copy back has 62 ms beside it and adds nothing. Recomputation occupies the "
            "GPU's own multiprocessors for 31 ms. So offloading wins here, although its copies take longer."
        ),
        slips={
            0: "A copy and a computation use different parts of the machine and can run at the same time.",
            1: "Both directions count only where they outlast the computation beside them: 31 ms, then 62 ms.",
            3: "Recomputation needs the GPU's arithmetic, which the other layers need as well.",
        },
    ),
)
