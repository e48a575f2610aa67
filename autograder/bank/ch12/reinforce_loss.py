"""Chapter 12: ``reinforce_loss``, policy gradient."""

from __future__ import annotations

from random import Random

from autograder.bank.ch12.shared import table
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _episodes(lengths: list[int], rng: Random, booleans: bool = False) -> Case:
    """Episodes of these lengths; the places after their ends hold ordinary numbers."""
    longest, size = max(1, *lengths), len(lengths)
    log_probs, weights = (
        Tensor.of([rng.uniform(*ends) for _ in range(size * longest)], "float64", (size, longest))
        for ends in ((-3.0, -0.05), (-4.0, 6.0))
    )
    kept = [float(index < length) for length in lengths for index in range(longest)]
    return Case((log_probs, weights, Tensor.of(kept, "bool" if booleans else "float64", (size, longest))))


def _unequal(rng: Random) -> Case:
    lengths = [rng.randint(1, 9) for _ in range(rng.randint(2, 6))]
    return _episodes([10, *lengths], rng, rng.random() < 0.5)


def _ends(rng: Random) -> list[Case]:
    """One step, one episode, and one that has no step at all."""
    return [_episodes(lengths, rng) for lengths in ([1], [rng.randint(3, 8)], [3, 0, 2])]


_REINFORCE = "-(log_probs * weights.detach()).masked_fill(~kept, 0.0).sum() / len(log_probs)"


EXERCISE = Build(
    "12 policy.reinforce_loss",
    section="12.1",
    topic="policy gradient",
    grade="tensor",
    probe="ch12.reinforced",
    tolerance=1e-6,
    cases=(
        Case((table([[-0.7] * 3, [-0.5, -1, 0]]), table([[3, 2, 1], [2, 1, 0]]), table([[1, 1, 1], [1, 1, 0]]))),
        Case((table([[-0.7] * 3, [-0.5, -1, 0]]), table([[1, 0, -1], [0, -1, -2]]), table([[1, 1, 1], [1, 1, 0]]))),
        _episodes([2, 4], Random("padded"), True),
    ),
    groups=(
        Group("episodes", _unequal, 6, "Sum over the real steps, and divide by the number of episodes."),
        listed("ends", _ends, "One step, one episode, an episode without steps."),
    ),
    slips=(
        Slip(
            "Divided by all steps, a batch of long episodes makes a smaller step: divide by the number of episodes.",
            edit=("/ len(log_probs)", "/ kept.sum()"),
        ),
        Slip(
            "The mean is over all places of the table, padding too: divide by the number of episodes.",
            edit=(".sum() / len(log_probs)", ".mean()"),
        ),
        Slip(
            "Each episode was averaged over its own steps: the gradient of a return sums over them.",
            edit=(".sum() / len(log_probs)", ".sum(1).div(kept.sum(1).clamp(min=1)).mean()"),
        ),
        Slip("The mean over episodes is missing: the gradient grows with the batch.", edit=(" / len(log_probs)", "")),
        Slip(
            "Places behind the end of an episode are counted: the mask is not used.",
            edit=(".masked_fill(~kept, 0.0)", ""),
        ),
        Slip("A gradient flows into the weights: they are data, detach them.", edit=("weights.detach()", "weights")),
        Slip(
            "The sign is wrong: an optimizer goes downhill, so the loss is minus what should grow.",
            edit=("return -(log_probs", "return (log_probs"),
        ),
        Slip(
            "The weight multiplies the log-probability, not the probability.",
            edit=("return -(log_probs", "return -(log_probs.exp()"),
        ),
    ),
    rights=(
        Right(
            "the real steps alone",
            edit=(
                _REINFORCE,
                "torch.dot(log_probs[kept], weights.detach()[kept]).neg() / len(log_probs)",
            ),
        ),
        Right(
            "episode by episode",
            edit=(
                _REINFORCE,
                "sum(-(a * b.detach() * c).sum() for a, b, c in zip(log_probs, weights, mask)) / len(mask)",
            ),
        ),
    ),
    promises=(
        Promise("No gradient flows into them", edit=("weights.detach()", "weights")),
        Promise("as a mean over episodes", edit=("/ len(log_probs)", "/ kept.any(1).sum()")),
        Promise("1 (or True)", edit=("mask.bool()", "((1 - mask) == 0)")),
    ),
)
