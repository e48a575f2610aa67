"""Section 12.17, The parts of PPO: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")


def _explained(predictions: tuple[float, ...], returns: tuple[float, ...]) -> float:
    return rl.explained_variance(predictions, returns)


QUESTIONS = (
    Choice(
        id="12-clip-table",
        kind="trace",
        title="Four samples",
        section="12.17",
        bonus=True,
        options=("the first and the last", "all four", "the first alone", "the second and the third"),
        correct=0,
        derivation="The smaller of two terms counts. The clipped one is the smaller where the ratio has already "
        "moved the way the advantage wants: up with a positive one, down with a negative one.",
        slips={
            1: "All four ratios are outside; but where a ratio moved against its advantage, the plain term is "
            "the smaller.",
            2: "A ratio that has fallen with a negative advantage has gone as far as it should, too.",
            3: "There the ratio moved against its advantage: the gradient pulls it back with full force.",
        },
    ),
    Choice(
        id="12-forgetting",
        kind="trace",
        title="Staying near the start",
        section="12.17",
        bonus=True,
        options=(
            "a KL penalty against the starting model",
            "PPO's clipping",
            "an entropy bonus",
            "a small discount",
        ),
        correct=0,
        derivation="Clipping limits what one update gains by moving; the next one starts from where the last "
        "one ended. Only a term that names the starting model holds the policy near it.",
        slips={
            1: "Clipping limits one update, not the sum of many.",
            2: "Entropy keeps the policy from becoming certain, wherever it goes.",
            3: "A discount says how far rewards reach back, nothing about where the policy started.",
        },
    ),
    Question(
        id="12-optimizer-steps",
        kind="derive",
        title="Steps of one iteration",
        section="12.17",
        bonus=True,
        parts=(
            Part(
                "optimizer steps",
                "steps",
                lambda: 8 * 32 // 64 * 20,
                tolerance=0,
                slips=(
                    Slip("That is one step for each epoch: an epoch has several minibatches.", value=20),
                    Slip("That is one epoch.", value=4),
                    Slip("A step takes a minibatch, not a sample.", value=8 * 32 * 20),
                ),
            ),
            Part(
                "uses of one sample",
                "times",
                lambda: 20,
                tolerance=0,
                slips=(
                    Slip("Those are the optimizer steps: a sample is in one minibatch of each epoch.", value=80),
                    Slip("Every epoch goes through all samples again.", value=1),
                ),
            ),
        ),
        derivation="256 samples are four minibatches of 64. Each epoch uses every sample once.",
    ),
    Question(
        id="12-explained",
        kind="derive",
        title="Two critics",
        section="12.17",
        bonus=True,
        parts=(
            Part(
                "first critic",
                "share",
                lambda: _explained((1, 1, 4, 3), (1, 2, 3, 4)),
                slips=(
                    Slip("That takes the mean squared error: variance leaves its mean out.", value=0.4),
                    Slip("That is the share that is left over.", value=0.55),
                ),
            ),
            Part(
                "second critic",
                "share",
                lambda: _explained((11, 12, 13), (1, 2, 3)),
                slips=(
                    Slip(
                        "The figure is blind to a constant error: an error that never varies has variance 0.", value=0
                    ),
                    Slip("That takes the mean squared error; the variance of a constant error is 0.", value=-149),
                ),
            ),
        ),
        derivation="$1 - \\mathrm{Var}(G - V)/\\mathrm{Var}(G)$. The first critic's errors are 0, 1, $-1$ and 1; the "
        "second's are all the same.",
    ),
)
