"""Further right programs for the items of chapter 3."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.distributed as dist

from tools.luck import Right


def passed_on(outgoing, arriving, to, source):
    """Send to one rank while receiving from another, in a batch of calls."""
    calls = [dist.P2POp(dist.isend, outgoing, to)] if outgoing.numel() else []
    calls += [dist.P2POp(dist.irecv, arriving, source)] if arriving.numel() else []
    for request in dist.batch_isend_irecv(calls) if calls else []:
        request.wait()


def scattered_leftwards(x):
    """A reduce-scatter that runs the other way round, with the own numbers added to what arrives."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = x.tensor_split(ranks)
    partial = chunks[(rank + 1) % ranks].clone() if ranks > 1 else x.clone()
    for step in range(2, ranks + 1):
        mine = chunks[(rank + step) % ranks]
        arrived = torch.empty_like(mine)
        passed_on(partial, arrived, (rank - 1) % ranks, (rank + 1) % ranks)
        partial = arrived + mine
    return partial


def gathered_into_views(x, sizes):
    """The parts arrive where they belong in the whole."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = torch.zeros(sum(sizes), dtype=x.dtype)
    parts = whole.split(list(sizes))
    parts[rank].copy_(x)
    for step in range(ranks - 1):
        passed_on(parts[rank - step], parts[rank - step - 1], (rank + 1) % ranks, (rank - 1) % ranks)
    return whole


def gathered_leftwards(x, sizes):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    parts: list[Any] = [None] * ranks
    parts[rank] = x.flatten().clone()
    for step in range(1, ranks):
        source = (rank + step) % ranks
        parts[source] = x.new_zeros(sizes[source])
        passed_on(parts[(source - 1) % ranks], parts[source], (rank - 1) % ranks, (rank + 1) % ranks)
    return torch.cat(parts)


def reduced_leftwards(x):
    flat = x.reshape(-1)
    sizes = [len(chunk) for chunk in flat.tensor_split(dist.get_world_size())]
    return gathered_leftwards(scattered_leftwards(flat), sizes).view(x.shape)


def reduced_in_one_buffer(x):
    """2(N-1) steps on views of one buffer."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    buffer = x.flatten().clone()
    chunks = buffer.tensor_split(ranks)
    for step in range(2 * (ranks - 1)):
        out, into = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(into)
        passed_on(out, arrived, (rank + 1) % ranks, (rank - 1) % ranks)
        into.copy_(arrived + into if step < ranks - 1 else arrived)
    return buffer.reshape(x.shape)


def exchanged_pair_by_pair(blocks):
    """One partner after the other, the lower rank of a pair sends first."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = [block.clone() for block in blocks]
    for total in range(2 * ranks - 1):
        partner = total - rank
        if partner == rank or not 0 <= partner < ranks:
            continue
        count = torch.zeros(1, dtype=torch.int64)
        passed_on(torch.tensor([blocks[partner].numel()]), count, partner, partner)
        received[partner] = blocks[rank].new_zeros(int(count))
        passed_on(blocks[partner], received[partner], partner, partner)
    return received


def exchanged_with_small_counts(blocks):
    """Counts in int32, and everything is posted at once."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    others = [peer for peer in range(ranks) if peer != rank]
    counts = torch.zeros(ranks, 1, dtype=torch.int32)
    waiting: list[Any] = [dist.irecv(counts[peer], peer) for peer in others]
    waiting += [dist.isend(torch.tensor([len(blocks[peer])], dtype=torch.int32), peer) for peer in others]
    for request in waiting:
        request.wait()
    received = [blocks[rank].new_empty(int(count)) for count in counts]
    received[rank] = blocks[rank].clone()
    waiting = [dist.irecv(received[peer], peer) for peer in others if counts[peer]]
    waiting += [dist.isend(blocks[peer], peer) for peer in others if len(blocks[peer])]
    for request in waiting:
        request.wait()
    return received


def mean_by_gathering(x):
    pair = torch.tensor([math.fsum(x.double().tolist()), x.numel()], dtype=torch.float64)
    pairs = [torch.empty_like(pair) for _ in range(dist.get_world_size())]
    dist.all_gather(pairs, pair)
    sums, counts = torch.stack(pairs).unbind(1)
    return (sums.sum() / counts.sum()).item()


def argmax_by_sorting(x):
    mine = torch.tensor([-math.inf, -1.0], dtype=torch.float64)
    if x.numel():
        top = x.max()
        mine = torch.stack([top.double(), (x == top).nonzero()[0, 0].double()])
    rows = torch.empty(2 * dist.get_world_size(), dtype=torch.float64)
    dist.all_gather_into_tensor(rows, mine)
    found = sorted(
        (-value, rank, int(place)) for rank, (value, place) in enumerate(rows.view(-1, 2).tolist()) if place >= 0
    )
    return -found[0][0], found[0][1], found[0][2]


def argmax_by_reductions(x):
    """The largest number first, then the lowest place of those that have it, rank and index in one integer."""
    best = x.double().max() if x.numel() else torch.tensor(-math.inf, dtype=torch.float64)
    mine = best.clone()
    dist.all_reduce(best, dist.ReduceOp.MAX)
    place = torch.tensor(2**62)
    if x.numel() and mine == best:
        place = torch.tensor(dist.get_rank() * 2**40 + int((x == x.max()).int().argmax()))
    dist.all_reduce(place, dist.ReduceOp.MIN)
    return float(best), *divmod(int(place), 2**40)


def softmax_by_logarithms(x):
    """The logarithm of the sum over all ranks is subtracted."""
    top = x.max() if x.numel() else torch.tensor(-math.inf, dtype=x.dtype)
    dist.all_reduce(top, dist.ReduceOp.MAX)
    total = torch.exp(x - top).sum()
    dist.all_reduce(total)
    return torch.exp(x - top - total.log())


def online_softmax(x):
    """One collective of two numbers: each rank's maximum and its sum of exponentials."""
    top = x.max() if x.numel() else x.new_tensor(-1e30)
    pair = torch.stack([top, (x - top).exp().sum()])
    pairs = [torch.empty_like(pair) for _ in range(dist.get_world_size())]
    dist.all_gather(pairs, pair)
    tops, sums = torch.stack(pairs).unbind(1)
    return (x - tops.max()).exp() / (sums * (tops - tops.max()).exp()).sum()


def gradients_in_one_tensor(parameters, gradients):
    """All gradients travel in one flat tensor."""
    there = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, gradients, strict=True)]
    flat = torch.cat([one.flatten() for one in there])
    dist.all_reduce(flat)
    parts = flat.split([one.numel() for one in there])
    return [part.reshape(one.shape).clone() for part, one in zip(parts, there, strict=True)]


TIME = "2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))"
DOUBLE = "steps * (message_bytes / ranks) / bandwidth"

RIGHT = {
    "03-collective-outputs": (
        Right(
            "the mean as shares",
            edits=(("sum(numbers) / len(numbers)", "sum(number / len(numbers) for number in numbers)"),),
        ),
        Right(
            "exact sums",
            edits=(
                ('"sum": sum,', '"sum": math.fsum,'),
                ("lambda numbers: sum(numbers) /", "lambda numbers: math.fsum(numbers) /"),
            ),
        ),
    ),
    "03-ring-reduce-scatter": (
        Right("the other way round", program=scattered_leftwards),
        Right(
            "added in float64",
            edits=(
                (
                    "        mine += arrived",
                    "        mine.copy_(mine.double() + arrived if mine.is_floating_point() else mine + arrived)",
                ),
            ),
        ),
    ),
    "03-ring-all-gather": (
        Right("views of the whole", program=gathered_into_views),
        Right("the other way round", program=gathered_leftwards),
    ),
    "03-ring-all-reduce": (
        Right("the other way round", program=reduced_leftwards),
        Right("one buffer", program=reduced_in_one_buffer),
    ),
    "03-traffic": (
        Right("blocks counted", edits=(("message_bytes * (ranks - 1) / ranks  #", "(ranks - 1) * block  #"),)),
        Right(
            "the whole without the own block",
            edits=(("message_bytes * (ranks - 1) / ranks  #", "message_bytes - block  #"),),
        ),
    ),
    "03-ring-all-reduce-time": (
        Right(
            "start-ups and bytes apart",
            edits=((TIME, "2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth"),),
        ),
        Right("the chunk first", edits=((TIME, "(latency + message_bytes / ranks / bandwidth) * (ranks - 1) * 2"),)),
    ),
    "03-debug-double": (
        Right(
            "the whole without a share", edits=((DOUBLE, "2 * (message_bytes - message_bytes / ranks) / bandwidth"),)
        ),
        Right("bytes over the wire", edits=((DOUBLE, "steps * message_bytes / (ranks * bandwidth)"),)),
    ),
    "03-all-to-all": (
        Right("pair by pair", program=exchanged_pair_by_pair),
        Right("small counts", program=exchanged_with_small_counts),
    ),
    "03-distributed-mean": (
        Right("pairs gathered", program=mean_by_gathering),
        Right(
            "summed from the other end",
            edits=(("x.double().sum()", "x.flatten().double().flip(0).cumsum(0)[-1:].sum()"),),
        ),
    ),
    "03-distributed-argmax": (
        Right("candidates sorted", program=argmax_by_sorting),
        Right("two reductions", program=argmax_by_reductions),
    ),
    "03-distributed-softmax": (
        Right("by logarithms", program=softmax_by_logarithms),
        Right("one collective of two numbers", program=online_softmax),
    ),
    "03-debug-grad": (
        Right("one flat tensor", program=gradients_in_one_tensor),
        Right(
            "zeros first",
            edits=(
                (
                    "torch.zeros_like(parameter) if gradient is None else gradient.clone()",
                    "torch.zeros_like(parameter).add_(0 if gradient is None else gradient)",
                ),
            ),
        ),
    ),
}
