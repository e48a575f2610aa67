"""Chapter 13: ``debug_nan``, losses with masks."""

from __future__ import annotations

from math import e, inf, log
from random import Random

from autograder.bank.ch13.draws import REST, ending, lengths, rows, spoiled, tensor
from autograder.bank.ch13.shared import moved
from autograder.items import Case, Debug, Group, Promise, Right, Slip, Tensor


def _in_padding(rng: Random, new: float, old: float) -> Case:
    """Log-probabilities of padding are ``new`` and ``old``; its advantages are finite."""
    mask = ending(lengths(rng, 3, 4), 4)
    given = (rows(rng, 3, 4, -3, 0), rows(rng, 3, 4, -3, 0), rows(rng, 3, 4))
    rests = (new, old, 2.0)
    return Case((*(tensor(spoiled(one, mask, rest)) for one, rest in zip(given, rests, strict=True)), tensor(mask)))


def _faults(rng: Random) -> Case:
    """A real token is not a number."""
    new, *others = moved(rng, ending([2, 3], 3), 1.0).args
    flat = new.tolist()
    flat[rng.choice((0, 1, 3))] = REST[0]
    return Case((Tensor.of(flat, "float64", new.shape), *others))


def wrong_nan(log_probs, old_log_probs, advantages, mask):
    return ((log_probs - old_log_probs).exp() * advantages * mask).sum()


def nan_by_index(log_probs, old_log_probs, advantages, mask):
    real = mask.bool()
    return ((log_probs[real] - old_log_probs[real]).exp() * advantages[real]).sum()


EXERCISE = Debug(
    "13 rlhf_repairs.debug_nan",
    section="13.18",
    bonus=True,
    topic="losses with masks",
    grade="tensor",
    probe="ch13.sent_back",
    tolerance=1e-5,
    wrong=wrong_nan,
    cases=(
        Case((tensor([[-1, -inf]]), tensor([[-1.5, -inf]]), tensor([[2, 1]]), tensor([[1, 0]]))),
        Case((tensor([[-1, -2]]), tensor([[-1, -2 - log(e)]]), tensor([[2, 1]]), tensor([[1, 1]]))),
        _faults(Random("a fault")),
    ),
    groups=(
        Group("infinite padding", lambda rng: _in_padding(rng, -inf, -inf), 4, "Mask the difference, before exp."),
        Group("other padding", lambda rng: _in_padding(rng, 3.0, -2.0), 2, "Padding adds nothing to the sum."),
        Group("faults", _faults, 3, "nan in a real token is a fault that must be seen."),
    ),
    slips=(
        Slip("Minus infinity less minus infinity is nan, and nan times 0 stays nan.", wrong_nan),
        Slip(
            "nan_to_num hides a fault in a real token, and the gradient of the padding is still nan.",
            program=wrong_nan,
            edit=("* mask)", "* mask).nan_to_num()"),
        ),
        Slip("A sum that leaves nan out hides a fault in a real token.", edit=(".sum()", ".nansum()")),
        Slip(
            "The value is right and the gradient nan: mask the difference, before exp.",
            edits=(
                (".masked_fill(mask == 0, 0)", ""),
                ("log_ratio.exp()", "log_ratio.exp().masked_fill(mask == 0, 0)"),
            ),
        ),
        Slip("With a difference of 0 padding has ratio 1: its advantage must still be masked.", edit=(" * mask", "")),
    ),
    rights=(
        Right("by index", program=nan_by_index),
        Right(
            "a dot product",
            edit=(
                "(log_ratio.exp() * advantages * mask).sum()",
                "torch.dot((log_ratio.exp() * mask).flatten(), (advantages * mask).flatten())",
            ),
        ),
    ),
    promises=(
        Promise(
            "In the padding a log-probability may be minus infinity",
            edit=(".masked_fill(mask == 0, 0)", " * mask"),
        ),
        Promise(
            "A real token that is not a number must still be seen in the sum",
            edit=("* advantages * mask).sum()", "* advantages * mask).nansum()"),
        ),
    ),
)
