"""Chapter 5: ``gather_parameter``, ZeRO stage 3."""

from __future__ import annotations

from random import Random

from autograder.bank.ch05.rules import Events, Values, exactly
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def one_way_each(case: Case, _values: Values, events: Events) -> str | None:
    """One all-gather of the slices forward, one reduce-scatter of the whole gradient backward."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    slice_bytes = len(case.args[0][0].data)
    allowed = {"all_gather": slice_bytes, "reduce_scatter": ranks * slice_bytes}
    return exactly(ranks, 1, allowed, events, "gather the slices forward, reduce-scatter their gradients backward")


def _whole(rng: Random, ranks: int, length: int, padding: int) -> Case:
    """Slices of ``length``; ``padding`` elements at the end are not part of the parameter."""
    numel = ranks * length - padding

    def vector(size: int) -> Tensor:
        return Tensor.of([rng.uniform(-2, 2) for _ in range(size)], "float64", (size,))

    return Case(tuple((vector(length), numel, vector(numel)) for _ in range(ranks)))


def _even_of_each(rng: Random) -> list[Case]:
    return [_whole(rng, ranks, length, 0) for ranks, length in ((2, 5), (3, 7), (4, 1))]


def _odd_of_each(rng: Random) -> list[Case]:
    return [_whole(rng, 4, 3, 3), _whole(rng, 2, 5, 1)]


def _alone(rng: Random) -> Case:
    return _whole(rng, 1, rng.randint(2, 9), rng.randint(0, 1))


def _page(upstream: tuple[list[float], list[float]]) -> Case:
    shards = ([1.0, 2.0], [3.0, 0.0])
    rows = zip(shards, upstream, strict=True)
    return Case(tuple((Tensor.of(s, "float64"), 3, Tensor.of(g, "float64")) for s, g in rows))


EXERCISE = Build(
    "05 data_parallel.gather_parameter",
    section="5.14",
    topic="ZeRO stage 3",
    bonus=True,
    grade="world",
    probe="ch05.gathered",
    rule=one_way_each,
    cases=(
        _page(([1.0, 1.0, 1.0], [3.0, 3.0, 3.0])),
        _whole(Random("05-gather-parameter"), 3, 2, 1),
        Case(((Tensor.of([1.0, 2.0], "float64"), 2, Tensor.of([1.0, -1.0], "float64")),)),
    ),
    groups=(
        listed("slices", _even_of_each, "Follow a slice to the whole, and the gradient of the whole back."),
        listed("padding", _odd_of_each, "The last slices may end in padding: cut it off, and pad the gradient."),
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
    rights=(
        Right(
            "divided before the sum",
            edits=(
                (
                    "torch.nn.functional.pad(gradient, (0, ranks * ctx.length - gradient.numel()))",
                    "torch.nn.functional.pad(gradient / ranks, (0, ranks * ctx.length - gradient.numel()))",
                ),
                ("return mine / ranks, None, None", "return mine, None, None"),
            ),
        ),
        Right(
            "multiplied by the reciprocal",
            edits=(
                ("return whole[:numel]", "return whole[:numel].clone()"),
                ("return mine / ranks, None, None", "return mine.mul_(1.0 / ranks), None, None"),
            ),
        ),
    ),
    promises=(
        Promise(
            "it is padded and goes through one reduce-scatter",
            edit=(
                "(0, ranks * ctx.length - gradient.numel()))",
                "(0, ranks * ctx.length - gradient.numel()), value=1.0)",
            ),
        ),
        Promise(
            "slice of the *mean* over the ranks",
            edit=("return mine / ranks, None, None", "return mine, None, None"),
        ),
        Promise(
            "the padding at the end is cut off",
            edits=(
                ("return whole[:numel]", "return whole"),
                ("torch.nn.functional.pad(gradient, (0, ranks * ctx.length - gradient.numel()))", "gradient"),
            ),
        ),
    ),
)
