"""Chapter 01: the questions about work, time, money and memory."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.units import GB, TFLOP, day, hour, year

scale = lazily("solutions.ch01.scale")

#: GPT-3: parameters and tokens, Brown et al. (2020). An A100 at half of its dense peak, and its price.
PARAMETERS, TOKENS = 175e9, 300e9
PEAK, UTILIZATION, PRICE = A100_SXM.peak_bf16, 0.5, 3.0


def _flops() -> float:
    return scale.training_flops_per_token(PARAMETERS) * TOKENS


def _years(flops: float, peak: float = PEAK, utilization: float = UTILIZATION) -> float:
    """Years on one device."""
    return scale.training_time(flops, 1, peak, utilization) / year


def _bill(efficiency: float = 1.0) -> float:
    """USD for the whole run: what one device takes, at 3 USD an hour, over the scaling efficiency."""
    return scale.training_time(_flops(), 1, PEAK, UTILIZATION) / hour * PRICE / efficiency


def _share(flops: float, peak: float) -> float:
    """FLOP/s that each of the devices sustained in 1,720,320 device-hours, over a peak."""
    return flops / (1_720_320 * hour) / peak


def _attention_share() -> float:
    """FLOP of attention over those of the matrices of one layer, 12 d^2 parameters, for d = 12288 and s = 2048."""
    matrices = 12 * 12_288**2
    return scale.training_flops_per_token(matrices, 1, 12_288, 2048) / scale.training_flops_per_token(matrices) - 1


TIME = (
    Question(
        id="01-gpt3-one-gpu",
        kind="derive",
        title="GPT-3 on one GPU",
        section="1.1",
        parts=(
            Part(
                "time",
                "years",
                lambda: _years(_flops()),
                slips=(
                    Slip(
                        "That is 3.14e23 FLOP on a V100 at 28 TFLOP/s, a figure that is often quoted for an A100.",
                        value=lambda: _years(3.14e23, 28 * TFLOP, 1.0),
                    ),
                    Slip("The utilization was left out.", value=lambda: _years(_flops(), utilization=1.0)),
                    Slip("That is the forward pass alone: a third.", value=lambda: _years(_flops() / 3)),
                ),
            ),
        ),
        derivation="The work is $C = 6 N D$ with $N = 175 \\cdot 10^9$ and $D = 300 \\cdot 10^9$. One device sustains "
        "$0.5 \\cdot 312 \\cdot 10^{12}$ FLOP/s, and a year has $365.25 \\cdot 86400$ s.",
    ),
    Question(
        id="01-gpt3-bill",
        kind="derive",
        title="The bill for GPT-3",
        section="1.1",
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
                    Slip("That has an efficiency of 90 % in it: here scaling is perfect.", value=lambda: _bill(0.9)),
                    Slip("The utilization was left out.", value=lambda: _bill() * UTILIZATION),
                ),
            ),
        ),
        derivation="With perfect scaling the number of devices does not matter: the device-hours are $C / "
        "(\\text{peak} \\cdot \\text{utilization}) / 3600$ with $C = 6 \\cdot 175 \\cdot 10^9 \\cdot 300 \\cdot "
        "10^9$, and each costs 3 USD.",
    ),
    Question(
        id="01-bill-at-90",
        kind="derive",
        title="The bill at 90 % efficiency",
        section="1.1",
        parts=(
            Part(
                "cost",
                "USD",
                lambda: _bill(0.9),
                slips=(
                    Slip(
                        "The efficiency lengthens the run, so it divides: the bill is larger.",
                        value=lambda: _bill() * 0.9,
                    ),
                    Slip(
                        "The efficiency was left out: the devices wait for each other, and cost the same.", value=_bill
                    ),
                ),
            ),
        ),
        derivation="$n$ devices take $1 / (n E)$ of the time of one and cost $n$ times as much an hour. So the "
        "bill is that of one device over $E = 0.9$, whatever $n$ is: parallelism buys time.",
    ),
    Question(
        id="01-thousand-tokens",
        kind="derive",
        title="A thousand tokens a second",
        section="1.1",
        parts=(
            Part(
                "time",
                "days",
                lambda: TOKENS / 1000 / day,
                tolerance=5e-3,
                slips=(
                    Slip(
                        "That is four times too few: 300e9 / 1000 seconds, 86,400 to a day.",
                        value=lambda: TOKENS / 4000 / day,
                    ),
                ),
            ),
            Part(
                "rate to sustain",
                "FLOP/s",
                lambda: 1000 * scale.training_flops_per_token(PARAMETERS),
                tolerance=5e-3,
                slips=(Slip("That is the forward pass alone.", value=lambda: 1000 * 2 * PARAMETERS),),
            ),
        ),
        derivation="The time is tokens over rate, $300 \\cdot 10^9 / 1000$ seconds. A token costs $6 N$ FLOP, so the "
        "machine must sustain $6 \\cdot 175 \\cdot 10^9 \\cdot 1000$ FLOP/s: more than one A100 has.",
    ),
    Question(
        id="01-llama2-mfu",
        kind="derive",
        title="The MFU of Llama 2 70B",
        section="1.1",
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
        section="1.1",
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
        section="1.2",
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
        section="1.2",
        options=(
            "it is a fit: two of the three approaches and the refit agree on about 20 near this budget, and "
            "nothing says it holds elsewhere",
            "the law is wrong: a model should be trained on 92.6 tokens per parameter",
            "the law is right: the parametric fit was refuted, so 20 holds for every budget and every model",
            "the two fits should be averaged",
        ),
        correct=0,
        derivation="The paper estimates the ratio in three ways. Extrapolated to $5.76 \\cdot 10^{23}$ FLOP, two "
        "of them give about 20; the third, a parametric loss, was fitted too coarsely, and the same data refitted "
        "agree with the others. All are fits to runs of one family, of at most $3 \\cdot 10^{21}$ FLOP, and they ask "
        "for the lowest training cost alone, not for the cost of serving.",
        slips={
            1: "That is the fit as first published: its refit to the same data gives 18.4.",
            2: "A refit that agrees is no law: other budgets, data and architectures have other optima.",
            3: "Both describe the same data, and one describes it badly.",
        },
    ),
    Question(
        id="01-memory-wall",
        kind="derive",
        title="The fewest devices that hold it",
        section="1.3",
        parts=(
            Part(
                "at least",
                "devices",
                lambda: scale.minimum_ranks(PARAMETERS, 80 * GB),
                tolerance=0,
                slips=(
                    Slip(
                        "That is with 12 bytes: the fp32 copy of the weights was forgotten.",
                        value=lambda: scale.minimum_ranks(PARAMETERS, 80 * GB, 12),
                    ),
                    Slip("That holds the weights alone.", value=lambda: scale.minimum_ranks(PARAMETERS, 80 * GB, 2)),
                    Slip(
                        "One too many: the states fill their devices exactly.",
                        value=lambda: scale.minimum_ranks(PARAMETERS, 80 * GB) + 1,
                    ),
                ),
            ),
        ),
        derivation="Mixed-precision Adam keeps $2 + 2 + 4 + 4 + 4 = 16$ bytes for each parameter: weight and "
        "gradient in bf16, and in fp32 the copy of the weight and two moments. So $\\lceil 16 \\cdot 175 \\cdot "
        "10^9 / (80 \\cdot 10^9) \\rceil$ devices.",
    ),
    Question(
        id="01-moe-two-sizes",
        kind="derive",
        title="Two sizes of a mixture",
        section="1.3",
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

QUESTIONS = (*TIME, *SIZE)
