"""Section 12.12, Returns and values in numbers: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

#: Two states, and the chances of the next one.
TWO = ((0.5, 0.5), (0.2, 0.8))


QUESTIONS = (
    Question(
        id="12-return",
        kind="derive",
        title="Three rewards",
        section="12.12",
        bonus=True,
        ask="return",
        unit="reward",
        answer=lambda: rl.discounted_returns([1, 0, 2], 0.5)[0],
        tolerance=1e-6,
        slips=(
            Slip("That is the sum without a discount.", value=3),
            Slip("That is the last reward alone.", value=0.5),
            Slip("The first reward comes at once: it is not discounted.", value=0.75),
            Slip("The last reward is two steps away.", value=2),
        ),
        derivation="$1 + 0.5\\cdot 0 + 0.5^2\\cdot 2$.",
    ),
    Question(
        id="12-horizon",
        kind="derive",
        title="One for ever",
        section="12.12",
        bonus=True,
        ask="value",
        unit="reward",
        answer=lambda: 1 / 0.02,
        tolerance=0.001,
        slips=(
            Slip("That is where CartPole stops; the discount says how far one sees.", value=500),
            Slip("That begins with the second reward.", value=49),
            Slip("That is the horizon of 0.99.", value=100),
        ),
        derivation="$V = 1 + \\gamma V$, so $V = 1/(1-\\gamma)$.",
    ),
    Question(
        id="12-bellman",
        kind="derive",
        title="Two states",
        section="12.12",
        bonus=True,
        ask="V(0)",
        unit="reward",
        answer=lambda: rl.policy_value(TWO, (1, 0), 0.9)[0],
        tolerance=0.001,
        slips=(
            Slip("That is a reward at every step: state 1 gives none.", value=10),
            Slip("That is one sweep from V = R.", value=1.45),
            Slip("That is state 1.", value=lambda: rl.policy_value(TWO, (1, 0), 0.9)[1]),
        ),
        derivation="$V_0 = 1 + 0.9\\,(0.5 V_0 + 0.5 V_1)$ and $V_1 = 0.9\\,(0.2 V_0 + 0.8 V_1)$: two equations.",
    ),
    Choice(
        id="12-llm-state",
        kind="trace",
        title="The transition of a language model",
        section="12.12",
        bonus=True,
        options=(
            "it appends the chosen token, without chance",
            "it draws the next token from the softmax",
            "it scores the text so far",
        ),
        correct=0,
        derivation="The state is the text so far, the action a token. Given both, the next state is certain: "
        "the text and the token. All chance is in the policy.",
        slips={
            1: "Drawing is what the policy does; the transition takes the drawn token.",
            2: "A score is the reward's business.",
        },
    ),
)
