"""Further right programs for the items of chapter 6."""

from __future__ import annotations

from tools.luck import Right

RIGHT = {
    "06-parallel-attention": (
        Right(
            "softmax written out",
            edits=(
                (
                    """    y = functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )  # [batch, own heads, sequence, d]
""",
                    """    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) / width**0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    y = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
""",
                ),
            ),
        ),
        Right(
            "queries scaled first, exponentials normalised last",
            edits=(
                (
                    """    y = functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )  # [batch, own heads, sequence, d]
""",
                    """    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = torch.einsum("bhqd,bhkd->bhqk", q * width**-0.5, k)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    scores = scores.masked_fill(later, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    y = (weights @ v) / weights.sum(-1, keepdim=True)
""",
                ),
            ),
        ),
    ),
    "06-copy-to-ranks": (
        Right(
            "halves, added up and doubled",
            edits=(
                (
                    "        return _sum(gradient, ctx.group), None\n",
                    "        parts = _sum(gradient * 0.5, ctx.group)\n        return parts + parts, None\n",
                ),
            ),
        ),
        Right(
            "a hook on a copy",
            edits=(
                (
                    "    return _Copy.apply(x, group)\n",
                    "    y = x.clone()\n    if y.requires_grad:\n"
                    "        y.register_hook(lambda gradient: _sum(gradient, group))\n    return y\n",
                ),
            ),
        ),
    ),
    "06-reduce-from-ranks": (
        Right(
            "halves, added up and doubled",
            edits=(("        return _sum(x, group)\n", "        return _sum(x * 0.5, group) * 2\n"),),
        ),
        Right(
            "the sum as a constant next to x",
            edits=(
                (
                    "    return _Reduce.apply(x, group)\n",
                    "    return x.clone() + (_sum(x.detach(), group) - x.detach())\n",
                ),
            ),
        ),
    ),
    "06-debug-g": (
        Right(
            "the sum as a constant next to x",
            edits=(
                (
                    "    return Sum.apply(x)\n",
                    "    y = x.detach().clone()\n    dist.all_reduce(y)\n    return x + (y - x.detach())\n",
                ),
            ),
        ),
        Right(
            "halves",
            edits=(
                ("            y = x.clone()\n", "            y = x / 2\n"),
                ("            return y\n", "            return y * 2\n"),
            ),
        ),
    ),
    "06-column-parallel-linear": (
        Right(
            "a product and a sum of its own",
            edits=(
                (
                    "        y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)\n",
                    "        y = copy_to_ranks(x, self.group) @ self.weight.t()\n"
                    "        y = y if self.bias is None else y + self.bias\n",
                ),
            ),
        ),
        Right(
            "einsum, input features from the last",
            edits=(
                (
                    "        y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)\n",
                    "        x, weight = copy_to_ranks(x, self.group).flip(-1), self.weight.flip(-1)\n"
                    "        y = torch.einsum('...i,oi->...o', x, weight)\n"
                    "        y = y if self.bias is None else self.bias + y\n",
                ),
            ),
        ),
    ),
    "06-row-parallel-linear": (
        Right(
            "a product",
            edits=(("functional.linear(x, self.weight), self.group)", "x @ self.weight.t(), self.group)"),),
        ),
        Right(
            "einsum, input features from the last",
            edits=(
                (
                    "functional.linear(x, self.weight), self.group)",
                    "torch.einsum('...i,oi->...o', x.flip(-1), self.weight.flip(-1)), self.group)",
                ),
                ("else y + self.bias", "else self.bias + y"),
            ),
        ),
    ),
    "06-parallel-mlp": (
        Right(
            "GELU written out",
            edits=(
                (
                    "    inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))",
                    "    z = copy_to_ranks(x, group) @ rows.t() + bias\n"
                    "    inner = z * (1 + torch.erf(z / 2**0.5)) / 2",
                ),
            ),
        ),
        Right(
            "the normal distribution function",
            edits=(
                (
                    "    inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))",
                    "    z = functional.linear(copy_to_ranks(x, group), rows, bias)\n"
                    "    inner = z * torch.special.ndtr(z)",
                ),
            ),
        ),
    ),
    "06-vocab-parallel-cross-entropy": (
        Right(
            "logarithms of each rank's sum",
            edits=(
                (
                    "        exponentials = shifted.exp()\n"
                    "        total = _reduced(exponentials.sum(-1), dist.ReduceOp.SUM, group)\n",
                    "        exponentials = shifted.exp()\n"
                    "        total = _reduced(torch.logsumexp(shifted, -1).exp(), dist.ReduceOp.SUM, group)\n",
                ),
                ("exponentials / total[..., None], local", "(shifted - total.log()[..., None]).exp(), local"),
            ),
        ),
        Right(
            "in double precision, the loss as the logarithm of a quotient",
            edits=(
                ("torch.promote_types(logits.dtype, torch.float32)", "torch.float64"),
                (
                    "(total.log() - _reduced(mine, dist.ReduceOp.SUM, group))",
                    "-(_reduced(mine, dist.ReduceOp.SUM, group) - total.log())",
                ),
            ),
        ),
    ),
    "06-vocab-parallel-embedding": (
        Right(
            "multiplied by the mask",
            edits=(
                (
                    "functional.embedding(local, weight).masked_fill(~own[..., None], 0)",
                    "weight[local] * own[..., None].to(weight.dtype)",
                ),
            ),
        ),
        Right(
            "a product with a one-hot matrix",
            edits=(
                (
                    "functional.embedding(local, weight).masked_fill(~own[..., None], 0)",
                    "(functional.one_hot(local, weight.shape[0]) * own[..., None]).to(weight.dtype) @ weight",
                ),
            ),
        ),
    ),
    "06-debug-embed": (
        Right(
            "multiplied by the mask",
            edits=(("masked_fill(~own[..., None], 0)", "mul(own[..., None].to(weight.dtype))"),),
        ),
        Right(
            "written into zeros",
            edits=(
                (
                    "    found = weight[local.clamp(0, rows - 1)].masked_fill(~own[..., None], 0)\n",
                    "    found = weight.new_zeros(*ids.shape, weight.shape[1])\n    found[own] = weight[local[own]]\n",
                ),
            ),
        ),
    ),
    "06-gather-sequence": (
        Right(
            "parts written into the whole",
            edits=(
                (
                    "    return torch.cat(parts, dim)\n",
                    "    whole = torch.stack(parts)\n    return torch.cat(tuple(whole.unbind()), dim).clone()\n",
                ),
            ),
        ),
        Right(
            "halves on the way back",
            edits=(
                (
                    "        return _scattered(gradient, ctx.dim, ctx.group), None, None\n",
                    "        return _scattered(gradient / 2, ctx.dim, ctx.group) * 2, None, None\n",
                ),
            ),
        ),
    ),
    "06-scatter-sequence": (
        Right(
            "halves",
            edits=(
                (
                    "        return _scattered(x, dim, group)\n",
                    "        return _scattered(x * 0.5, dim, group) * 2\n",
                ),
            ),
        ),
        Right(
            "narrowed parts",
            edits=(
                (
                    "    parts = [part.contiguous() for part in x.chunk(ranks, dim)]\n",
                    "    size = x.shape[dim] // ranks\n"
                    "    parts = [x.narrow(dim, part * size, size).clone() for part in range(ranks)]\n"
                    "    parts = [part.contiguous() for part in parts]\n",
                ),
            ),
        ),
    ),
    "06-tensor-parallel-traffic": (
        Right(
            "collective by collective",
            edits=(
                (
                    "    return float(shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes)\n",
                    "    share = sequence * batch * hidden * element_bytes / ranks\n"
                    "    return float(sum([share * (ranks - 1)] * shares))\n",
                ),
            ),
        ),
        Right(
            "one share less",
            edits=(("shares * (ranks - 1) / ranks * sequence", "(1 - 1 / ranks) * shares * sequence"),),
        ),
    ),
    "06-debug-traffic": (
        Right(
            "one share less",
            edits=(("4 * 2 * (ranks - 1) / ranks * tensor", "8 * tensor * (1 - 1 / ranks)"),),
        ),
        Right(
            "a share, as often as it is sent",
            edits=(("4 * 2 * (ranks - 1) / ranks * tensor", "tensor / ranks * (ranks - 1) * 8"),),
        ),
    ),
    "06-activation-bytes": (
        Right(
            "every part divided",
            edits=(
                (
                    "float(replicated / around + (split + matrix) / ranks)",
                    "float(matrix / ranks + split / ranks + replicated / around)",
                ),
            ),
        ),
        Right(
            "bytes of a token, times the tokens",
            edits=(
                ("    replicated = tokens * hidden * (4 * e + 2 * k)\n", "    replicated = hidden * (k + e + e) * 2\n"),
                (
                    "tokens * (hidden * (2 * e + 2 * e * kv_heads / heads) + ffn * e * (4 if gated else 2))",
                    "2 * e * (hidden + kv_heads * (hidden / heads) + ffn * (2 if gated else 1))",
                ),
                ("heads * sequence * tokens * (2", "heads * sequence * (2"),
                (
                    "float(replicated / around + (split + matrix) / ranks)",
                    "float((replicated / around + (split + matrix) / ranks) * tokens)",
                ),
            ),
        ),
    ),
    "06-best-segment": (
        Right(
            "a loop that keeps the best",
            edits=(
                (
                    "    peak, segment = min(peaks)\n",
                    "    peak, segment = float('inf'), 0\n    for found, k in peaks:\n"
                    "        if found < peak:\n            peak, segment = found, k\n",
                ),
            ),
        ),
        Right(
            "the layers first",
            edits=(
                (
                    "(-(-layers // k) * checkpoint_bytes + k * layer_bytes, k)",
                    "(layer_bytes * k + checkpoint_bytes * ((layers + k - 1) // k), k)",
                ),
            ),
        ),
    ),
    "06-merge-partials": (
        Right(
            "sums by their logarithms",
            edits=(
                (
                    "total = one[1] * first + other[1] * second",
                    "both = torch.logaddexp(one[0] + one[1].log(), other[0] + other[1].log())\n"
                    "    total = (both - largest).exp()",
                ),
            ),
        ),
        Right(
            "stacked and summed",
            edits=(
                ("torch.maximum(one[0], other[0])", "torch.stack([one[0], other[0]]).amax(0)"),
                (
                    "return largest, total, one[2] * first[..., None] + other[2] * second[..., None]",
                    "scales = torch.stack([first, second])[..., None]\n"
                    "    return largest, total, (torch.stack([one[2], other[2]]) * scales).sum(0)",
                ),
            ),
        ),
    ),
    "06-ring-attention": (
        Right(
            "the ring turns the other way",
            edits=(
                ("ring_shift(k), ring_shift(v)", "ring_shift(k, -1), ring_shift(v, -1)"),
                ("if rank >= step:", "if rank + step >= ranks:"),
            ),
        ),
        Right(
            "all earlier keys at once",
            edits=(
                (
                    "    result = partial_attention(q, k, v, later)\n",
                    "    result = partial_attention(q, k, v, later)\n    keys, values = [], []\n",
                ),
                (
                    "            result = merge_partials(result, partial_attention(q, k, v))\n",
                    "            keys.append(k)\n            values.append(v)\n",
                ),
                (
                    "    _, total, weighted = result\n",
                    "    if keys:\n"
                    "        block = partial_attention(q, torch.cat(keys, -2), torch.cat(values, -2))\n"
                    "        result = merge_partials(block, result)\n"
                    "    _, total, weighted = result\n",
                ),
            ),
        ),
    ),
}
