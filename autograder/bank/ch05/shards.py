"""Chapter 5: an optimizer whose states lie in slices, and a weight that does."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch05 import rules
from autograder.items import Build, Case, Group, Slip, Tensor

MLP = ((7, 5), (7,), (3, 7), (3,))  # widths 5, 7, 3: 66 parameters


def _steps(ranks: int, seed: int, steps: int = 3, shapes: tuple[tuple[int, ...], ...] = MLP, **options: Any) -> Case:
    """The same weights on every rank; each draws gradients from a seed of its own."""
    return Case(tuple((shapes, steps, seed + rank) for rank in range(ranks)), options)


def _padded(rng: Random) -> Case:
    """66 is not a multiple of 4."""
    return _steps(4, rng.randrange(10**6))


def _trained(rng: Random) -> Case:
    return _steps(rng.randint(2, 4), rng.randrange(10**6), rng.randint(3, 5), lr=rng.choice((0.01, 0.1)))


def _trained_of_each(rng: Random) -> list[Case]:
    return [_steps(ranks, rng.randrange(10**6), lr=0.01, eps=eps) for ranks, eps in ((2, 0.1), (3, 1e-8))]


def _options(rng: Random) -> Case:
    """An eps that shows whether gradients were added or averaged, and a decay that shows where it was applied."""
    return _steps(2, rng.randrange(10**6), lr=0.05, betas=(0.8, 0.9), eps=rng.choice((0.05, 0.1)), weight_decay=0.5)


def _half(rng: Random) -> Case:
    """Updates below half of a bf16 step: without a master copy a weight does not move."""
    return _steps(2, rng.randrange(10**6), 12, dtype="bfloat16", lr=5e-4)


def _partly(rng: Random) -> Case:
    return _steps(2, rng.randrange(10**6), missing=(1,), frozen=(2,), lr=0.01)


def _single(rng: Random) -> Case:
    return _steps(1, rng.randrange(10**6), lr=0.01)


SHARDED = Build(
    id="05-sharded-adam-w",
    module="data_parallel",
    function="ShardedAdamW",
    grade="world",
    probe="ch05.stepped",
    section="5.6",
    topic="ZeRO stage 1",
    tolerance=1e-5,
    cases=(
        *(_steps(ranks, 1, 10) for ranks in (1, 2, 4)),
        _steps(2, 2, shapes=((2, 2),), lr=0.1, eps=0.1),
        _steps(2, 3, 20, ((3, 3),), dtype="bfloat16", lr=1e-3),
    ),
    groups=(
        Group("two or three ranks", _trained, 2, "Each rank moves its slice by the mean gradient.", _trained_of_each),
        Group("padding", _padded, 1, "The number of ranks need not divide that of the parameters: pad with zeros."),
        Group("options", _options, 1, "Mean, not sum; the decay acts on the weights, not on the gradient."),
        Group("bf16 weights", _half, 1, "The states are fp32, the weights may be bf16: keep a master copy."),
        Group("missing and frozen", _partly, 1, "A grad that is None counts as zeros; what needs no gradient is left."),
        Group("one rank", _single, 1, "One rank holds everything."),
    ),
    slips=(
        Slip(
            "The optimizer states were gathered too: they never travel.",
            edit=(
                "        mine = self.master",
                "        for state in (self.first, self.second):\n"
                "            parts = [torch.empty_like(state) for _ in range(self.ranks)]\n"
                "            dist.all_gather(parts, state, group=self.group)\n"
                "        mine = self.master",
            ),
        ),
        Slip(
            "The slices were not padded: the ranks need not divide the number of parameters.",
            edits=(
                ("return torch.nn.functional.pad(flat, (0, -flat.numel() % ranks))", "return flat"),
                ("weights.chunk(self.ranks)[self.rank]", "weights.view(self.ranks, -1)[self.rank]"),
            ),
        ),
        Slip("Gradients were added up and not divided by N.", edit=("gradient / self.ranks", "gradient")),
        Slip(
            "The bias correction started again in every step: it counts steps.",
            edit=("self.steps += 1", "self.steps = 1"),
        ),
        Slip(
            "The decay was added to the gradient: that is Adam with L2, not AdamW.",
            edits=(
                ("gradient / self.ranks", "gradient / self.ranks + self.weight_decay * self.master"),
                ("        self.master.mul_(1 - self.lr * self.weight_decay)\n", ""),
            ),
        ),
        Slip(
            "The slice was kept in the weights' type: small updates are lost without an fp32 master.",
            edit=(
                "mine = self.master.to(self.parameters[0].dtype)",
                "mine = self.master.to(self.parameters[0].dtype)\n        self.master = mine.float()",
            ),
        ),
    ),
    rule=rules.one_exchange,
)


def _whole(rng: Random, ranks: int, length: int, padding: int) -> Case:
    """Slices of ``length``; ``padding`` elements at the end are not part of the parameter."""
    numel = ranks * length - padding

    def vector(size: int) -> Tensor:
        return Tensor.of([rng.uniform(-2, 2) for _ in range(size)], "float64", (size,))

    return Case(tuple((vector(length), numel, vector(numel)) for _ in range(ranks)))


def _even(rng: Random) -> Case:
    return _whole(rng, rng.randint(2, 4), rng.randint(1, 30), 0)


def _even_of_each(rng: Random) -> list[Case]:
    return [_whole(rng, ranks, length, 0) for ranks, length in ((2, 5), (3, 7), (4, 1))]


def _odd(rng: Random) -> Case:
    ranks = rng.randint(2, 4)
    length = rng.randint(ranks, 30)
    return _whole(rng, ranks, length, rng.randint(1, ranks - 1))


def _odd_of_each(rng: Random) -> list[Case]:
    return [_whole(rng, 4, 3, 3), _whole(rng, 2, 5, 1)]


def _alone(rng: Random) -> Case:
    return _whole(rng, 1, rng.randint(2, 9), rng.randint(0, 1))


def _page(upstream: tuple[list[float], list[float]]) -> Case:
    shards = ([1.0, 2.0], [3.0, 0.0])
    rows = zip(shards, upstream, strict=True)
    return Case(tuple((Tensor.of(s, "float64"), 3, Tensor.of(g, "float64")) for s, g in rows))


GATHER = Build(
    id="05-gather-parameter",
    module="data_parallel",
    function="gather_parameter",
    grade="world",
    probe="ch05.gathered",
    section="5.14",
    topic="ZeRO stage 3",
    cases=(
        _page(([1.0, 1.0, 1.0], [3.0, 3.0, 3.0])),
        _whole(Random("05-gather-parameter"), 3, 2, 1),
        Case(((Tensor.of([1.0, 2.0], "float64"), 2, Tensor.of([1.0, -1.0], "float64")),)),
    ),
    groups=(
        Group("slices", _even, 3, "Follow a slice to the whole, and the gradient of the whole back.", _even_of_each),
        Group(
            "padding", _odd, 2, "The last slices may end in padding: cut it off, and pad the gradient.", _odd_of_each
        ),
        Group("one rank", _alone, 1, "One rank has the whole parameter."),
    ),
    slips=(
        Slip(
            "No gradient reaches the slice: an all-gather is no part of autograd's graph.",
            edit=("_Gather.apply(shard, numel, group)", "_Gather.apply(shard.detach(), numel, group)"),
        ),
        Slip(
            "Each rank kept its part of its own gradient: the others' rows are missing.",
            edit=(
                "mine = padded.new_empty(ctx.length)\n"
                "        dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=ctx.group)\n"
                "        return mine / ranks, None, None",
                "return padded.tensor_split(ranks)[dist.get_rank(ctx.group)], None, None",
            ),
        ),
        Slip(
            "The gradients were summed: the mean over the ranks is asked for.",
            edit=("return mine / ranks", "return mine"),
        ),
        Slip(
            "The whole gradient was all-reduced: each rank needs its slice alone.",
            edit=(
                "mine = padded.new_empty(ctx.length)\n"
                "        dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=ctx.group)",
                "dist.all_reduce(padded, group=ctx.group)\n"
                "        mine = padded.tensor_split(ranks)[dist.get_rank(ctx.group)]",
            ),
        ),
        Slip("The padding was not cut off.", edit=("return whole[:numel]", "return whole")),
    ),
    rule=rules.one_way_each,
    bonus=True,
)
