"""Chapter 01: the questions about work, time, money and memory."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Part, Question, Slip, lazily
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.units import GB, TFLOP, hour, year

scale = lazily("solutions.ch01.scale")

#: GPT-3: parameters and tokens, Brown et al. (2020). An A100 at half of its dense peak, and its price.
PARAMETERS, TOKENS = 175e9, 300e9
PEAK, UTILIZATION, PRICE = A100_SXM.peak_bf16, 0.5, 3.0


def _flops() -> float:
    return scale.training_flops_per_token(PARAMETERS) * TOKENS


def _years(flops: float, peak: float = PEAK, utilization: float = UTILIZATION) -> float:
    """Years on one device."""
    return scale.training_time(flops, 1, peak, utilization) / year


def _bill() -> float:
    """USD for the whole run: what one device takes, at 3 USD an hour."""
    return scale.training_time(_flops(), 1, PEAK, UTILIZATION) / hour * PRICE


def _share(flops: float, peak: float) -> float:
    """FLOP/s that each of the devices sustained in 1,720,320 device-hours, over a peak."""
    return flops / (1_720_320 * hour) / peak


def _attention_share() -> float:
    """FLOP of attention over those of the matrices of one layer, 12 d^2 parameters, for d = 12288 and s = 2048."""
    matrices = 12 * 12_288**2
    return scale.training_flops_per_token(matrices, 1, 12_288, 2048) / scale.training_flops_per_token(matrices) - 1


COUNTED = (
    Choice(
        id="01-counted-ratio",
        kind="trace",
        title="The step over its forward pass",
        section="1.14",
        bonus=True,
        options=(
            "exactly 3: whatever the forward pass multiplies, the backward pass multiplies twice as often",
            "a little over 3, because attention has no weights but costs something on the way back as well",
            "exactly 2: the backward pass retraces the forward pass once",
            "well below 3, because only the weights need a gradient",
        ),
        correct=0,
        derivation="After a product $Y = XW$ come two of the same size on the way back, one for the gradient of $X$ "
        "and one for that of $W$. The same holds for the two products of attention, in which both factors are "
        "activations and both need a gradient.",
        slips={
            1: "The products of attention double as well: both of their factors need a gradient.",
            2: "It retraces it twice: a gradient for each of the two factors of every product.",
            3: "To reach the weights of earlier layers, the gradient passes through the activations of later ones.",
        },
    ),
)

TIME = (
    Estimate(
        id="01-gpt3-one-gpu",
        title="GPT-3 on one GPU",
        section="1.9",
        label="training 175 billion parameters on 300 billion tokens, on one A100 at half of its 312 TFLOP/s",
        unit="years",
        answer=lambda: _years(_flops()),
        factor=1.5,
        scale=(0.01, 10_000),
        landmarks=(
            Landmark(1 / 12, "a month", "how long people wait for a model"),
            Landmark(1.0, "a year", "3.2e7 seconds"),
            Landmark(80.0, "a lifetime", "2.5e9 seconds"),
        ),
        derivation="The work is $6 \\cdot 1.75 \\cdot 10^{11} \\cdot 3 \\cdot 10^{11} \\approx 3 \\cdot 10^{23}$ FLOP. "
        "The device sustains $1.56 \\cdot 10^{14}$ FLOP/s. So it needs about $2 \\cdot 10^9$ seconds. A year has "
        "$3.2 \\cdot 10^7$, so that is a little over 60 years.",
        slips=(
            Slip(
                "That is 3.14e23 FLOP on a V100 at 28 TFLOP/s, a figure that is often quoted for an A100.",
                value=lambda: _years(3.14e23, 28 * TFLOP, 1.0),
            ),
            Slip(
                "That is the time at the full peak. No run sustains it; this one reaches half.",
                value=lambda: _years(_flops(), utilization=1.0),
            ),
            Slip(
                "That is the forward pass alone. The backward pass adds twice as much.",
                value=lambda: _years(_flops() / 3),
            ),
        ),
    ),
    Question(
        id="01-gpt3-bill",
        kind="derive",
        title="The bill for GPT-3",
        section="1.15",
        bonus=True,
        parts=(
            Part(
                "cost",
                "USD",
                _bill,
                slips=(
                    Slip(
                        "That rents one GPU for a year, in which it trains a sixty-fourth of the model.",
                        value=lambda: 365 * 24 * PRICE,
                    ),
                    Slip("The utilization was left out.", value=lambda: _bill() * UTILIZATION),
                ),
            ),
        ),
        derivation="With perfect scaling the number of devices does not matter: the device-hours are $C / "
        "(\\text{peak} \\cdot \\text{utilization}) / 3600$ with $C = 6 \\cdot 175 \\cdot 10^9 \\cdot 300 \\cdot "
        "10^9$, and each costs 3 USD.",
    ),
    Question(
        id="01-llama2-mfu",
        kind="derive",
        title="The MFU of Llama 2 70B",
        section="1.15",
        bonus=True,
        parts=(
            Part(
                "MFU, as a fraction",
                "",
                lambda: _share(scale.training_flops_per_token(70e9) * 2e12, PEAK),
                tolerance=0.015,  # two digits are enough
                slips=(
                    Slip(
                        "That is in percent: a fraction of 1 is asked for.",
                        value=lambda: 100 * _share(scale.training_flops_per_token(70e9) * 2e12, PEAK),
                    ),
                    Slip(
                        "That is a share of the sparse peak: dense products can reach half of it.",
                        value=lambda: _share(scale.training_flops_per_token(70e9) * 2e12, 2 * PEAK),
                    ),
                    Slip("That counts the forward pass alone.", value=lambda: _share(2 * 70e9 * 2e12, PEAK)),
                ),
            ),
        ),
        derivation="The useful work is $6 \\cdot 70 \\cdot 10^9 \\cdot 2 \\cdot 10^{12}$ FLOP. At full peak, "
        "1,720,320 hours of A100 could do $1720320 \\cdot 3600 \\cdot 312 \\cdot 10^{12}$. The MFU is the one "
        "over the other.",
    ),
    Question(
        id="01-attention-share",
        kind="derive",
        title="Attention beside the matrices",
        section="1.14",
        bonus=True,
        parts=(
            Part(
                "attention over matrices, as a fraction",
                "",
                _attention_share,
                slips=(
                    Slip("That is in percent: a fraction of 1 is asked for.", value=lambda: 100 * _attention_share()),
                    Slip(
                        "That charges the attention of the whole sequence to one token.",
                        value=lambda: 2 * 12_288 * 2048**2 / (24 * 12_288**2),
                    ),
                    Slip("That counts the causal half alone.", value=lambda: _attention_share() / 2),
                    Slip("That takes d² parameters for a layer: it has 12 d².", value=lambda: 12 * _attention_share()),
                ),
            ),
            Part(
                "sequence at which both cost the same",
                "tokens",
                lambda: 2048 / _attention_share(),
                slips=(Slip("That counts the causal half alone.", value=lambda: 2 * 2048 / _attention_share()),),
            ),
        ),
        derivation="Forward, a layer of $12 d^2$ parameters costs $24 d^2$ FLOP per token, and attention over "
        "$s$ positions $4 s d$: the ratio is $s / (6 d)$, and backward it is the same. It grows with $s$, so "
        "attention may be left out for sequences much shorter than $6 d$. Here $d = 12288$, and $s = 2048$ in "
        "the first part.",
    ),
)

SIZE = (
    Question(
        id="01-chinchilla-size",
        kind="derive",
        title="The size for a budget",
        section="1.16",
        bonus=True,
        parts=(
            Part(
                "size",
                "parameters",
                lambda: scale.compute_optimal(5.76e23)[0],
                slips=(
                    Slip("The root is missing.", value=lambda: scale.compute_optimal(5.76e23)[0] ** 2),
                    Slip("The 6 FLOP were left out.", value=lambda: (5.76e23 / 20) ** 0.5),
                    Slip("Those are the tokens.", value=lambda: scale.compute_optimal(5.76e23)[1]),
                ),
            ),
        ),
        derivation="With $D = 20 N$ the budget is $C = 6 N D = 120 N^2$, so $N = \\sqrt{C / 120}$ with "
        "$C = 5.76 \\cdot 10^{23}$.",
    ),
    Choice(
        id="01-which-fit",
        kind="trace",
        title="Three ways to one ratio",
        section="1.16",
        bonus=True,
        options=(
            "it is a fit: two of the three approaches and the refit agree on about 20 near this budget, and "
            "nothing says it holds elsewhere",
            "the rule is wrong: a model should be trained on 92.6 tokens per parameter",
            "the rule is right: the parametric fit was refuted, so 20 holds for every budget and every model",
            "the two fits should be averaged",
        ),
        correct=0,
        derivation="The paper estimates the ratio in three ways. Extrapolated to $5.76 \\cdot 10^{23}$ FLOP, two "
        "of them give about 20; the third, a parametric loss, was fitted too coarsely, and the same data refitted "
        "agree with the others. All are fits to runs of one family, of at most $3 \\cdot 10^{21}$ FLOP, and they ask "
        "for the lowest training cost alone, not for the cost of serving.",
        slips={
            1: "That is the fit as first published: its refit to the same data gives 18.4.",
            2: "A refit that agrees proves no law: other budgets, data and architectures have other optima.",
            3: "Both describe the same data, and one describes it badly.",
        },
    ),
    Estimate(
        id="01-memory-wall",
        title="The fewest devices that hold it",
        section="1.9",
        label="devices of 80 GB that hold the states of 175 billion parameters, each an equal share",
        unit="devices",
        answer=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB)),
        factor=1.25,
        scale=(0.1, 10_000),
        landmarks=(
            Landmark(1.0, "one", "a GPU of 80 GB"),
            Landmark(8.0, "a node", "a server with eight of them"),
            Landmark(1000.0, "a cluster", "125 such servers"),
        ),
        derivation="Mixed-precision Adam keeps $2 + 2 + 4 + 4 + 4 = 16$ bytes for each parameter: weight and gradient "
        "in bf16, and in fp32 the copy of the weight and two moments. Divide $16 \\cdot 175$ GB by 80 GB.",
        slips=(
            Slip(
                "That holds 12 bytes per parameter: the fp32 copy of the weights was forgotten.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 12)),
            ),
            Slip(
                "That holds the weights alone. Training keeps eight times as much.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 2)),
            ),
            Slip(
                "That holds weights and gradients. The optimizer's fp32 numbers add three times as much.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 4)),
            ),
        ),
    ),
    Question(
        id="01-moe-two-sizes",
        kind="derive",
        title="Two sizes of a mixture",
        section="1.17",
        bonus=True,
        parts=(
            Part(
                "training",
                "FLOP",
                lambda: scale.training_flops_per_token(12.880e9) * 1e12,
                slips=(
                    Slip(
                        "That counts all experts: a token visits two of eight in each layer.",
                        value=lambda: scale.training_flops_per_token(46.703e9) * 1e12,
                    ),
                    Slip("That is the forward pass alone.", value=lambda: 2 * 12.880e9 * 1e12),
                ),
            ),
        ),
        derivation="Work follows the parameters that a token meets, $6 N_\\text{active} D$ with "
        "$N_\\text{active} = 12.880 \\cdot 10^9$ and $D = 10^{12}$. Memory follows all of them.",
    ),
)

QUESTIONS = (*COUNTED, *TIME, *SIZE)
