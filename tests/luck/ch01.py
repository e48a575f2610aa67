"""Further right programs for the items of chapter 1."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import torch
import torch.distributed as dist

from tools.luck import Right


def mean_of_all(scores, ranks):
    return statistics.fmean(scores)


def mean_of_shards(scores, ranks):
    shards = [scores[rank::ranks] for rank in range(ranks)]
    return math.fsum(math.fsum(shard) for shard in shards) / sum(map(len, shards))


def gathered_into_one(value):
    heard = torch.empty(dist.get_world_size(), dtype=torch.float64)
    dist.all_gather_into_tensor(heard, torch.tensor([value], dtype=torch.float64))
    return heard.tolist()


def gathered_as_bits(value):
    bits = torch.tensor([value], dtype=torch.float64).view(torch.int64)
    heard = torch.empty(dist.get_world_size(), dtype=torch.int64)
    dist.all_gather(list(heard.split(1)), bits)
    return heard.view(torch.float64).tolist()


def floats_gathered_into_one(value):
    heard = torch.empty(dist.get_world_size())
    dist.all_gather_into_tensor(heard, torch.tensor([value]))
    return heard.tolist()


def floats_gathered_into_parts(value):
    heard = torch.empty(dist.get_world_size(), 1)
    dist.all_gather(list(heard), torch.full((1,), value))
    return [one.item() for one in heard.flatten()]


def fewest_by_fractions(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    free = Fraction(memory) - Fraction(reserve)
    return max(1, math.ceil(Fraction(parameters) * Fraction(bytes_per_parameter) / free))


def pairs_by_xor(value):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    partner = rank ^ 1
    if partner >= ranks:
        return value
    number = torch.tensor(value, dtype=torch.float64)
    if partner > rank:
        dist.isend(number, partner).wait()
        return None
    other = torch.zeros((), dtype=torch.float64)
    dist.irecv(other, partner).wait()
    return other.item() + value


def joined_at_a_store(environ):
    rank, size = int(environ["RANK"]), int(environ["WORLD_SIZE"])
    store = dist.TCPStore(environ["MASTER_ADDR"], int(environ["MASTER_PORT"]), size, is_master=rank == 0)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    return int(environ["LOCAL_RANK"])


def joined_through_the_environment(environ):
    import os

    os.environ.update(environ)
    dist.init_process_group("gloo")
    return int(environ["LOCAL_RANK"])


WHOLE_WORK = "6.0 * parameters + 12 * layers * width * context * (0.5 if causal else 1)"
STRONG = "baseline_time * baseline_ranks / (time * ranks)"

RIGHT = {
    "01-pair-sum": (
        Right("the partner by its last bit", program=pairs_by_xor),
        Right("the remainder as a truth value", (("if rank % 2 == 1:", "if rank % 2:"),)),
    ),
    "01-join": (
        Right("through os.environ", program=joined_through_the_environment),
        Right("a store", program=joined_at_a_store),
        Right(
            "arguments by place",
            (('dist.init_process_group(\n        "gloo",', 'dist.init_process_group(\n        backend="gloo",'),),
        ),
    ),
    "01-training-flops-per-token": (
        Right(
            "forward and backward apart",
            (
                (
                    f"    return {WHOLE_WORK}",
                    "    forward = 2 * parameters + 4 * layers * width * context / (2 if causal else 1)\n"
                    "    return forward + 2 * forward",
                ),
            ),
        ),
        Right("six drawn out", ((WHOLE_WORK, "6 * (parameters + (1 if causal else 2) * layers * width * context)"),)),
    ),
    "01-training-time": (
        Right("the rate first", (("flops / (ranks * peak * utilization)", "flops / (peak * utilization * ranks)"),)),
        Right(
            "a device's share first", (("flops / (ranks * peak * utilization)", "flops / ranks / peak / utilization"),)
        ),
    ),
    "01-compute-optimal": (
        Right(
            "tokens first",
            (
                (
                    "parameters = math.sqrt(flops / (6 * tokens_per_parameter))",
                    "tokens = (tokens_per_parameter * flops / 6) ** 0.5",
                ),
                (
                    "return parameters, tokens_per_parameter * parameters",
                    "return tokens / tokens_per_parameter, tokens",
                ),
            ),
        ),
        Right(
            "by logarithms",
            (
                (
                    "math.sqrt(flops / (6 * tokens_per_parameter))",
                    "math.exp((math.log(flops) - math.log(6 * tokens_per_parameter)) / 2)",
                ),
            ),
        ),
    ),
    "01-minimum-ranks": (
        Right("whole numbers", program=fewest_by_fractions),
        Right(
            "floor of the negative",
            (
                (
                    "math.ceil(parameters * bytes_per_parameter / (memory - reserve))",
                    "int(-(-parameters * bytes_per_parameter // (memory - reserve)))",
                ),
            ),
        ),
        Right(
            "parameters that a device holds",
            (
                (
                    "parameters * bytes_per_parameter / (memory - reserve)",
                    "parameters / ((memory - reserve) / bytes_per_parameter)",
                ),
            ),
        ),
    ),
    "01-scaling-efficiency": (
        Right("speed-up over ranks", ((STRONG, "baseline_time / time / (ranks / baseline_ranks)"),)),
        Right("ideal time over time", ((STRONG, "baseline_time / ranks * baseline_ranks / time"),)),
    ),
    "01-amdahl-speedup": (
        Right(
            "time that is left",
            (("ranks / (1 + serial_fraction * (ranks - 1))", "1 / (serial_fraction + (1 - serial_fraction) / ranks)"),),
        ),
        Right(
            "shared out",
            (
                (
                    "ranks / (1 + serial_fraction * (ranks - 1))",
                    "ranks / (ranks * serial_fraction + 1 - serial_fraction)",
                ),
            ),
        ),
    ),
    "01-gustafson-speedup": (
        Right(
            "parts added",
            (("ranks - serial_fraction * (ranks - 1)", "serial_fraction + (1 - serial_fraction) * ranks"),),
        ),
        Right("above one", (("ranks - serial_fraction * (ranks - 1)", "1 + (ranks - 1) * (1 - serial_fraction)"),)),
    ),
    "01-roll-call": (
        Right("one tensor for all", program=gathered_into_one),
        Right("bits as integers", program=gathered_as_bits),
    ),
    "01-debug-gather": (
        Right("one tensor for all", program=floats_gathered_into_one),
        Right("rows of one tensor", program=floats_gathered_into_parts),
    ),
    "01-debug-eval": (
        Right("the library's mean", program=mean_of_all),
        Right("exact sums of shards", program=mean_of_shards),
    ),
}
