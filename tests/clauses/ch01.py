"""Chapter 1: programs that break what its docstrings promise."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "01-training-flops-per-token": (
        Clause("4 FLOP per layer, unit of width and position forward, and twice that backward", (("12 *", "8 *"),)),
        Clause("of a mixture only the experts that a token visits", why="it says what the caller counts"),
        Clause("0 leaves attention out", (("12 * layers", "12 * (layers or 1)"),)),
        Clause("causal: count only the half of the attention", ((" * (0.5 if causal else 1)", ""),)),
    ),
    "01-compute-optimal": (
        Clause(
            "``6 * parameters * tokens == flops``",
            (("return parameters, tokens_per_parameter * parameters", "return parameters, 20 * parameters"),),
        ),
    ),
    "01-minimum-ranks": (
        Clause("0 parameters need one device", (("max(1, ", "max(0, "),)),
        Clause(
            "16 is mixed-precision Adam", (("bytes_per_parameter: float = 16.0", "bytes_per_parameter: float = 12.0"),)
        ),
        Clause("bytes that stay free on each device", (("(memory - reserve)", "memory"),)),
    ),
    "01-locate": (Clause("everything counts from 0", (("return divmod(", "return divmod(1 + "),)),),
    "01-coordinates": (
        Clause("the last one varies fastest", (("in reversed(sizes):", "in sizes:"),)),
        Clause(
            "the same axes in the same order", (("return {axis: places[axis] for axis in sizes}", "return places"),)
        ),
    ),
    "01-process-groups": (
        Clause(
            "each of ``sizes[axis]`` ascending ranks",
            (("list(range(", "list(reversed(range("), ("stride)) for", "stride))) for")),
        ),
        Clause("sorted by their first members", (("for first in firsts]", "for first in reversed(firsts)]"),)),
        Clause(
            "Every rank of the world is in exactly one of them", (("for first in firsts]", "for first in firsts[1:]]"),)
        ),
        Clause(
            "an axis of size 1 gives a group of one for each rank",
            (("for first in firsts]", "for first in firsts if sizes[axis] > 1]"),),
        ),
    ),
    "01-rendezvous": (
        Clause(
            "Nothing has a default",
            (
                ("if name not in environ]", 'if name not in (*environ, "MASTER_PORT")]'),
                ("(environ[name] for name", '({"MASTER_PORT": "29500", **environ}[name] for name'),
            ),
        ),
        Clause("other names are ignored", (("if missing:", "if missing or len(environ) > len(names):"),)),
    ),
    "01-shard-indices": (
        Clause(
            "Every rank visits the same number of samples",
            (("range(rank, turns * ranks, ranks)", "range(rank, min(samples, turns * ranks), ranks)"),),
        ),
        Clause(
            "The order is extended from its start",
            (("visits[position % samples]", "visits[min(position, samples - 1)]"),),
        ),
        Clause(
            "With fewer samples than ranks the order is repeated more than once",
            (("visits[position % samples]", "[*visits, *visits][min(position, 2 * samples - 1)]"),),
        ),
        Clause("drop the remainder at the end", (("samples // ranks if drop_last else ", ""),)),
    ),
    "01-debug-eval": (
        Clause(
            "whatever the number of ranks",
            (
                (
                    "scores[position] for position in visited if position < samples",
                    "scores[position % samples] for position in visited",
                ),
            ),
        ),
    ),
    "01-scaling-efficiency": (
        Clause(
            "it is not clipped",
            (
                (
                    "return baseline_time * baseline_ranks / (time * ranks)",
                    "return min(1.0, baseline_time * baseline_ranks / (time * ranks))",
                ),
            ),
        ),
    ),
    "01-gustafson-speedup": (
        Clause(
            "each does the parallel work that one rank did alone before",
            (("ranks - serial_fraction * (ranks - 1)", "ranks / (1 + serial_fraction * (ranks - 1))"),),
        ),
    ),
    "01-roll-call": (
        Clause("every bit of it counts", (("torch.tensor([value], dtype=torch.float64)", "torch.tensor([value])"),)),
        Clause(
            "one all-gather",
            (
                (
                    "    dist.all_gather(heard, mine)",
                    "    for rank, one in enumerate(heard):\n        dist.broadcast(one.copy_(mine), rank)",
                ),
            ),
        ),
    ),
}
