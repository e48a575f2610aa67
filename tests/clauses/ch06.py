"""What the docstrings of chapter 6 promise, and edits of the references that break each promise."""

from __future__ import annotations

from tools.clauses import Clause

SUMMED_IN_PLACE = (
    (
        "        return _sum(gradient, ctx.group), None\n",
        "        dist.all_reduce(gradient, group=ctx.group)\n        return gradient, None\n",
    ),
)
A_VIEW = ((".detach().clone(memory_format=torch.contiguous_format))", ".detach())"),)

CLAUSES = {
    "06-copy-to-ranks": (
        Clause("unchanged afterwards, as is the gradient that arrives", edits=SUMMED_IN_PLACE),
        Clause("in the backward pass, the sum of its gradients", edits=(("_sum(gradient, ctx.group)", "gradient"),)),
    ),
    "06-reduce-from-ranks": (
        Clause(
            "unchanged afterwards, as is the gradient that arrives",
            edits=(
                (
                    "        return _sum(x, group)\n",
                    "        dist.all_reduce(x, group=group)\n        return x.clone()\n",
                ),
            ),
        ),
    ),
    "06-debug-g": (Clause("unchanged afterwards", edits=(("            y = x.clone()\n", "            y = x\n"),)),),
    "06-column-parallel-linear": (
        Clause("consecutive rows, copied from the full weight", edits=A_VIEW),
        Clause(
            "``[out / t]``, copied too",
            edits=(
                (
                    "None if bias is None else _parameter(_own_block",
                    "None if bias is None else nn.Parameter(_own_block",
                ),
            ),
        ),
    ),
    "06-row-parallel-linear": (
        Clause("consecutive columns, copied from the full weight", edits=A_VIEW),
        Clause(
            "a copy of the whole bias",
            edits=(("None if bias is None else _parameter(bias)", "None if bias is None else nn.Parameter(bias)"),),
        ),
        Clause("is added once, afterwards", edits=(("else y + self.bias", "else y + 2 * self.bias"),)),
    ),
    "06-head-partition": (
        Clause(
            "each one is copied to ``ranks / kv_heads`` neighboring ranks",
            edits=(("range(rank // replicas, rank // replicas + 1)", "range(rank % kv_heads, rank % kv_heads + 1)"),),
        ),
        Clause(
            "so a rank holds exactly what its own query heads read",
            edits=(("range(rank // replicas, rank // replicas + 1)", "range(kv_heads)"),),
        ),
        Clause(
            "``replicas`` is 1 if only one rank holds a key-value head",
            edits=(("(rank + 1) * kv_heads // ranks), 1\n", "(rank + 1) * kv_heads // ranks), ranks\n"),),
        ),
    ),
    "06-vocab-parallel-cross-entropy": (
        Clause(
            "Unchanged afterwards.",
            edits=(("shifted = exact - largest[..., None]", "shifted = exact.sub_(largest[..., None])"),),
        ),
        Clause(
            "For logits in half precision the computation runs in float32 and is rounded at the end.",
            edits=(("logits.to(torch.promote_types(logits.dtype, torch.float32))", "logits"),),
        ),
        Clause("of the type of the logits", edits=((", group)).to(logits.dtype)", ", group))"),)),
        Clause(
            "the largest logit",
            edits=(("_reduced(exact.amax(-1), dist.ReduceOp.MAX, group)", "exact.amax(-1) * 0"),),
        ),
    ),
    "06-vocab-parallel-embedding": (
        Clause(
            "Only the rank's own tokens add to the gradient of ``weight``.",
            edits=(
                (
                    "    return reduce_from_ranks("
                    "functional.embedding(local, weight).masked_fill(~own[..., None], 0), ",
                    "    rows = functional.embedding(local, weight)\n"
                    "    leaked = (rows - rows.detach()).masked_fill(own[..., None], 0)\n"
                    "    return reduce_from_ranks(rows.masked_fill(~own[..., None], 0) + leaked, ",
                ),
            ),
        ),
    ),
    "06-debug-embed": (
        Clause("forward only", why="what it is not asked for"),
        Clause(
            "Unchanged afterwards.",
            edits=(("    dist.all_reduce(found)\n", "    dist.all_reduce(found)\n    weight[:] = 0\n"),),
        ),
    ),
    "06-tensor-parallel-traffic": (
        Clause(
            "the two split inputs, of which only slices were stored,",
            edits=(("(2 if sequence_parallel else 0)", "0"),),
        ),
        Clause("one rank sends nothing", edits=(("(ranks - 1) / ranks", "(max(ranks, 2) - 1) / ranks"),)),
    ),
    "06-gather-sequence": (
        Clause(
            "unchanged afterwards",
            edits=(
                (
                    "        return _joined(x, dim, group)\n",
                    "        whole = _joined(x, dim, group)\n        x.zero_()\n        return whole\n",
                ),
            ),
        ),
    ),
    "06-scatter-sequence": (
        Clause(
            "unchanged afterwards",
            edits=(
                (
                    "        return _scattered(x, dim, group)\n",
                    "        part = _scattered(x, dim, group)\n        x.zero_()\n        return part\n",
                ),
            ),
        ),
    ),
    "06-activation-bytes": (
        Clause(
            "with dropout, also divided by the ranks",
            edits=(("(split + matrix) / ranks", "split / ranks + matrix"),),
        ),
        Clause("times e, or times ``2e + k`` with dropout", edits=(("(2 * e + k if dropout else e)", "(2 * e + k)"),)),
        Clause(
            '``"full"`` keeps only the layer\'s input, split like the inputs of the norms',
            edits=(("float(tokens * hidden * e / around)", "float(tokens * hidden * e)"),),
        ),
        Clause(
            '``"full"`` keeps only the layer\'s input',
            edits=(("float(tokens * hidden * e / around)", "float(tokens * hidden * (e + k) / around)"),),
        ),
        Clause("which never stores the matrix", edits=(('attention == "materialised" and recompute', "recompute"),)),
        Clause("None is ``4 hidden``", edits=(("4 * hidden if ffn is None", "3 * hidden if ffn is None"),)),
        Clause(
            "Real division: a share need not be whole",
            edits=(("+ (split + matrix) / ranks", "+ (split + matrix) // ranks"),),
        ),
    ),
    "06-best-segment": (
        Clause(
            "the fewest of several that are equally good",
            edits=(("min(peaks)", "min(peaks, key=lambda pair: (pair[0], -pair[1]))"),),
        ),
    ),
}
