"""Chapter 4: programs that break what its docstrings promise."""

from __future__ import annotations

from tools.clauses import Clause

DOWN = "            dist.send(total, rank + bit)\n    return total"

CLAUSES = {
    "04-tree-all-reduce": (
        Clause("Only messages are used, 2(N-1) in all", (("    bit = 1\n", "    dist.barrier()\n    bit = 1\n"),)),
        Clause(
            "rank 0 receives and sends one for each of the tree's levels",
            edits=(
                ("not rank & bit:", "not rank:"),
                ("bit *= 2", "bit += 1"),
                ("dist.send(total, rank - bit)", "dist.send(total, 0)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, 0)"),
                ("bit //= 2", "bit -= 1"),
            ),
        ),
        Clause("unchanged afterwards.", ((DOWN, DOWN.replace("return total", "return x.copy_(total).clone()")),)),
        Clause("Without elements nothing is sent.", (("    if not x.numel():\n        return total\n", ""),)),
        Clause(
            "of the shape of ``x``, a new tensor with one rank, too.",
            (("    bit = 1\n", "    if ranks == 1:\n        return x\n    bit = 1\n"),),
        ),
    ),
    "04-double-binary-tree": (
        Clause(
            "With odd N > 1 rank 0 alone has children in both, one in each.",
            edits=(("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "ranks - 1 - rank"),),
        ),
        Clause(
            "or ``r - b`` where that is not a rank",
            edits=(
                ("return upper if upper < ranks else rank - bit", "return upper"),
                (
                    ("renamed = [ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in range(ranks)]"),
                    (
                        "renamed = [ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in "
                        "range(2 * ranks)]"
                    ),
                ),
            ),
        ),
    ),
    "04-all-reduce-time": (
        Clause(
            "one rank has nothing to send: 0 s",
            (("(2 * message_bytes / bandwidth if ranks > 1 else 0.0)", "2 * message_bytes / bandwidth"),),
        ),
        Clause(
            "d the least integer with 2**d >= N",
            (("levels = (ranks - 1).bit_length()", "levels = ranks.bit_length()"),),
        ),
    ),
    "04-crossover-bytes": (
        Clause(
            "0.0 when it is never slower.",
            (("more_steps = ranks - 1 - levels", "more_steps = max(1, ranks - 1 - levels)"),),
        ),
    ),
    "04-hierarchical-all-reduce-time": (
        Clause(
            "each rank all-reduces its share, S/g",
            (("share = message_bytes / ranks_per_node", "share = message_bytes"),),
        ),
    ),
    "04-bus-bandwidth": (
        Clause(
            "but for broadcast and reduce, whose factor is always 1",
            (
                (
                    "    return factor * message_bytes / seconds",
                    "    return (ranks > 1) * factor * message_bytes / seconds",
                ),
            ),
        ),
    ),
    "04-parse-topology": (
        Clause("underlined with terminal escapes", (('re.sub(r"\\x1b\\[[0-9;]*[A-Za-z]", "", text)', "text"),)),
        Clause(
            "Text before and after the matrix is skipped.", (("in enumerate(lines) if", "in enumerate(lines[:1]) if"),)
        ),
    ),
    "04-best-ring": (
        Clause(
            "the hop from the last GPU back to the first is one of them",
            (("(*order, first), strict=True", "order, strict=False"),),
        ),
        Clause(
            "of several best ones it is the smallest",
            (("[first, *max(orders, key=slowest_hop)]", "[first, *max(list(orders)[::-1], key=slowest_hop)]"),),
        ),
        Clause(
            "number by number", (("sorted(gpus, key=_number)", "sorted(gpus, key=lambda gpu: (_number(gpu), gpu)[1])"),)
        ),
    ),
    "04-fit-alpha-beta": (
        Clause(
            "The latency may come out negative.",
            edits=(("typical - slope * middle", "max(0.0, typical - slope * middle)"),),
        ),
        Clause(
            "sum of squared *relative* errors",
            (("[1 / time**2 for time in seconds]", "[1 / time for time in seconds]"),),
        ),
    ),
    "04-debug-barrier": (
        Clause("unchanged afterwards.", (("buffer = x.clone()", "buffer = x"),)),
        Clause("the ranks meet, then one clock runs", (("    dist.barrier()\n", ""),)),
    ),
    "04-communication-ratio": (
        Clause(
            "one rank communicates nothing: 0.0",
            (("(gradient_bytes, ranks, bandwidth) /", "(gradient_bytes, max(2, ranks), bandwidth) /"),),
        ),
    ),
}
