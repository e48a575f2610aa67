"""Further right programs for the items of chapter 2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch
import torch.distributed as dist

from tools.luck import Right


def relayed_as_bits(value, increment):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank:
        bits = torch.empty(1, dtype=torch.int64)
        dist.irecv(bits, rank - 1).wait()  # type: ignore[union-attr]
        held = increment + bits.view(torch.float64)
    if rank < ranks - 1:
        dist.isend(held.view(torch.int64), rank + 1).wait()  # type: ignore[union-attr]
    return held.item()


def swapped_by_order(x):
    """The lower partner sends first, the higher one receives first."""
    rank = dist.get_rank()
    partner, arrived = rank ^ 1, x.new_empty(x.shape)
    calls = [lambda: dist.send(x, partner), lambda: dist.recv(arrived, partner)]
    for call in calls if rank < partner else calls[::-1]:
        call()
    return arrived


def told_without_blocking(numbers):
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if dist.get_rank():
        arriving, told = dist.irecv(mine, 0), dist.isend(ready, 0)
        told.wait()
        arriving.wait()
    else:
        for peer in range(1, dist.get_world_size()):
            dist.recv(ready, peer)
            dist.send(mine, peer)
    return mine.tolist()


def answered_in_reverse(numbers):
    """Rank 0 posts all receives and answers the last rank first."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if rank == 0:
        for peer in reversed(range(1, ranks)):
            dist.recv(ready, peer)
            dist.send(mine, peer)
        return numbers
    arrived = torch.empty_like(mine)
    handle: Any = dist.irecv(arrived, 0)
    dist.send(ready, 0)
    handle.wait()
    return arrived.tolist()


def received_in_a_batch(work, buffer, src):
    handles = dist.batch_isend_irecv([dist.P2POp(dist.irecv, buffer, src)])
    made = work()
    for handle in handles:
        handle.wait()
    return made


def shifted_in_a_batch(x, distance=1):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = x.detach().contiguous()
    arrived = x.clone()
    if distance % ranks and x.numel():
        calls = [
            dist.P2POp(dist.irecv, arrived, (rank - distance) % ranks),
            dist.P2POp(dist.isend, x, (rank + distance) % ranks),
        ]
        for handle in dist.batch_isend_irecv(calls):
            handle.wait()
    return arrived


def shifted_by_blocking_calls(x, distance=1):
    """In every cycle of ranks somebody receives first."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    source, target = (rank - distance) % ranks, (rank + distance) % ranks
    if rank == target or x.numel() == 0:
        return x.detach().clone()
    x = x.detach()
    arrived = torch.empty(x.shape, dtype=x.dtype)
    if rank < source:
        dist.recv(arrived, source)
    dist.send(x.contiguous(), target)
    if rank > source:
        dist.recv(arrived, source)
    return arrived


def relayed_all_posted(x, chunks):
    """All receives at once, and every chunk is sent as soon as it is there."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = x.clone() if rank == 0 else torch.zeros_like(x)
    parts = [part for part in whole.tensor_split(chunks) if part.numel()]
    receives: list[Any] = [dist.irecv(part, rank - 1) for part in parts] if rank else []
    sends: list[Any] = []
    for number, part in enumerate(parts):
        if rank:
            receives[number].wait()
        if rank < ranks - 1:
            sends.append(dist.isend(part, rank + 1))
    for handle in sends:
        handle.wait()
    return whole


def relayed_chunk_by_chunk(x, chunks):
    """Every chunk has a tensor of its own; they are joined at the end."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    parts = [part.clone() for part in x.tensor_split(chunks)]
    there = [part for part in parts if len(part)]
    arriving: Any = dist.irecv(there[0], rank - 1) if rank and there else None
    for number, part in enumerate(there):
        if arriving:
            arriving.wait()
            arriving = dist.irecv(there[number + 1], rank - 1) if number + 1 < len(there) else None
        if rank + 1 < ranks:
            leaving: Any = dist.isend(part, rank + 1)
            leaving.wait()
    return torch.cat(parts)


def in_fractions(message_bytes, hops, bandwidth, latency, limit=4096):
    """The least k with k (k + 1) not below the square of the ideal, in whole numbers."""
    if hops <= 1 or message_bytes == 0:
        return 1
    if latency == 0:
        return limit
    square = (hops - 1) * Fraction(message_bytes) / Fraction(bandwidth) / Fraction(latency)
    below = min(math.isqrt(math.floor(square)), limit)
    return min(limit, max(1, below if below * (below + 1) >= square else below + 1))


def step_by_hand(stage, inputs, targets, shape):
    """Gradients by torch.autograd.grad, added to what is there, one by one."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = inputs
    if rank:
        x = torch.zeros(shape, requires_grad=True)
        dist.recv(x.detach(), rank - 1)
    output = stage(x)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        result = (output * gradient).sum()
    elif targets is None:
        raise ValueError("targets must be a tensor on the last rank")
    else:
        result = ((output - targets) ** 2).mean()
    wanted = [p for p in stage.parameters() if p.requires_grad] + ([x] if rank else [])
    found = torch.autograd.grad(result, wanted) if wanted else ()
    for parameter, gradient in zip(wanted, found, strict=True):
        parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
    if rank:
        dist.send(x.grad, rank - 1)
    return result.item() if rank == ranks - 1 else None


LOSS = "output, gradient = torch.nn.functional.mse_loss(output, _given(targets)), torch.ones(())"
RELAY = "(hops + chunks - 1) * (latency + message_bytes / (chunks * bandwidth))"
BEST = "return min(near, key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency))"

RIGHT = {
    "02-relay": (
        Right("the bits as integers, posted and waited for", program=relayed_as_bits),
        Right("the sum in Python", edits=(("        held += increment", "        held[0] = float(held) + increment"),)),
    ),
    "02-debug-swap": (
        Right("calls in a list", program=swapped_by_order),
        Right(
            "posted and waited for at once",
            edits=(
                ("        dist.send(x, rank + 1)", "        dist.isend(x, rank + 1).wait()"),
                ("        dist.recv(arrived, rank + 1)", "        dist.irecv(arrived, rank + 1).wait()"),
            ),
        ),
    ),
    "02-debug-early-read": (
        Right("two handles", program=told_without_blocking),
        Right("the last rank is answered first", program=answered_in_reverse),
    ),
    "02-receive-while": (
        Right("a batch of one call", program=received_in_a_batch),
        Right(
            "the wait in a finally clause",
            edits=(
                (
                    "    made = work()\n    arriving.wait()\n",
                    "    try:\n        made = work()\n    finally:\n        arriving.wait()\n",
                ),
            ),
        ),
    ),
    "02-ring-shift": (
        Right("a batch of calls", program=shifted_in_a_batch),
        Right("blocking calls", program=shifted_by_blocking_calls),
    ),
    "02-message-time": (
        Right(
            "over one bandwidth",
            edits=(
                (
                    "return latency + message_bytes / bandwidth",
                    "return (latency * bandwidth + message_bytes) / bandwidth",
                ),
            ),
        ),
        Right(
            "times the inverse of the bandwidth",
            edits=(("return latency + message_bytes / bandwidth", "return message_bytes * (1 / bandwidth) + latency"),),
        ),
    ),
    "02-relay-time": (
        Right(
            "first the fill, then the rest",
            edits=(
                (
                    f"return {RELAY}",
                    "each = latency + message_bytes / bandwidth / chunks\n    return hops * each + (chunks - 1) * each",
                ),
            ),
        ),
        Right(
            "start-ups and bytes apart",
            edits=((RELAY, "(hops + chunks - 1) * latency + (1 + (hops - 1) / chunks) * message_bytes / bandwidth"),),
        ),
    ),
    "02-best-chunks": (
        Right("in whole numbers", program=in_fractions),
        Right(
            "all numbers tried",
            edits=((BEST, BEST.replace("(near,", "(range(1, min(limit, 4 * near[1]) + 1),")),),
        ),
        Right(
            "the bytes multiplied out",
            edits=(
                (BEST, "return min(near, key=lambda k: k * latency + (hops - 1) * message_bytes / (k * bandwidth))"),
            ),
        ),
    ),
    "02-chunked-relay": (
        Right("all receives posted", program=relayed_all_posted),
        Right("a tensor for each chunk", program=relayed_chunk_by_chunk),
    ),
    "02-naive-step": (
        Right(
            "forward and backward apart",
            edits=(
                (
                    "compute = layers * layer_time * (1 + backward_ratio)",
                    "compute = layers * layer_time + backward_ratio * layer_time * layers",
                ),
            ),
        ),
        Right(
            "the share from the waiting",
            edits=(("compute / (stages * step_time)", "(1 - 2 * (stages - 1) * transfer_time / step_time) / stages"),),
        ),
    ),
    "02-forward-backward": (
        Right("gradients by torch.autograd.grad", program=step_by_hand),
        Right(
            "the mean of squares, and the gradient times the output",
            edits=(
                (LOSS, "output, gradient = (output - _given(targets)).square().mean(), torch.ones(())"),
                ("        output.backward(gradient)", "        (output * gradient).sum().backward()"),
            ),
        ),
    ),
}
