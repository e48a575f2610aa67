"""The capstone: the questions about parameters, FLOP, tokens, utilization and days."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, PEAK, TOKENS, layer_parameters, matrix_parameters, part
from autograder.items import Choice, Question, lazily
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.models import GPT3_175B, LLAMA2_70B, LLAMA3_405B
from rankzero.facts.units import billion, day, hour, million, trillion

flops = lazily("solutions.ch15.flops")
scale = lazily("solutions.ch01.scale")

#: GPU-hours that the model cards print: Llama 3.1 405B on H100, Llama 2 70B on A100.
CARD_HOURS, CARD_HOURS_70B = 30.84e6, 1_720_320


def attention_percent(sequence: int, causal: bool = True) -> float:
    """Attention's FLOP in percent of 6N, Llama 3.1 405B."""
    model, n = LLAMA3_405B, matrix_parameters()
    width = model.heads * model.head_dim
    return 100 * (flops.training_flops(n, [(1, sequence)], model.layers, width, causal) / (6 * n) - 1)


def _phases_flops(phases: list[tuple[float, int]], causal: bool = True) -> float:
    model = LLAMA3_405B
    return flops.training_flops(matrix_parameters(), phases, model.layers, model.heads * model.head_dim, causal)


def _longer_percent(causal: bool = True) -> float:
    mixed = _phases_flops([(14.8e12, 8192), (0.8e12, 131_072)], causal)
    return 100 * (mixed / _phases_flops([(15.6e12, 8192)], causal) - 1)


def run_days(mfu: float, peak: float = PEAK) -> float:
    """Days of 6ND on 16,384 GPUs."""
    return scale.training_time(6 * matrix_parameters() * TOKENS, GPUS, peak, mfu) / day


COUNTS = (
    Question(
        id="cap-params",
        kind="derive",
        title="All parameters of the 405B model",
        section="15.11",
        bonus=True,
        parts=(
            part(
                "parameters",
                "",
                lambda: LLAMA3_405B.parameters,
                (
                    "Four squares of h for attention: grouped queries have narrow keys and values.",
                    lambda: LLAMA3_405B.parameters + 126 * 2 * 16_384 * 120 * 128,
                ),
                ("That is the name, which is rounded: the formula gives every digit.", 405e9),
                ("The head is a matrix of its own.", lambda: LLAMA3_405B.parameters - 128_256 * 16_384),
                ("The norms have weights, too.", lambda: LLAMA3_405B.parameters - (2 * 126 + 1) * 16_384),
                tolerance=0,
            ),
        ),
        derivation="$$L\\,(2hA + 2hK + 3hf + 2h) + 2Vh + h$$\n\nwith $L = 126$, $h = 16384$, $A = 128 \\cdot 128$, "
        "$K = 8 \\cdot 128$, $f = 53248$ and $V = 128256$: four matrices of attention, three of the feed-forward "
        "block, two norms; then embedding, head and last norm.",
    ),
    Question(
        id="cap-gqa-layer",
        kind="derive",
        title="One layer with grouped queries",
        section="15.11",
        bonus=True,
        parts=(
            part(
                "parameters",
                "",
                layer_parameters,
                ("Keys and values have 8 heads, not 128.", lambda: layer_parameters() + 2 * 16_384 * 120 * 128),
                ("Two norms have hidden weights each.", lambda: layer_parameters() - 2 * 16_384),
                ("A gated block has three matrices.", lambda: layer_parameters() - 16_384 * 53_248),
                tolerance=0,
            ),
        ),
        derivation="$$2hA + 2hK + 3hf + 2h$$\n\nwith $h = 16384$, $A = 128 \\cdot 128$ for queries and output, "
        "$K = 8 \\cdot 128$ for keys and values, $f = 53248$ for gate, up and down, and two norms.",
    ),
    Question(
        id="cap-attention-share",
        kind="derive",
        title="Attention beside 6N",
        section="15.12",
        bonus=True,
        parts=(
            part(
                "at 8,192",
                "%",
                lambda: attention_percent(8192),
                ("That is the full square: causal is half.", lambda: attention_percent(8192, causal=False)),
            ),
            part(
                "at 131,072",
                "%",
                lambda: attention_percent(131_072),
                ("That is the full square: causal is half.", lambda: attention_percent(131_072, causal=False)),
                (
                    "For one token, 16 times the length means 16 times the attention, not 256 times.",
                    lambda: 256 * attention_percent(8192),
                ),
            ),
        ),
        derivation="Per token $6 L w s$ against $6N$, so $L w s / N$, with $L = 126$, $w = 128 \\cdot 128$ and $N$ the "
        "matrix parameters, 404e9.",
    ),
    Question(
        id="cap-long-context",
        kind="derive",
        title="What the long sequences cost at most",
        section="15.12",
        bonus=True,
        parts=(
            part(
                "more FLOP, at most",
                "%",
                _longer_percent,
                (
                    "That compares a long token with a short one, but few tokens are long.",
                    lambda: 100 * (_phases_flops([(1, 131_072)]) / _phases_flops([(1, 8192)]) - 1),
                ),
                ("Attention grows with the sequence: tokens in long sequences cost more.", 0.0),
                ("That is the full square: causal is half.", lambda: _longer_percent(causal=False)),
            ),
        ),
        derivation="The bound takes all of the 0.8e12 tokens in the longest sequences. Sum $D\\,(6N + 6 L w s)$ over "
        "the phases, 14.8e12 tokens at 8,192 and 0.8e12 at 131,072, and divide by the same with all 15.6e12 tokens at "
        "8,192; $L = 126$, $w = 16384$, $N = 4.04 \\times 10^{11}$.",
    ),
    Question(
        id="cap-chinchilla",
        kind="derive",
        title="Twenty tokens per parameter",
        section="15.13",
        bonus=True,
        parts=(
            part(
                "parameters",
                "billion",
                lambda: scale.compute_optimal(3.8e25)[0] / billion,
                ("That is what was trained; the rule of 20 gives more.", 405),
            ),
            part(
                "tokens",
                "trillion",
                lambda: scale.compute_optimal(3.8e25)[1] / trillion,
                ("That is 20 times 405 billion, which does not spend the budget.", 20 * 405e9 / trillion),
                ("That is what was trained.", 15.6),
            ),
        ),
        derivation="$C = 6ND$ and $D = 20N$ give $N = \\sqrt{C/120}$, with $C$ = 3.8e25.",
    ),
    Question(
        id="cap-gpt3-ratio",
        kind="derive",
        title="Tokens per parameter, as trained",
        section="15.13",
        bonus=True,
        parts=(
            part(
                "GPT-3",
                "",
                lambda: 300e9 / GPT3_175B.parameters,
                ("It was not trained by the rule of 20: 300 billion tokens.", 20),
            ),
            part(
                "Llama 2 70B",
                "",
                lambda: 2e12 / LLAMA2_70B.parameters,
                ("It was not trained by the rule of 20: 2 trillion tokens.", 20),
            ),
            part(
                "Llama 3.1 405B",
                "",
                lambda: TOKENS / LLAMA3_405B.parameters,
                ("It was not trained by the rule of 20: 15.6 trillion tokens.", 20),
            ),
        ),
        derivation="Tokens over parameters: 300e9 over 174.6e9, 2e12 over 69.0e9, 15.6e12 over 405.9e9.",
    ),
    Choice(
        id="cap-exponent",
        kind="trace",
        title="A printed formula that misses its own number",
        section="15.13",
        bonus=True,
        options=(
            "the exponent is rounded: two more digits of it reproduce the text",
            "the law is for parameters, not for tokens",
            "the budget is in petaflop-days",
            "the text counts tokens twice that are seen twice",
        ),
        correct=0,
        derivation="At $C$ = 3.8e25 the logarithm of $C$ is near 59: an exponent that is off by 0.008 is off by a "
        "factor $e^{0.46}$. With 0.5378 in place of 0.53, $0.29\\,C^{0.5378}$ gives the 16.55e12 of the text.",
        slips={
            1: "The law is printed for tokens, and its parameters would follow from 6ND.",
            2: "In petaflop-days C is smaller by 8.64e19, and the law would give next to nothing.",
            3: "The budget 6ND counts every token that is processed, new or not.",
        },
    ),
)

TIMES = (
    Question(
        id="cap-hfu",
        kind="derive",
        title="Hardware utilization with recomputation",
        section="15.14",
        bonus=True,
        parts=(
            part(
                "HFU",
                "%",
                lambda: 100 * flops.utilization(400e12 * GPUS, 1, GPUS, PEAK, 1.0)[1],
                ("The forward pass is a third of a step: it adds a third.", lambda: 200 * 400e12 / PEAK),
                ("That is the MFU: HFU counts the second forward pass, too.", lambda: 100 * 400e12 / PEAK),
            ),
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
        parts=(
            part(
                "MFU",
                "%",
                lambda: 100 * 6 * LLAMA2_70B.parameters * 2e12 / (CARD_HOURS_70B * hour * A100_SXM.peak_bf16),
                ("That is a guess. Compute it from the GPU-hours.", 50),
                (
                    "That is the peak with sparsity.",
                    lambda: 50 * 6 * LLAMA2_70B.parameters * 2e12 / (CARD_HOURS_70B * hour * A100_SXM.peak_bf16),
                ),
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
        parts=(
            part(
                "MFU",
                "%",
                lambda: 100 * 6 * matrix_parameters() * TOKENS / (CARD_HOURS * hour * PEAK),
                (
                    "That takes the 54 days of the failure log for the training.",
                    lambda: 100 * 6 * matrix_parameters() * TOKENS / (54 * day * GPUS * PEAK),
                ),
            ),
        ),
        derivation="$6ND$ over GPU-hours times 3,600 times the peak, with $N$ = 404e9, $D$ = 15.6e12, 30.84 "
        "million GPU-hours and 989.4 TFLOP/s. The hours include restarts, evaluations and whatever else used the GPUs.",
    ),
    Choice(
        id="cap-54-days",
        kind="trace",
        title="The 54 days",
        section="15.2",
        options=(
            "a window of the training in which interruptions were counted",
            "the training, from the first step to the last",
            "the training without its restarts",
            "the days on 16,384 GPUs, after those on 8,192",
        ),
        correct=0,
        derivation="Find the MFU that 54 days would need: it is near 50 percent, and the paper claims at most 43. The "
        "GPU-hours of the model card make more than 78 days of 16,384 GPUs. The paper counts interruptions in a 54-day "
        "snapshot of pre-training.",
        slips={
            1: "Then the MFU would be near 50 %, more than any row of the paper's table.",
            2: "Restarts are included: the interruptions were counted in that window.",
            3: "The paper does not print how long each stage took.",
        },
    ),
)


def saved_dollars() -> float:
    """Millions of dollars between 40 and 41 percent, at 2 dollars per GPU-hour."""
    return sum(sign * run_days(mfu) for sign, mfu in ((1, 0.40), (-1, 0.41))) * 24 * GPUS * 2 / million
