"""Chapter 07: a mixture layer whose experts live on several ranks.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr,arg-type"

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.bank import least
from autograder.bank.ch07 import rules
from autograder.bank.ch07.draws import numbers
from autograder.bank.rules import every
from autograder.items import Build, Case, Group, Slip, Stage, Tensor

# --- expert_parallel_forward


def slip_sorted_order(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return results.view(*chosen.shape, x.shape[1]).sum(1)


def slip_equal_splits(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    received = [len(order) // ranks] * ranks
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_transposed(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = list(sent)
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_weights_twice(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_forward_only(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    def exchange(rows, sent, received):
        arrived = rows.new_empty(sum(received), rows.shape[1])
        dist.all_to_all_single(arrived, rows.detach().contiguous(), received, sent)
        return arrived

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = exchange(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = exchange(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_backward_not_swapped(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.contiguous()
            return (
                back[: sum(ctx.sent)] if len(back) >= sum(ctx.sent) else back.new_zeros(sum(ctx.sent), back.shape[1]),
                None,
                None,
            )

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_by_source(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        raise ValueError("experts")
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = torch.arange(len(owners))
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def slip_any_split(x, weights, chosen, local_experts, experts):
    import torch
    import torch.distributed as dist

    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            arrived = rows.new_empty(sum(received), rows.shape[1])
            dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
            return arrived

        @staticmethod
        def backward(ctx, gradient):
            back = gradient.new_empty(sum(ctx.sent), gradient.shape[1])
            dist.all_to_all_single(back, gradient.contiguous(), ctx.sent, ctx.received)
            return back, None, None

    ranks = dist.get_world_size()
    if experts % ranks or len(local_experts) != experts // ranks:
        return torch.zeros_like(x)
    share = experts // ranks
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    coming = torch.empty_like(counts)
    dist.all_to_all_single(coming, counts)
    sent = counts.view(ranks, share).sum(1).tolist()
    received = coming.view(ranks, share).sum(1).tolist()
    rows = Rows.apply(x[tokens], sent, received)
    owners = torch.arange(share).repeat(ranks).repeat_interleave(coming)
    places = owners.argsort(stable=True)
    parts = rows[places].split(coming.view(ranks, share).sum(0).tolist())
    results = torch.cat([expert(part) for expert, part in zip(local_experts, parts, strict=True)])
    results = Rows.apply(results[places.argsort()], received, sent)
    results = results * weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add(0, tokens, results)


def _tokens_of(rng: Random, tokens: int, experts: int, top_k: int, hidden: int) -> tuple[Tensor, ...]:
    """Tokens, weights and experts of one rank, and what comes back to its output."""
    x, upstream = (numbers(rng, tokens, hidden) for _ in range(2))
    chosen = [expert for _ in range(tokens) for expert in rng.sample(range(experts), top_k)]
    return x, numbers(rng, tokens, top_k), Tensor.of(chosen, "int64", (tokens, top_k)), upstream


def _spread(rng: Random, counts: Sequence[int], share: int, top_k: int) -> Case:
    """So many tokens on each rank, and ``share`` experts, each of which some token visits: all have gradients."""
    hidden, experts = rng.randint(2, 5), share * len(counts)
    tokens = [_tokens_of(rng, count, experts, top_k, hidden) for count in counts]
    while len({expert for _, _, chosen, _ in tokens for expert in chosen.tolist()}) < experts:
        tokens = [_tokens_of(rng, count, experts, top_k, hidden) for count in counts]
    args = []
    for own in tokens:
        layers = [("Linear", numbers(rng, hidden, hidden), numbers(rng, hidden)) for _ in range(share)]
        args.append((*own, experts, *(Stage((layer, ("Tanh",))) for layer in layers)))
    return Case(tuple(args))


def _uneven(rng: Random) -> Case:
    return rng.choice(_uneven_of_each(rng))


def _uneven_of_each(rng: Random) -> list[Case]:
    """Two to four ranks with different numbers of tokens."""
    sizes = [rng.sample(range(5, 12), ranks) for ranks in (4, 3, 2, 4)]
    return [_spread(rng, counts, share, 2) for counts, share in zip(sizes, (2, 2, 3, 1), strict=True)]


def _empty(rng: Random) -> Case:
    return rng.choice(_empty_of_each(rng))


def _empty_of_each(rng: Random) -> list[Case]:
    """A rank without tokens, and one rank alone."""
    return [_spread(rng, [rng.randint(5, 9), 0, rng.randint(3, 6)], 2, 2), _spread(rng, [rng.randint(3, 6)], 4, 2)]


def _undivided(rng: Random) -> Case:
    return rng.choice(_undivided_of_each(rng))


def _undivided_of_each(rng: Random) -> list[Case]:
    """Experts that the ranks do not divide, and ranks with too few."""
    whole = [_spread(rng, [2, 3], 2, 1), _spread(rng, [2, 3], 2, 2)]
    odd = tuple((*args[:4], 5, *args[5:]) for args in whole[0].args)
    short = tuple(args[:-1] for args in whole[1].args)
    return [Case(args, raises="ValueError") for args in (odd, short)]


_RANKS = Random("07-expert-parallel-forward")

EXPERT_PARALLEL_FORWARD = Build(
    id="07-expert-parallel-forward",
    module="moe",
    function="expert_parallel_forward",
    grade="world",
    probe="ch07.expert_parallel",
    section="7.12",
    topic="expert parallelism",
    tolerance=1e-6,
    cases=(
        _spread(_RANKS, [4, 6], 2, 2),
        _spread(_RANKS, [5, 2, 4], 1, 2),
        _spread(_RANKS, [3], 2, 1),
        _undivided_of_each(_RANKS)[0],
    ),
    groups=(
        Group(
            "uneven ranks",
            _uneven,
            4,
            "Tell each other how many rows come, send them sorted by expert, and add the results to their tokens.",
            _uneven_of_each,
        ),
        Group(
            "no tokens, one rank",
            _empty,
            2,
            "A rank may have no tokens and still owns experts; one rank exchanges with itself.",
            _empty_of_each,
        ),
        Group(
            "impossible arguments",
            _undivided,
            2,
            "Experts that the ranks do not divide, and a rank with more or fewer than E/R, must raise ValueError.",
            _undivided_of_each,
        ),
    ),
    slips=(
        Slip("The results stand in the order of the experts: add each back to its token.", slip_sorted_order),
        Slip("Equal splits were assumed: routing is uneven, a rank must be told how much comes.", slip_equal_splits),
        Slip(
            "What a rank sends was taken for what it receives: those are a row and a column of one table.",
            slip_transposed,
        ),
        Slip("The weights were applied twice.", slip_weights_twice),
        Slip("The exchange has no backward: upstream gradients vanish. Write an autograd function.", slip_forward_only),
        Slip(
            "The gradients of the exchange stayed where they were: send them back, with the splits swapped.",
            slip_backward_not_swapped,
        ),
        Slip(
            "Rows come by source and then by expert: sort them by expert before you split them.",
            slip_by_source,
        ),
        Slip(
            "Experts that the ranks do not divide, or that are more or fewer than E/R, were accepted.", slip_any_split
        ),
    ),
    rule=every(rules.rows_to_their_experts, least.heard(rules.least_rows)),
)

ITEMS = (EXPERT_PARALLEL_FORWARD,)
