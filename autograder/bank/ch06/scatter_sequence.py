"""Chapter 6: ``scatter_sequence``, sequence parallelism."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.shared import ALL_REDUCED, OWN_PART, calls, groups, longer, tensor, vector
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip


def _scatter(rng: Random, ranks: int, shape: tuple[int, ...], dim: int) -> Case:
    whole = longer(shape, dim, ranks)
    return Case(tuple((tensor(rng, *whole), dim, tensor(rng, *shape)) for _ in range(ranks)))


def _even(rng: Random) -> list[Case]:
    return [_scatter(rng, 2, (2, 2), 1), _scatter(rng, 3, (3, 2), -1)]


_SCATTERED = groups(_scatter, "Each rank keeps a part of the sum; its gradient goes to all of them.")


EXERCISE = Build(
    "06 sharded_layers.scatter_sequence",
    section="6.17",
    topic="sequence parallelism",
    bonus=True,
    grade="world",
    probe="ch06.differentiated",
    rule=calls(2, 0),
    cases=(
        Case(((vector(1, 2), 0, vector(5)), (vector(10, 20), 0, vector(7)))),
        _scatter(Random("scatter"), 3, (2, 1), 1),
        _scatter(Random("scatter 1"), 1, (2, 2), 0),
    ),
    groups=(
        *_SCATTERED[:2],
        listed("columns", _even, "The parts are cut along `dim`, which is not always the first dimension."),
        _SCATTERED[2],
    ),
    slips=(
        Slip("x was sliced but not summed: it is a partial sum on every rank.", edit=OWN_PART),
        Slip(
            "The backward pass fills up with zeros: gather the gradients of all ranks.",
            edits=(
                ("torch.empty_like(x, memory_format=torch.contiguous_format)", "torch.zeros_like(x)"),
                ("dist.all_gather(parts, x.contiguous(), group=group)", "parts[dist.get_rank(group)] = x"),
            ),
        ),
        Slip(
            "The sum was cut along the first dimension.",
            edits=(
                ("x.chunk(ranks, dim)", "x.tensor_split(ranks)"),
                ("torch.empty_like(parts[0])", "torch.empty_like(parts[dist.get_rank(group)])"),
                ("torch.cat(parts, dim)", "torch.cat(parts)"),
            ),
        ),
        Slip("That is an all-reduce and a slice: a reduce-scatter sends half as much.", edit=ALL_REDUCED),
    ),
    rights=(
        Right(
            "halves",
            edit=(
                "        return _scattered(x, dim, group)\n",
                "        return _scattered(x * 0.5, dim, group) * 2\n",
            ),
        ),
        Right(
            "narrowed parts",
            edit=(
                "    parts = [part.contiguous() for part in x.chunk(ranks, dim)]\n",
                "    size = x.shape[dim] // ranks\n"
                "    parts = [x.narrow(dim, part * size, size).clone() for part in range(ranks)]\n"
                "    parts = [part.contiguous() for part in parts]\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "unchanged afterwards",
            edit=(
                "        return _scattered(x, dim, group)\n",
                "        part = _scattered(x, dim, group)\n        x.zero_()\n        return part\n",
            ),
        ),
    ),
)
