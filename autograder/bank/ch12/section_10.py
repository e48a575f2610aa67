"""Section 12.10, PPO solves CartPole: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

rl = lazily("solutions.ch12.rl")


def _explained(predictions: tuple[float, ...], returns: tuple[float, ...]) -> float:
    return rl.explained_variance(predictions, returns)


QUESTIONS = (
    Question(
        id="12-explained",
        kind="derive",
        title="Two critics",
        section="12.10",
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
