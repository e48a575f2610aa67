"""Section 13.15, Three estimates, exactly: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

kl = lazily("solutions.ch13.kl")

P, Q = (0.5, 0.5), (0.25, 0.75)


def _bias() -> float:
    """Mean of k2 minus the divergence, which k1 estimates without bias."""
    return kl.estimator_moments(P, Q, "k2")[0] - kl.estimator_moments(P, Q, "k1")[0]


QUESTIONS = (
    Question(
        id="13-kl-k2",
        kind="derive",
        title="The bias of k2",
        section="13.15",
        bonus=True,
        ask="mean of k2 minus KL",
        unit="nats",
        answer=_bias,
        tolerance=0.01,
        slips=(
            Slip("k1 and k3 are unbiased; k2 is not.", value=0),
            Slip("That is the mean of k2: subtract the KL.", value=lambda: kl.estimator_moments(P, Q, "k2")[0]),
            Slip(
                "Those samples came from q: the policy p draws them.",
                value=lambda: kl.estimator_moments(Q, P, "k2")[0] - kl.estimator_moments(Q, P, "k1")[0],
            ),
        ),
        derivation="$E[k_2] = \\tfrac12 \\cdot \\tfrac12 \\ln^2\\tfrac{0.5}{0.25} + \\tfrac12 \\cdot \\tfrac12 "
        "\\ln^2\\tfrac{0.5}{0.75}$ and $\\mathrm{KL} = \\tfrac12 \\ln\\tfrac{0.5}{0.25} + \\tfrac12 "
        "\\ln\\tfrac{0.5}{0.75}$.",
    ),
)
