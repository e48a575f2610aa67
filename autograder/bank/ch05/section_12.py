"""Section 5.12, Batch size and learning rate: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Part, Question, Slip, lazily

batching = lazily("solutions.ch05.batching")

S_MIN, CRITICAL = 10_000, 2e6


def _rate(rule: str) -> float:
    return batching.scaled_learning_rate(3e-4, 256, 2048, rule)


def _steps(batch: float) -> float:
    return S_MIN * (1 + CRITICAL / batch)


def _tokens(batch: float) -> float:
    return _steps(batch) * batch


def _area(peak: float, total: int, cut: int | None = None) -> float:
    """Area under half a cosine from ``peak`` to 0 over ``total`` steps, up to step ``cut``."""
    end = cut or total
    return peak / 2 * (end + total / math.pi * math.sin(math.pi * end / total))


LINEAR = Slip("That is the linear rule, which is SGD's.", value=lambda: _rate("linear"))
INVERSE = Slip("The ratio is upside down: a larger batch takes a larger rate.", value=3e-4 * 256 / 2048)


QUESTIONS = (
    Question(
        id="05-lr-rule",
        kind="derive",
        title="Eight times the batch",
        section="5.12",
        bonus=True,
        parts=(
            Part("linear rule", "", lambda: _rate("linear"), slips=(INVERSE,)),
            Part(
                "square-root rule",
                "",
                lambda: _rate("sqrt"),
                slips=(
                    LINEAR,
                    Slip("The root was taken of the rate too.", value=math.sqrt(3e-4 * 8)),
                    Slip("The ratio is upside down.", value=3e-4 / math.sqrt(8)),
                ),
            ),
            Part("rate for Adam", "", lambda: _rate("sqrt"), slips=(LINEAR,)),
        ),
        derivation="The batch grows by $k = 2048/256$. SGD adds up gradients, so its rate grows by $k$. Adam divides "
        "by the gradient's size, noise and all, so its rate grows by $\\sqrt{k}$. The base is $3 \\cdot 10^{-4}$.",
    ),
    Choice(
        id="05-why-warm-up",
        kind="trace",
        title="Why not begin at the peak",
        section="5.12",
        bonus=True,
        options=(
            "the first updates are the least reliable: the network changes rapidly, and Adam divides by a second "
            "moment that it has estimated from few gradients",
            "Adam's moments begin at zero, so its first updates are too small, and the warm-up makes up for it",
            "the loss scale has to find its level before the weights may move",
            "a low rate brings the loss down faster at first, which saves steps",
            "only the linear rule needs it: with the right rate for the batch there is nothing to warm up",
        ),
        correct=0,
        derivation="At Adam's first step $\\hat m / \\sqrt{\\hat v} = g / |g|$: every weight moves by the whole rate, "
        "in the direction of one noisy gradient, and later steps are shorter because the moments average. That is "
        "variance, which no correction of the bias removes (Liu et al. 2020). For SGD the reason is that the network "
        "changes rapidly at first, so that a large step leaves the neighborhood in which its gradient holds (Goyal et "
        "al. 2017).",
        slips={
            1: "Adam corrects both moments for that. What is left at step 1 is the sign of the gradient: every "
            "weight moves by the whole rate.",
            2: "A loss scale that is too high skips steps, by itself. Runs in bf16, which have no loss scale, warm up "
            "too.",
            3: "A low rate is slower. The steps are paid for a peak rate at which the run could not have begun.",
            4: "Goyal et al. warm up because the linear rule fails at first, and runs whose batch never changed warm "
            "up too: that is the part with Adam.",
        },
    ),
    Question(
        id="05-cosine-end",
        kind="trace",
        title="Where the cosine ends",
        section="5.12",
        bonus=True,
        parts=(
            Part(
                "last step of the new cosine",
                "",
                lambda: 100_000 // 2,
                tolerance=0,
                slips=(Slip("Then training would stop at half of the peak.", value=100_000),),
            ),
            Part(
                "area under the old schedule",
                "",
                lambda: _area(3e-4, 100_000),
                slips=(Slip("That is without the decay.", value=3e-4 * 100_000),),
            ),
            Part(
                "area under the new schedule",
                "",
                lambda: _area(6e-4, 50_000),
                slips=(
                    Slip(
                        "That is twice too much: the cosine takes half of the rectangle, and the steps have halved.",
                        value=6e-4 * 50_000,
                    ),
                    Slip(
                        "That cosine goes over the old number of steps and is cut off.",
                        value=lambda: _area(6e-4, 100_000, 50_000),
                    ),
                    Slip("The peak has doubled too.", value=lambda: _area(3e-4, 50_000)),
                ),
            ),
        ),
        derivation="The same tokens in steps twice as large are half as many steps, and the cosine has to end with "
        "them. Half a cosine from the peak to 0 covers half of the rectangle: $\\eta\\,T/2$, with $3 \\cdot 10^{-4}$ "
        "over 100K steps, then $6 \\cdot 10^{-4}$ over half as many.",
    ),
    Question(
        id="05-critical",
        kind="derive",
        title="At the critical batch, and far beyond",
        section="5.12",
        bonus=True,
        parts=(
            Part(
                "steps with 2M tokens",
                "steps",
                lambda: _steps(2e6),
                slips=(Slip("That is the least number, with an endless batch.", value=S_MIN),),
            ),
            Part(
                "tokens with 2M tokens a step",
                "tokens",
                lambda: _tokens(2e6),
                slips=(Slip("That is the least number of tokens, with a tiny batch.", value=S_MIN * CRITICAL),),
            ),
            Part(
                "steps with 16M tokens",
                "steps",
                lambda: _steps(16e6),
                slips=(
                    Slip("Beyond the critical batch, twice the batch no longer halves the steps.", value=2 * S_MIN / 8),
                    Slip("That is the least number, with an endless batch.", value=S_MIN),
                ),
            ),
            Part(
                "tokens with 16M tokens a step",
                "tokens",
                lambda: _tokens(16e6),
                slips=(
                    Slip(
                        "Beyond the critical batch, twice the batch no longer halves the steps.",
                        value=2 * S_MIN * CRITICAL,
                    ),
                    Slip("That takes the least number of steps.", value=S_MIN * 16e6),
                ),
            ),
        ),
        derivation="Steps: $S = S_{\\min}(1 + B_c/B)$; tokens: $S\\,B = S_{\\min}(B + B_c)$, with $S_{\\min} = 10^4$ "
        "and $B_c = 2 \\cdot 10^6$.",
    ),
)
