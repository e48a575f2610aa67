"""Section 12.16, What lambda trades: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

#: Three steps: their rewards, and the values that a critic gave their states.
EARNED, SAID = (0.1, 0.2, 1), (0.5, 0.4, 0.2)


def _first(gae_lambda: float, discount: float = 0.99) -> float:
    """The first advantage of three steps that terminate."""
    ends = (False, False, True)
    return rl.gae(EARNED, SAID, (*SAID[1:], 0), ends, (False,) * 3, discount, gae_lambda)[0]


QUESTIONS = (
    Question(
        id="12-gae-first",
        kind="derive",
        title="The first advantage",
        section="12.16",
        bonus=True,
        ask="A",
        unit="reward",
        answer=lambda: _first(0.95),
        tolerance=0.001,
        slips=(
            Slip("That is lambda = 1: the return minus the value.", value=lambda: _first(1)),
            Slip("That is lambda = 0: one TD error alone.", value=lambda: _first(0)),
            Slip("The discount is missing.", value=lambda: _first(0.95, 1.0)),
        ),
        derivation="The TD errors are $-0.004$, $-0.002$ and $0.8$; each counts $0.99\\cdot 0.95$ times as "
        "much as the one before.",
    ),
    Choice(
        id="12-lambda-one",
        kind="trace",
        title="Lambda of 1",
        section="12.16",
        bonus=True,
        options=("the return minus the value of the state", "the return", "the TD error"),
        correct=0,
        derivation="The TD errors add up to the return: every $\\gamma V(s_{t+1})$ meets the next error's "
        "$-V(s_{t+1})$. Only $-V(s_t)$ is left over.",
        slips={
            1: "The baseline is still in the sum: minus V of the first state is left over.",
            2: "That is lambda = 0.",
        },
    ),
    Question(
        id="12-gae-weight",
        kind="derive",
        title="Ten steps ahead",
        section="12.16",
        bonus=True,
        ask="weight",
        unit="of the TD error",
        answer=lambda: (0.99 * 0.95) ** 10,
        tolerance=0.005,
        slips=(
            Slip("The discount is missing.", value=lambda: 0.95**10),
            Slip("Lambda is missing.", value=lambda: 0.99**10),
            Slip("That is one step ahead.", value=lambda: 0.99 * 0.95),
        ),
        derivation="$(\\gamma\\lambda)^{10}$.",
    ),
    Question(
        id="12-gae-half",
        kind="derive",
        title="The half-life of credit",
        section="12.16",
        bonus=True,
        ask="half-life",
        unit="steps",
        answer=lambda: math.log(0.5) / math.log(0.99 * 0.95),
        slips=(
            Slip("That is the horizon 1/(1 - lambda), not a half-life.", value=20),
            Slip("The discount is missing.", value=lambda: math.log(0.5) / math.log(0.95)),
            Slip("Lambda is missing.", value=lambda: math.log(0.5) / math.log(0.99)),
        ),
        derivation="$(\\gamma\\lambda)^k = 1/2$, so $k = \\ln 0.5/\\ln(\\gamma\\lambda)$.",
    ),
    Question(
        id="12-lambda-for",
        kind="design",
        title="A lambda for text",
        section="12.16",
        bonus=True,
        ask="lambda",
        unit="per token",
        answer=lambda: 0.5 ** (1 / 20),
        tolerance=0.001,
        slips=(
            Slip("That is 1 - 1/20: it falls to about 1/e in twenty tokens.", value=0.95),
            Slip("That is 1 - 0.5/20: decay is a power, not a line.", value=0.975),
        ),
        derivation="$\\lambda^{20} = 1/2$.",
    ),
    Choice(
        id="12-lambda-monotone",
        kind="trace",
        title="Spread over one trajectory",
        section="12.16",
        bonus=True,
        options=("no", "yes", "only with a discount below 1"),
        correct=0,
        derivation="Along one trajectory the errors may have different signs, and summing them evens out. More "
        "noise with a larger lambda is a statement about the estimate of one state over many episodes.",
        slips={
            1: "That is true of an estimate's noise over many episodes, not of the steps of one trajectory.",
            2: "The discount does not decide it: errors of different signs even out either way.",
        },
    ),
)
