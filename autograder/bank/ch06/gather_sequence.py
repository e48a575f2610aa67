"""Chapter 6: ``gather_sequence``, sequence parallelism."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import ALL_REDUCED, OWN_PART, calls, groups, longer, tensor, vector
from autograder.items import Build, Case, Promise, Right, Slip


def _gather(rng: Random, ranks: int, shape: tuple[int, ...], dim: int) -> Case:
    whole = longer(shape, dim, ranks)
    return Case(tuple((tensor(rng, *shape), dim, tensor(rng, *whole)) for _ in range(ranks)))


EXERCISE = Build(
    "06 sharded_layers.gather_sequence",
    section="6.17",
    topic="sequence parallelism",
    bonus=True,
    grade="world",
    probe="ch06.differentiated",
    rule=calls(0, 2),
    cases=(
        Case(((vector(1), 0, vector(1, 10)), (vector(2), 0, vector(100, 1000)))),
        _gather(Random("gather"), 3, (2, 1), 1),
        _gather(Random("gather 1"), 1, (2, 2), 0),
    ),
    groups=groups(_gather, "What every rank computes from a part contributes to its gradient."),
    slips=(
        Slip(
            "The backward pass takes the rank's own slice and loses what the other ranks computed from the part.",
            edit=OWN_PART,
        ),
        Slip("The parts were joined along the first dimension.", edit=("torch.cat(parts, dim)", "torch.cat(parts, 0)")),
        Slip(
            "The parts were joined outside autograd: no gradient comes back.",
            edit=("_Gather.apply(x, dim, group)", "_joined(x.detach(), dim, group)"),
        ),
        Slip("The backward pass is an all-reduce and a slice: a reduce-scatter sends half as much.", edit=ALL_REDUCED),
    ),
    rights=(
        Right(
            "parts written into the whole",
            edit=(
                "    return torch.cat(parts, dim)\n",
                "    whole = torch.stack(parts)\n    return torch.cat(tuple(whole.unbind()), dim).clone()\n",
            ),
        ),
        Right(
            "halves on the way back",
            edit=(
                "        return _scattered(gradient, ctx.dim, ctx.group), None, None\n",
                "        return _scattered(gradient / 2, ctx.dim, ctx.group) * 2, None, None\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "unchanged afterwards",
            edit=(
                "        return _joined(x, dim, group)\n",
                "        whole = _joined(x, dim, group)\n        x.zero_()\n        return whole\n",
            ),
        ),
    ),
)
