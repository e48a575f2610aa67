"""Chapter 7: ``expert_parallel_forward``, expert parallelism."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch07.draws import numbers, one_of_each
from autograder.bank.rules import every
from autograder.items import Build, Case, Promise, Right, Slip, Stage, Tensor
from rankzero.events import Event


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


def _uneven_of_each(rng: Random) -> list[Case]:
    """Two to four ranks with different numbers of tokens."""
    sizes = [rng.sample(range(5, 12), ranks) for ranks in (4, 3, 2, 4)]
    return [_spread(rng, counts, share, 2) for counts, share in zip(sizes, (2, 2, 3, 1), strict=True)]


def _empty_of_each(rng: Random) -> list[Case]:
    """A rank without tokens, and one rank alone."""
    return [_spread(rng, [rng.randint(5, 9), 0, rng.randint(3, 6)], 2, 2), _spread(rng, [rng.randint(3, 6)], 4, 2)]


_RANKS = Random("07-expert-parallel-forward")

#: Operations in which rows travel to one rank alone.
DIRECT = ("all_to_all", "send", "recv", "barrier")


def rows_to_their_experts(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Rows go to the rank of their expert and to nobody else; counts may be told to everyone."""
    ranks, experts = len(case.args), case.args[0][4]
    told = 8 * experts * ranks * ranks  # what counts, of int64, can come to
    for event in events:
        if event.operation not in DIRECT and event.received > told:
            return f"rank {event.rank} called {event.operation}: send a row only to the rank of its expert"
    for rank, (x, _, chosen, *_) in enumerate(case.args):
        row = 8 * x.shape[1]
        out = chosen.shape[0] * chosen.shape[1]
        back = _rows_for(case, rank)
        sent = sum(event.sent for event in events if event.rank == rank)
        limit = 2 * (out + back) * row + 4 * told
        if sent > limit:
            return f"rank {rank} handed in {sent:,} bytes; its rows, out and back, and their gradients are {limit:,}"
    return None


def least_rows(case: Case) -> list[int]:
    """Bytes of rows that each rank lacks: tokens of others for its experts, and its own tokens' results elsewhere.

    A token goes to a rank once, even to several experts of it, and comes back from it once.
    """
    ranks, share = len(case.args), case.args[0][4] // len(case.args)
    row = 8 * case.args[0][0].shape[1]
    needs = [0] * ranks
    for owner, (_, _, chosen, *_) in enumerate(case.args):
        width = chosen.shape[1]
        places = [int(expert) // share for expert in chosen.tolist()]
        visits = {(index // width, rank) for index, rank in enumerate(places) if rank != owner}
        needs[owner] += row * len(visits)
        for _, rank in visits:
            needs[rank] += row
    return needs


def _rows_for(case: Case, rank: int) -> int:
    """Assignments, of all ranks, to the experts of one."""
    share = case.args[0][4] // len(case.args)
    return sum(int(e) // share == rank for args in case.args for e in args[2].tolist())


def _swap(rows, sent, received):
    import torch.distributed as dist

    arrived = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(arrived, rows.contiguous(), received, sent)
    return arrived


def experts_skipping_the_idle(x, weights, chosen, local_experts, experts):
    """Weights are applied by a matrix product, an expert without rows is not called."""

    import torch
    import torch.distributed as dist

    class Exchange(torch.autograd.Function):
        """Rows to and from every rank, one list of tensors each."""

        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.splits = sent, received
            return _swap(rows, sent, received)

        @staticmethod
        def backward(ctx, gradient):
            sent, received = ctx.splits
            return _swap(gradient, received, sent), None, None

    ranks, rank = dist.get_world_size(), dist.get_rank()
    share, top_k = experts // ranks, chosen.shape[1]
    order = torch.tensor(
        sorted(range(chosen.numel()), key=lambda place: int(chosen.view(-1)[place])), dtype=torch.int64
    )
    numbers = chosen.view(-1)[order]
    sent = [int(((numbers // share) == other).sum()) for other in range(ranks)]
    table = torch.zeros(ranks, dtype=torch.int64)
    dist.all_to_all_single(table, torch.tensor(sent))
    received = table.tolist()
    which = numbers.new_empty(sum(received))
    dist.all_to_all_single(which, numbers, received, sent)
    rows = Exchange.apply(x[order // top_k], sent, received)
    results = torch.zeros_like(rows)
    for number, expert in enumerate(local_experts):
        places = (which == rank * share + number).nonzero().view(-1)
        if len(places):
            results = results.index_copy(0, places, expert(rows[places]))
    back = Exchange.apply(results, received, sent)
    flat = torch.zeros_like(back).index_copy(0, order, back)
    return torch.einsum("tk,tkh->th", weights, flat.view(*chosen.shape, x.shape[1]))


EXERCISE = Build(
    "07 moe.expert_parallel_forward",
    section="7.23",
    topic="expert parallelism",
    bonus=True,
    grade="world",
    probe="ch07.expert_parallel",
    tolerance=1e-6,
    rule=every(rows_to_their_experts, least_received.heard(least_rows)),
    cases=(
        _spread(_RANKS, [4, 6], 2, 2),
        _spread(_RANKS, [5, 2, 4], 1, 2),
        _spread(_RANKS, [3], 2, 1),
    ),
    groups=(
        one_of_each(
            "uneven ranks",
            _uneven_of_each,
            "Exchange the counts first, send the rows sorted by expert, and add the results to their tokens.",
        ),
        one_of_each(
            "no tokens, one rank",
            _empty_of_each,
            "A rank may have no tokens and still own experts, and a single rank exchanges rows with itself.",
        ),
    ),
    slips=(
        Slip(
            "The results are in the order of the experts. Add each one to its own token.",
            edit=(
                "torch.zeros_like(x).index_add(0, tokens, results * weights.flatten()[by_expert].unsqueeze(1))",
                "(results * weights.flatten()[by_expert].unsqueeze(1)).view(*chosen.shape, x.shape[1]).sum(1)",
            ),
        ),
        Slip(
            "Equal splits were assumed. Routing is uneven, so a rank must be told how many rows will come.",
            edit=("    rows = _All", "    received = [len(by_expert) // ranks] * ranks\n    rows = _All"),
        ),
        Slip(
            "What a rank sends was used as what it receives; one is a row of the table, the other a column.",
            edit=("    rows = _All", "    received = list(sent)\n    rows = _All"),
        ),
        Slip("The weights were applied twice.", edit=(".unsqueeze(1))", ".unsqueeze(1) ** 2)")),
        Slip(
            "The exchange has no backward: upstream gradients vanish. Write an autograd function.",
            edits=(
                ("_AllToAllRows.apply(x[tokens], sent", "_exchanged(x[tokens].detach(), sent"),
                (
                    "_AllToAllRows.apply(_visited(rows, coming.view(ranks, -1), local_experts), received",
                    "_exchanged(_visited(rows, coming.view(ranks, -1), local_experts).detach(), received",
                ),
            ),
        ),
        Slip(
            "The gradients of the exchange stayed where they were. Send them back, with the splits swapped.",
            edit=(
                "        return _exchanged(gradients[0], ctx.received, ctx.sent), None, None",
                "        back, rows = gradients[0], sum(ctx.sent)\n"
                "        return back[:rows] if len(back) >= rows else back.new_zeros(rows, back.shape[1]), None, None",
            ),
        ),
        Slip(
            "Rows come by source and then by expert: sort them by expert before you split them.",
            edit=("owners.argsort(stable=True)", "torch.arange(len(owners))"),
        ),
    ),
    rights=(
        Right("idle experts are not called, the weights by a matrix product", program=experts_skipping_the_idle),
        Right(
            "rows brought back to the order of the tokens and summed",
            edits=(
                (
                    "return torch.zeros_like(x).index_add(0, tokens, results * ",
                    "return _summed(x, chosen, by_expert, results * ",
                ),
                (
                    "class _AllToAllRows",
                    "def _summed(x, chosen, by_expert, rows):\n"
                    "    rows = rows[by_expert.argsort()]\n"
                    "    return rows.view(*chosen.shape, -1).sum(dim=1) if len(x) else rows.view(0, x.shape[1])\n\n\n"
                    "class _AllToAllRows",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "ranks may hold different numbers of them",
            edit=("    rows = _All", "    received = [len(by_expert) // ranks] * ranks\n    rows = _All"),
        ),
        Promise(
            "ranks may hold different numbers of them, also none.",
            edit=("    by_expert = chosen", "    if not len(x):\n        return x\n    by_expert = chosen"),
        ),
        Promise(
            "what the tokens of all ranks contribute",
            edit=(
                "        return _exchanged(gradients[0], ctx.received, ctx.sent), None, None",
                "        back, rows = gradients[0], sum(ctx.sent)\n"
                "        kept = back[:rows] if len(back) >= rows else back.new_zeros(rows, back.shape[1])\n"
                "        return kept, None, None",
            ),
        ),
    ),
)
