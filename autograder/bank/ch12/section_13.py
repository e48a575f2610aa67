"""Section 12.13, The policy gradient without sampling: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")

#: The probabilities of three arms, and their rewards.
PI, Q = (0.5, 0.3, 0.2), (0, 1, 5)


QUESTIONS = (
    Question(
        id="12-baseline-100",
        kind="derive",
        title="A bad baseline",
        section="12.13",
        bonus=True,
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
        section="12.13",
        bonus=True,
        ask="baseline",
        unit="reward",
        answer=lambda: rl.optimal_baseline(PI, Q),
        tolerance=0.005,
        slips=(
            Slip("That is V, the expected reward: good, and not the best.", value=1.3),
            Slip("That is the plain mean of the rewards.", value=2),
            Slip("That is no baseline.", value=0),
        ),
        derivation="$b^* = E[|s|^2 R]/E[|s|^2]$ with $s = \\mathrm{onehot}(a) - \\pi$: $|s|^2$ is 0.38, 0.78 "
        "and 0.98 for the three arms.",
    ),
)
