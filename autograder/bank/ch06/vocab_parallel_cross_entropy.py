"""Chapter 6: ``vocab_parallel_cross_entropy``, a split vocabulary."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.ch06.shared import tensor
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _loss(
    rng: Random, ranks: int, share: int, batch: tuple[int, ...], scale: float = 3.0, owner: int | None = None
) -> Case:
    """Targets anywhere, or all on one rank; the largest logit of all is on rank 0."""
    tokens = math.prod(batch)
    ids = [
        rng.randrange(ranks * share) if owner is None else owner * share + rng.randrange(share) for _ in range(tokens)
    ]
    target, back = Tensor.of(ids, "int64", batch), tensor(rng, *batch)
    parts = [
        Tensor.of(
            [
                scale * (rng.uniform(-1, 1) + (rank == 0 and column == 0))
                for _ in range(tokens)
                for column in range(share)
            ],
            "float64",
            (*batch, share),
        )
        for rank in range(ranks)
    ]
    return Case(tuple((part, target, back) for part in parts))


def _ordinary_of_each(rng: Random) -> list[Case]:
    return [_loss(rng, ranks, rng.randint(2, 8), (rng.randint(3, 5),)) for ranks in (3, 4)]


def _scales(rng: Random) -> list[Case]:
    return [
        _loss(rng, 2, 4, (4,), 1e4),
        _loss(rng, 3, 3, (4,), rng.uniform(900, 5000)),
        _loss(rng, 2, 128, (3,), 0.1, owner=1),
    ]


def _shapes(rng: Random) -> list[Case]:
    return [_loss(rng, 2, 3, ()), _loss(rng, 3, 2, (2, 2), owner=rng.randrange(3)), _loss(rng, 1, 6, (3,))]


def _half(rng: Random) -> Case:
    """Logits and gradient in bfloat16: each loss and each gradient is rounded once, at the end."""
    return Case(_loss(rng, 2, 16, (6,)).args, {"half": True})


def _loss_calls(case: Case) -> list[tuple[str, int]]:
    return [("all_reduce", bytes_of(case.args[0][2]))] * 3


def _of(*rows: list[float], target: int) -> Case:
    each = [Tensor.of(row, "float64", (1, len(row))) for row in rows]
    return Case(tuple((row, Tensor.of([target], "int64"), Tensor.of([1.0], "float64")) for row in each))


EXERCISE = Build(
    "06 sharded_layers.vocab_parallel_cross_entropy",
    section="6.15",
    topic="a split vocabulary",
    bonus=True,
    grade="world",
    probe="ch06.differentiated",
    rule=calls_at_most(
        _loss_calls,
        "three numbers for each token, and nothing on the way back, are enough",
        least=lambda case: bytes_of(case.args[0][2]) // (4 if case.kwargs.get("half") else 1),
    ),
    cases=(
        _of([1, 2], [3, 4], target=1),
        _of([1, 2], [3, 4], target=3),
        _of([1000, 0], [0, 0], target=0),
        _of([0.5] * 2, [0.5] * 2, [0.5] * 2, [0.5] * 2, target=5),
        _of([1, 2, 3], target=0),
    ),
    groups=(
        listed(
            "several ranks",
            _ordinary_of_each,
            "All ranks share one maximum, one sum of exponentials and the target's logit.",
        ),
        listed("large and small logits", _scales, "Logits may be thousands, and the exponentials must not overflow."),
        listed(
            "shapes",
            lambda rng: _shapes(rng)[:2],
            "There may be one rank, no batch or two dimensions of it, or all targets on one rank.",
        ),
        Group(
            "half precision",
            _half,
            1,
            "Widen half precision to float32 first: sums of exponentials lose digits in it.",
        ),
    ),
    slips=(
        Slip(
            "Each rank used its own maximum, so exponentials of different scales were added.",
            edit=("_reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", "exact.amax(-1)"),
        ),
        Slip(
            "The maximum was not subtracted: the exponentials overflow.",
            edits=(
                ("        largest = _reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", ""),
                ("exact - largest[..., None]", "exact"),
            ),
        ),
        Slip(
            "A rank that does not own the target added one of its own logits: mask foreign targets.",
            edit=(".squeeze(-1).masked_fill(~own, 0)", ".squeeze(-1)"),
        ),
        Slip(
            "On the rank that owns the target, the gradient lacks the minus 1.",
            edit=("((probabilities - one_hot) *", "(probabilities *"),
        ),
        Slip(
            "Every rank subtracted 1 somewhere in its gradient: only the owner of the target should.",
            edit=("own[..., None].to(probabilities)", "1.0"),
        ),
        Slip(
            "The losses were averaged: return one for each token.",
            edit=(
                "return _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)",
                "losses = _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)\n"
                "    return losses.mean().expand_as(losses)",
            ),
        ),
        Slip(
            "The logits were gathered: three numbers for each token are enough.",
            edit=(
                "return _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)",
                "parts = [torch.empty_like(logits) for _ in range(dist.get_world_size(group))]\n"
                "    dist.all_gather(parts, logits.detach().contiguous(), group=group)\n"
                "    parts[dist.get_rank(group)] = logits\n"
                "    whole = torch.cat(parts, -1).reshape(target.numel(), -1)\n"
                '    return functional.cross_entropy(whole, target.flatten(), reduction="none").view_as(target)',
            ),
        ),
    ),
    rights=(
        Right(
            "logarithms of each rank's sum",
            edits=(
                (
                    "        exponentials = shifted.exp()\n"
                    "        total = _reduced(exponentials.sum(-1), dist.ReduceOp.SUM, group)\n",
                    "        exponentials = shifted.exp()\n"
                    "        total = _reduced(torch.logsumexp(shifted, -1).exp(), dist.ReduceOp.SUM, group)\n",
                ),
                ("exponentials / total[..., None], local", "(shifted - total.log()[..., None]).exp(), local"),
            ),
        ),
        Right(
            "in double precision, the loss as the logarithm of a quotient",
            edits=(
                ("torch.promote_types(logits.dtype, torch.float32)", "torch.float64"),
                (
                    "(total.log() - _reduced(mine, dist.ReduceOp.SUM, group))",
                    "-(_reduced(mine, dist.ReduceOp.SUM, group) - total.log())",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "Unchanged afterwards.",
            edit=("shifted = exact - largest[..., None]", "shifted = exact.sub_(largest[..., None])"),
        ),
        Promise(
            "For logits in half precision the computation runs in float32 and is rounded at the end.",
            edit=("logits.to(torch.promote_types(logits.dtype, torch.float32))", "logits"),
        ),
        Promise("of the type of the logits", edit=(", group)).to(logits.dtype)", ", group))")),
        Promise(
            "the largest logit",
            edit=("_reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", "exact.amax(-1) * 0"),
        ),
    ),
)
