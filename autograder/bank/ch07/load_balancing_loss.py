"""Chapter 7: ``load_balancing_loss``, balance of experts."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _probabilities(rng: Random, tokens: int, experts: int) -> tuple[list[list[float]], Tensor]:
    """Rows that add up to 1, of float32."""
    rows = []
    for _ in range(tokens):
        raw = [rng.uniform(0.05, 1) ** 3 for _ in range(experts)]
        rows.append([value / sum(raw) for value in raw])
    return rows, Tensor.of([value for row in rows for value in row], shape=(tokens, experts))


def _balance(rng: Random, tokens: int, experts: int, top_k: int) -> Case:
    rows, probabilities = _probabilities(rng, tokens, experts)
    best = [sorted(range(experts), key=row.__getitem__, reverse=True)[:top_k] for row in rows]
    chosen = Tensor.of([expert for row in best for expert in row], "int64", (tokens, top_k))
    return Case((probabilities, chosen, experts))


def _balanced(rng: Random) -> Case:
    experts = rng.randint(4, 16)
    return _balance(rng, rng.randint(2, 40), experts, rng.randint(2, 3))


def _switch(rng: Random) -> Case:
    return _balance(rng, rng.randint(2, 20), rng.randint(2, 16), 1)


_UNEVEN = Tensor.of([0.4, 0.4, 0.1, 0.1] * 4, shape=(4, 4))


def balanced_by_one_hot(probabilities, experts_chosen, experts):
    """A mean over assignments of the mean probability of the expert that was chosen."""
    return experts * probabilities.mean(0)[experts_chosen.flatten()].mean()


def balanced_in_double(probabilities, experts_chosen, experts):
    import torch

    shares = torch.nn.functional.one_hot(experts_chosen, experts).double().mean((0, 1))
    return (experts * (shares * probabilities.double().mean(0)).sum()).to(probabilities.dtype)


EXERCISE = Build(
    "07 moe.load_balancing_loss",
    section="7.22",
    topic="balance of experts",
    bonus=True,
    grade="tensor",
    probe="ch07.balanced",
    tolerance=1e-5,
    cases=(
        Case((_UNEVEN, Tensor.of([0, 1] * 4, "int64", (4, 2)), 4)),
        Case((Tensor.of([0.25] * 16, shape=(4, 4)), Tensor.of([0, 1, 2, 3], "int64", (4, 1)), 4)),
        Case((Tensor.of([1.0, 0.0, 0.0] * 2, shape=(2, 3)), Tensor.of([0, 0], "int64", (2, 1)), 3)),
    ),
    groups=(
        Group("several experts of a token", _balanced, 8, "f is the share of all assignments, P the mean probability."),
        Group("one expert of a token", _switch, 4, "With one expert of each token, f is the share of the tokens."),
    ),
    slips=(
        Slip(
            "Both factors are mean probabilities: f counts where the tokens really went.",
            edit=("shares.to(probabilities.dtype)", "probabilities.mean(dim=0)"),
        ),
        Slip(
            "A gradient flows through f: it is a count, only P is differentiated.",
            edit=(
                "shares.to(probabilities.dtype)",
                "(shares + (probabilities - probabilities.detach()).sum(dim=0) / experts_chosen.numel())",
            ),
        ),
        Slip("The factor E is missing: uniform routing has loss 1.", edit=("experts * (shares", "(shares")),
        Slip(
            "f was divided by the tokens, so that uniform routing has loss k: divide by T k assignments.",
            edit=("experts_chosen.numel()", "len(probabilities)"),
        ),
    ),
    rights=(
        Right("a mean over assignments", program=balanced_by_one_hot),
        Right("double precision inside", program=balanced_in_double),
    ),
    promises=(
        Promise(
            "a count: no gradient",
            edit=(
                "shares.to(probabilities.dtype)",
                "(shares.to(probabilities.dtype) + probabilities.mean(dim=0) - probabilities.mean(dim=0).detach())",
            ),
        ),
        Promise("for every ``top_k``", edit=("experts_chosen.numel()", "len(probabilities)")),
    ),
)
