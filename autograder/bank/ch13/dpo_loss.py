"""Chapter 13: ``dpo_loss``, preferences."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _pairs(rng: Random, count: int, beta: float, far: float = 4.0, dtype: str = "float64") -> Case:
    """Answers of some ten words: log-probabilities of the reference, and those of a policy up to ``far`` nats off."""
    references = [[rng.uniform(-25, -5) for _ in range(count)] for _ in range(2)]
    policies = [[value + rng.uniform(-far, far) for value in row] for row in references]
    return Case((*(Tensor.of(row, dtype) for row in (*policies, *references)), beta))


def _any_pairs(rng: Random) -> Case:
    return _pairs(rng, rng.randint(2, 8), rng.choice((0.1, 0.3, 0.5, 1.0)), dtype=rng.choice(("float64", "float32")))


def _far_pairs(rng: Random) -> list[Case]:
    """Gaps of hundreds of nats, nearly all on the wrong side."""
    cases = []
    for _ in range(3):
        count = rng.randint(2, 4)
        falls = [rng.uniform(-900, -200) for _ in range(count)]
        rows = falls, [rng.uniform(-30, -5) for _ in range(count)], [-12.0] * count, [-14.0] * count
        cases.append(Case((*(Tensor.of(row) for row in rows), 1.0)))
    return cases


def dpo_by_the_score_of_each_answer(chosen, rejected, ref_chosen, ref_rejected, beta):
    from torch.nn import functional

    good, bad = beta * (chosen - ref_chosen.detach()), beta * (rejected - ref_rejected.detach())
    return functional.softplus(bad - good).mean()


EXERCISE = Build(
    "13 dpo.dpo_loss",
    section="13.22",
    topic="preferences",
    bonus=True,
    grade="tensor",
    probe="ch13.sent_to_all",
    tolerance=1e-5,
    cases=(
        Case((*(Tensor.of([value], "float64") for value in (-3, -5, -4, -4)), 0.5)),
        Case((*(Tensor.of(row, "float64") for row in ([-8, -6], [-9, -4], [-8, -5], [-9, -5])), 0.1)),
        Case((*(Tensor.of([value]) for value in (-400, -3, -10, -10)), 1.0)),
    ),
    groups=(
        Group("pairs", _any_pairs, 5, "The mean of -log sigmoid of beta times the gap of the two log-ratios."),
        listed("far apart", _far_pairs, "Gaps may be hundreds of nats: no logarithm of 0, no nan in the gradient."),
        Group("one pair", lambda rng: _pairs(rng, 1, rng.uniform(0.05, 2)), 2, "One pair is a batch, too."),
    ),
    slips=(
        Slip(
            "The reference is missing: a long answer is unlikely under any model, and only what changed counts.",
            edit=("(chosen - ref_chosen.detach()) - (rejected - ref_rejected.detach())", "chosen - rejected"),
        ),
        Slip(
            "Chosen and rejected are swapped.",
            edit=(
                "(chosen - ref_chosen.detach()) - (rejected - ref_rejected.detach())",
                "(rejected - ref_rejected.detach()) - (chosen - ref_chosen.detach())",
            ),
        ),
        Slip("Beta multiplies the gap: without it, every job has a price of 1.", edit=("beta * gained", "gained")),
        Slip(
            "Beta belongs inside the sigmoid: outside it only scales the loss.",
            edit=("-functional.logsigmoid(beta * gained)", "-beta * functional.logsigmoid(gained)"),
        ),
        Slip(
            "sigmoid of a large gap rounds to 0 and its logarithm is infinite: use logsigmoid.",
            edit=("functional.logsigmoid(beta * gained)", "(beta * gained).sigmoid().log()"),
        ),
        Slip("The loss is the mean over the pairs, not their sum.", edit=(".mean()", ".sum()")),
        Slip(
            "The reference is data: no gradient flows into it.",
            edit=("(rejected - ref_rejected.detach())", "(rejected - ref_rejected)"),
        ),
        Slip(
            "Both log-ratios count, and with opposite signs: what the rejected answer lost is a gain.",
            edit=("(chosen - ref_chosen.detach()) - (rejected", "(chosen - ref_chosen.detach()) + (rejected"),
        ),
    ),
    rights=(
        Right("softplus of two scores", program=dpo_by_the_score_of_each_answer),
        Right(
            "binary cross-entropy of the gap",
            edit=(
                "-functional.logsigmoid(beta * gained).mean()",
                "functional.binary_cross_entropy_with_logits(beta * gained, gained.detach() * 0 + 1)",
            ),
        ),
    ),
    promises=(
        Promise("under the reference, [N]. No gradient flows into it", edit=("ref_chosen.detach()", "ref_chosen")),
    ),
)
