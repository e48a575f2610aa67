"""Chapter 12: the questions about text as a decision process, returns, values and baselines."""

from __future__ import annotations

from autograder.items import Choice, Item, Part, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

#: Two states, and the chances of the next one.
TWO = ((0.5, 0.5), (0.2, 0.8))
#: The probabilities of three arms, and their rewards.
PI, Q = (0.5, 0.3, 0.2), (0, 1, 5)

PROCESS: tuple[Item, ...] = (
    Choice(
        id="12-llm-state",
        kind="trace",
        title="The transition of a language model",
        section="12.2",
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
    Question(
        id="12-gamma-long",
        kind="derive",
        title="A discount over a thousand tokens",
        section="12.2",
        parts=(
            Part(
                "share",
                "of the reward",
                lambda: 0.99**999,
                slips=(
                    Slip("That is one minus the discount: it is raised to the number of steps.", value=0.01),
                    Slip("That is after a hundred tokens.", value=lambda: 0.99**100),
                    Slip("Token 1,000 is 999 steps after token 1.", value=lambda: 0.99**1000),
                ),
            ),
        ),
        derivation="Every step from token 1 to token 1,000 costs one factor of 0.99.",
    ),
)

RETURNS: tuple[Item, ...] = (
    Question(
        id="12-return",
        kind="derive",
        title="Three rewards",
        section="12.3",
        parts=(
            Part(
                "return",
                "reward",
                lambda: rl.discounted_returns([1, 0, 2], 0.5)[0],
                tolerance=1e-6,
                slips=(
                    Slip("That is the sum without a discount.", value=3),
                    Slip("That is the last reward alone.", value=0.5),
                    Slip("The first reward comes at once: it is not discounted.", value=0.75),
                    Slip("The last reward is two steps away.", value=2),
                ),
            ),
        ),
        derivation="$1 + 0.5\\cdot 0 + 0.5^2\\cdot 2$.",
    ),
    Question(
        id="12-horizon",
        kind="derive",
        title="One for ever",
        section="12.3",
        parts=(
            Part(
                "value",
                "reward",
                lambda: 1 / 0.02,
                tolerance=0.001,
                slips=(
                    Slip("That is where CartPole stops; the discount says how far one sees.", value=500),
                    Slip("That begins with the second reward.", value=49),
                    Slip("That is the horizon of 0.99.", value=100),
                ),
            ),
        ),
        derivation="$V = 1 + \\gamma V$, so $V = 1/(1-\\gamma)$.",
    ),
)

VALUES: tuple[Item, ...] = (
    Question(
        id="12-bellman",
        kind="derive",
        title="Two states",
        section="12.4",
        parts=(
            Part(
                "V(0)",
                "reward",
                lambda: rl.policy_value(TWO, (1, 0), 0.9)[0],
                tolerance=0.001,
                slips=(
                    Slip("That is a reward at every step: state 1 gives none.", value=10),
                    Slip("That is one sweep from V = R.", value=1.45),
                    Slip("That is state 1.", value=lambda: rl.policy_value(TWO, (1, 0), 0.9)[1]),
                ),
            ),
        ),
        derivation="$V_0 = 1 + 0.9\\,(0.5 V_0 + 0.5 V_1)$ and $V_1 = 0.9\\,(0.2 V_0 + 0.8 V_1)$: two equations.",
    ),
)

BASELINES: tuple[Item, ...] = (
    Question(
        id="12-baseline-100",
        kind="derive",
        title="A bad baseline",
        section="12.5",
        parts=(
            Part(
                "mean of the first component",
                "reward",
                lambda: rl.reinforce_moments((0.5, 0.5), (1, 0), 100).gradient[0],
                tolerance=0.001,
                slips=(
                    Slip("A baseline adds no bias: what it takes from one arm it takes from the other.", value=-49.75),
                    Slip("That is the estimate when arm 0 is drawn; the other arm gives one, too.", value=-49.5),
                    Slip("Without any baseline the mean is not 0, and it stays.", value=0),
                ),
            ),
            Part(
                "total variance",
                "reward squared",
                lambda: rl.reinforce_moments((0.5, 0.5), (1, 0), 100).variance,
                tolerance=1e-5,
                slips=(
                    Slip("That is the variance without a baseline.", value=0.125),
                    Slip("That is the mean of the squares: the squared mean has to go.", value=4950.25),
                    Slip("That is one component: there are two.", value=lambda: 4950.125 / 2),
                ),
            ),
        ),
        derivation="Arm 0 gives $-99\\,(0.5, -0.5)$, arm 1 gives $-100\\,(-0.5, 0.5)$, each with chance 1/2. "
        "Take their mean, then the mean squared distance from it.",
    ),
    Question(
        id="12-best-baseline",
        kind="derive",
        title="The best baseline",
        section="12.5",
        parts=(
            Part(
                "baseline",
                "reward",
                lambda: rl.optimal_baseline(PI, Q),
                tolerance=0.005,
                slips=(
                    Slip("That is V, the expected reward: close, and not the best.", value=1.3),
                    Slip("That is the plain mean of the rewards.", value=2),
                    Slip("That is no baseline.", value=0),
                ),
            ),
        ),
        derivation="$b^* = E[|s|^2 R]/E[|s|^2]$ with $s = \\mathrm{onehot}(a) - \\pi$: $|s|^2$ is 0.38, 0.78 "
        "and 0.98 for the three arms.",
    ),
)

ITEMS: tuple[Item, ...] = (*PROCESS, *RETURNS, *VALUES, *BASELINES)
