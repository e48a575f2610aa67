"""Further right programs for the items of chapter 14."""

from __future__ import annotations

import math

import numpy
import torch
import torch.distributed as dist

from solutions.ch14 import off_policy, rlhf_schedule, weight_sync
from solutions.ch14.rlhf_schedule import PhaseUse, Placement
from solutions.ch14.weight_sync import Transition
from tools.luck import Right

# A program that calls the reference first does so for its refusals alone.


def timeline_by_arrays(phases, sizes, discardable=frozenset()):
    rlhf_schedule.memory_timeline(phases, sizes, discardable)
    names = list(sizes)[::-1]
    amounts = numpy.array([sizes[name] for name in names], dtype=float)
    copied = numpy.array([name not in discardable for name in names], dtype=bool)
    held = [numpy.array([name in set(tenants) for name in names], dtype=bool) for _, tenants in phases]
    uses = []
    for place, (name, _) in enumerate(phases):
        now, before = held[place], held[place - 1]
        parts = now, now & ~before & copied, before & ~now & copied
        uses.append(PhaseUse(name, *(float(amounts @ part) for part in parts)))
    return uses


def transition_by_parts(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine):
    """What is held less what was there."""
    weight_sync.transition_cost(model_bytes, train_tp, train_pp, train_dp, generate_tp, generate_pp, engine)
    own = model_bytes / train_tp / train_pp
    if engine == "nested":
        peak = model_bytes / generate_tp / generate_pp
        return Transition(peak - own, peak, 0.0)
    own = own / train_dp if engine == "zero3" else own
    return Transition(model_bytes - own, float(model_bytes), own)


def chain_step_by_step(message_bytes, receivers, bandwidth, latency=0.0, chunks=1):
    """Start-ups and bytes apart."""
    weight_sync.chain_broadcast_time(message_bytes, receivers, bandwidth, latency, chunks)
    if not receivers:
        return 0.0
    steps = receivers - 1 + chunks
    return steps * latency + message_bytes / bandwidth * (steps / chunks)


def buckets_one_by_one(message_bytes, bucket_bytes, bandwidths, latencies=None):
    """Bucket after bucket through all stages, what is left counted down."""
    weight_sync.bucketed_sync_time(message_bytes, bucket_bytes, bandwidths, latencies)
    starts = latencies or [0.0] * len(bandwidths)
    done, left = [0.0] * len(bandwidths), message_bytes
    while left > 0:
        size, ready = min(left, bucket_bytes), 0.0
        for stage, (bandwidth, start) in enumerate(zip(bandwidths, starts, strict=True)):
            ready = done[stage] = max(ready, done[stage]) + start + size / bandwidth
        left -= size
    return done[-1]


def buckets_by_formula(message_bytes, bucket_bytes, bandwidths, latencies=None):
    """The longest way through stages and buckets: the slowest stage serves all buckets but the last."""
    weight_sync.bucketed_sync_time(message_bytes, bucket_bytes, bandwidths, latencies)
    if not message_bytes:
        return 0.0
    starts = latencies or [0.0] * len(bandwidths)
    count = math.ceil(message_bytes / bucket_bytes)
    rest = message_bytes - (count - 1) * bucket_bytes
    full = [start + bucket_bytes / bandwidth for bandwidth, start in zip(bandwidths, starts, strict=True)]
    last = [start + rest / bandwidth for bandwidth, start in zip(bandwidths, starts, strict=True)]
    if count == 1:
        return sum(last)
    ways = [
        sum(full[: one + 1]) + (count - 2) * max(full[: one + 1]) + sum(last[one:]) for one in range(len(bandwidths))
    ]
    return max(ways)


def placement_by_a_loop(
    gpus,
    generate_work,
    train_work,
    tail=0.0,
    train_bytes=0.0,
    rollout_bytes=0.0,
    rollout_tp=1,
    gpu_memory=math.inf,
    reserve=0.0,
):
    """The best so far is kept; bytes are compared in sum."""
    rlhf_schedule.best_placement(
        gpus, generate_work, train_work, tail, train_bytes, rollout_bytes, rollout_tp, gpu_memory, reserve
    )
    copy, best = rollout_bytes / rollout_tp, None
    if gpus % rollout_tp == 0 and train_bytes / gpus + copy + reserve <= gpu_memory:
        best = Placement("colocated", gpus, gpus, train_work / gpus + max(tail, generate_work / gpus))
    for pools in range(1, gpus):
        rollout, train = pools, gpus - pools
        if rollout % rollout_tp or copy + reserve > gpu_memory or train_bytes / train + reserve > gpu_memory:
            continue
        seconds = max(tail, train_work / train, generate_work / rollout)
        if best is None or seconds < best.iteration_time:
            best = Placement("disaggregated", rollout, train, float(seconds))
    return best


def pool_by_a_library(lengths, slots, token_time, gpus):
    rlhf_schedule.debug_scaled_gen(lengths, slots, token_time, gpus)
    times = token_time * numpy.array([0, *lengths], dtype=float)
    return float(max(times.max(), times.sum() / (slots * gpus)))


def weights_by_a_library(target, behaviour, cap=None, mode="truncate", level="token"):
    off_policy.importance_weights(target, behaviour, cap, mode, level)
    logs = torch.tensor(target, dtype=torch.float64) - torch.tensor(behaviour, dtype=torch.float64)
    logs = logs.sum().expand(len(logs)) if level == "sequence" else logs
    weights = logs.exp()
    if cap is not None:
        weights = weights.clamp(max=cap) if mode == "truncate" else torch.where(weights > cap, 0.0, weights)
    return weights.tolist()


def size_by_a_library(weights):
    off_policy.effective_sample_size(weights)
    given = numpy.array(weights, dtype=float)
    return float(given.sum() ** 2 / (given @ given)) if given.any() else 0.0


def size_by_shares(weights):
    off_policy.effective_sample_size(weights)
    total = sum(weights)
    return 1 / sum((weight / total) ** 2 for weight in weights) if total else 0.0


# On real ranks.


def reshard_receives_first(local, source, target, plan):
    """All receives are posted before the sends; pieces by index."""
    rank = dist.get_rank()
    held, wanted = source[rank], target[rank]
    result = torch.zeros(wanted[1] - wanted[0], wanted[3] - wanted[2], dtype=local.dtype)

    def put(move, piece):
        row0, row1, col0, col1 = move.box
        result[row0 - wanted[0] : row1 - wanted[0], col0 - wanted[2] : col1 - wanted[2]] = piece

    def taken(move):
        row0, row1, col0, col1 = move.box
        return local[row0 - held[0] : row1 - held[0], col0 - held[2] : col1 - held[2]].clone()

    coming, requests = [], []
    for tag, move in enumerate(plan):
        if rank == move.destination != move.source:
            row0, row1, col0, col1 = move.box
            piece = torch.empty(row1 - row0, col1 - col0, dtype=local.dtype)
            coming.append((dist.irecv(piece, move.source, tag=tag), move, piece))
    for tag, move in enumerate(plan):
        if rank == move.source:
            piece = taken(move).contiguous()
            if rank == move.destination:
                put(move, piece)
            else:
                requests.append((dist.isend(piece, move.destination, tag=tag), piece))
    for request, move, piece in coming:
        request.wait()
        put(move, piece)
    for request, _ in requests:
        request.wait()
    return result


def push_into_one_buffer(state, trainer, rollout_group, bucket_bytes):
    """Buckets are cut by cumulative sizes, bytes go through one buffer that is written and read in slices."""
    seen, tensors = set(), []
    for name in sorted(state):
        key = state[name].data_ptr(), state[name].shape
        if state[name].numel() and key not in seen:
            seen.add(key)
            tensors.append(state[name].detach())
    start = 0
    while start < len(tensors):
        end, size = start + 1, tensors[start].nbytes
        while end < len(tensors) and size + tensors[end].nbytes <= bucket_bytes:
            size += tensors[end].nbytes
            end += 1
        buffer, offset = torch.empty(size, dtype=torch.uint8), 0
        for tensor in tensors[start:end]:
            buffer[offset : offset + tensor.nbytes] = tensor.contiguous().flatten().view(torch.uint8)
            offset += tensor.nbytes
        dist.broadcast(buffer, trainer, group=rollout_group)
        offset = 0
        for tensor in tensors[start:end]:
            piece = buffer[offset : offset + tensor.nbytes].clone()
            tensor.copy_(piece.view(tensor.dtype).reshape(tensor.shape))
            offset += tensor.nbytes
        start = end


_COPIES = "    with torch.no_grad():\n        layer.weight.copy_(weight)\n        layer.bias.copy_(bias)\n"
_SHARE = "        dist.broadcast(weights, src=serving[0], group=group)\n"
_MESSAGES = """        if dist.get_rank() == serving[0]:
            for other in serving[1:]:
                dist.send(x.contiguous(), other)
        else:
            dist.recv(weights, serving[0])
"""

RIGHT = {
    "14-memory-timeline": (
        Right("arrays of flags", program=timeline_by_arrays),
        Right(
            "exact sums in another order",
            edits=(
                (
                    "sum((sizes[tenant] for tenant in sorted(tenants)), 0.0)",
                    "math.fsum(sizes[tenant] for tenant in sorted(tenants, reverse=True))",
                ),
            ),
        ),
    ),
    "14-execute-reshard": (
        Right("receives first", program=reshard_receives_first),
        Right(
            "sends first",
            edits=(
                (
                    "    for request in requests:\n        request.wait()\n",
                    "    for request in reversed(requests):\n        request.wait()\n",
                ),
                ("local.new_empty(", "local.new_zeros("),
            ),
        ),
    ),
    "14-transition-cost": (
        Right("what is held less what was there", program=transition_by_parts),
        Right(
            "shares subtracted",
            edits=(
                (
                    "model_bytes * (parts - slices) / (parts * slices)",
                    "model_bytes * (1 / slices - 1 / parts)",
                ),
                ("model_bytes * (ranks - 1) / ranks", "model_bytes * (1 - 1 / ranks)"),
            ),
        ),
    ),
    "14-chain-broadcast-time": (
        Right("start-ups and bytes apart", program=chain_step_by_step),
        Right(
            "the first chunk, then the others",
            edits=(
                (
                    "    return relay_time(message_bytes, receivers, chunks, bandwidth, latency)\n",
                    "    relay_time(message_bytes, receivers, chunks, bandwidth, latency)\n"
                    "    one = latency + message_bytes / bandwidth / chunks\n"
                    "    return receivers * one + (chunks - 1) * one if receivers else 0.0\n",
                ),
            ),
        ),
    ),
    "14-bucketed-sync-time": (
        Right("bucket by bucket", program=buckets_one_by_one),
        Right("the longest way", program=buckets_by_formula),
    ),
    "14-push-weights": (
        Right("one buffer, written in slices", program=push_into_one_buffer),
        Right(
            "a list that is filled from behind",
            edits=(
                ("    buckets: list[list[torch.Tensor]] = []\n    room = 0\n", "    buckets = [[]]\n"),
                (
                    "        if not buckets or tensor.nbytes > room:\n"
                    "            buckets.append([])\n"
                    "            room = bucket_bytes\n"
                    "        buckets[-1].append(tensor)\n"
                    "        room -= tensor.nbytes\n"
                    "    return buckets\n",
                    "        if sum(one.nbytes for one in (*buckets[-1], tensor)) > bucket_bytes:\n"
                    "            buckets.append([])\n"
                    "        buckets[-1].append(tensor)\n"
                    "    return [bucket for bucket in buckets if bucket]\n",
                ),
            ),
        ),
    ),
    "14-debug-src": (
        Right(
            "zeros on those that receive",
            edits=((_SHARE, "        weights = weights * (dist.get_rank() == serving[0])\n" + _SHARE),),
        ),
        Right("messages to one after the other", edits=((_SHARE, _MESSAGES),)),
    ),
    "14-debug-rebinding": (
        Right(
            "copies into the data",
            edits=((_COPIES, "    layer.weight.data.copy_(weight)\n    layer.bias.data.copy_(bias)\n"),),
        ),
        Right("a state is loaded", edits=((_COPIES, '    layer.load_state_dict({"weight": weight, "bias": bias})\n'),)),
    ),
    "14-best-placement": (
        Right("a loop that keeps the best", program=placement_by_a_loop),
        Right(
            "sorted by time, then by kind",
            edits=(
                (
                    "min(found, key=lambda one: one.iteration_time, default=None)",
                    "next(iter(sorted(found, key=lambda one: (one.iteration_time, one.kind, one.rollout_gpus))), None)",
                ),
            ),
        ),
    ),
    "14-simulate-async": (
        Right(
            "busy less what comes after the end",
            edits=(
                (
                    "sum(max(0.0, min(end, total) - start) for start, end in spans)",
                    "math.fsum((end - start) - max(0.0, end - max(start, total)) for start, end in spans)",
                ),
            ),
        ),
        Right(
            "times of a step summed first",
            edits=(("step_end = now + train_time + sync_time", "step_end = now + (sync_time + train_time)"),),
        ),
    ),
    "14-debug-scaled-gen": (
        Right("arrays", program=pool_by_a_library),
        Right(
            "tokens first, seconds last",
            edits=(
                (
                    "    work = sum(lengths) * token_time / slots  # GPU-seconds\n"
                    "    return max(work / gpus, max(lengths, default=0) * token_time)\n",
                    "    return max(sum(lengths) / gpus / slots, max(lengths, default=0)) * token_time\n",
                ),
            ),
        ),
    ),
    "14-importance-weights": (
        Right("tensors", program=weights_by_a_library),
        Right(
            "a product of ratios",
            edits=(
                (
                    "logs = [math.fsum(logs)] * len(logs)",
                    "logs = [math.log(math.prod(map(math.exp, logs)))] * len(logs)",
                ),
            ),
        ),
    ),
    "14-effective-sample-size": (
        Right("sums and dot products", program=size_by_a_library),
        Right("one over the sum of squared shares", program=size_by_shares),
    ),
}
