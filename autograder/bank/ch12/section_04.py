"""Section 12.4, Values and the Bellman equation: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

#: Two states, and the chances of the next one.
TWO = ((0.5, 0.5), (0.2, 0.8))


QUESTIONS = (
    Question(
        id="12-bellman",
        kind="derive",
        title="Two states",
        section="12.4",
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
)
