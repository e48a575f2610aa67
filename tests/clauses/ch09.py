"""What the docstrings of chapter 9 announce and promise."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "09-cached-attention": (
        Clause("Causal attention of T new tokens", edits=((".tril(past)", ".tril(past + new)"),)),
        Clause(
            "it sees the cached tokens, itself and the new tokens before it.",
            edits=((".tril(past)", ".tril(past - 1)"),),
        ),
        Clause("New token i is at position P + i", edits=((".tril(past)", ".tril()"),)),
        Clause("Args: query, key, value: of the new tokens", why="what it is called with"),
        Clause("divided by the square root of d", edits=((" / math.sqrt(query.shape[-1])", " / query.shape[-1]"),)),
        Clause(
            "the keys and values of all tokens", edits=(("@ values, keys, values", "@ values, keys[:, past:], values"),)
        ),
    ),
    "09-kv-bytes-per-token": (
        Clause(
            "with more ranks than heads, heads are copied.",
            edits=(("max(1, kv_heads // tensor_parallel)", "kv_heads / tensor_parallel"),),
        ),
        Clause(
            "Tensor parallelism splits the key-value heads until each rank has one",
            edits=(("max(1, kv_heads // tensor_parallel)", "kv_heads"),),
        ),
    ),
    "09-mla-bytes-per-token": (
        Clause("a short key that carries the rotary position", edits=(("(latent_dim + rope_dim)", "latent_dim"),)),
        Clause(
            "One latent vector replaces the keys and the values",
            edits=(("(latent_dim + rope_dim)", "(2 * latent_dim + rope_dim)"),),
        ),
    ),
    "09-kv-capacity-tokens": (
        Clause(
            "never below 0",
            edits=(("max(0, math.floor(room / kv_bytes_per_token))", "math.floor(room / kv_bytes_per_token)"),),
        ),
        Clause(
            "bytes of each GPU for activations", edits=(("usable - overhead_per_gpu)", "usable) - overhead_per_gpu"),)
        ),
        Clause("of the whole model", edits=((" - weight_bytes\n", " - gpus * weight_bytes\n"),)),
    ),
    "09-max-concurrent-requests": (
        Clause(
            "of which only whole blocks count",
            edits=(("(capacity_tokens // block_size)", "-(-capacity_tokens // block_size)"),),
        ),
        Clause("when each takes whole blocks", edits=(("// -(-context // block_size)", "* block_size // context"),)),
    ),
    "09-paged-waste": (
        Clause(
            "The token slots that sequences leave empty in their last blocks.",
            edits=(
                (
                    "sum(-(-length // block_size) * block_size for length in lengths)",
                    "-(-sum(lengths) // block_size) * block_size",
                ),
            ),
        ),
        Clause(
            "their share of the slots of all blocks taken",
            edits=(("wasted / taken if taken", "wasted / (taken - wasted) if taken"),),
        ),
        Clause(
            "A sequence of 0 tokens takes no block.",
            edits=(("-(-length // block_size)", "-(-length // block_size or -1)"),),
        ),
        Clause("``(0, 0.0)`` where no block is taken", edits=(("if taken else 0.0", "if taken else 1.0"),)),
    ),
    "09-paged-attention": (
        Clause(
            "Attention of one new token to a sequence whose keys and values lie in blocks of a pool.",
            edits=(("pool[list(table)]", "pool[sorted(table)]"),),
        ),
        Clause(
            "Whatever else lies in the pool, NaN too, must not reach the output.",
            edits=(
                ("flatten(0, 1)[:length]", "flatten(0, 1)"),
                ("    return (scores", "    scores[:, length:] = -torch.inf\n    return (scores"),
            ),
        ),
        Clause("Args: query: of the new token, [heads, d].", why="what it is called with"),
        Clause(
            "length: tokens of the sequence, the new one included: it sees them all.",
            edits=(("flatten(0, 1)[:length]", "flatten(0, 1)[: max(1, length - 1)]"),),
        ),
        Clause(
            "Query head h uses key-value head",
            edits=(
                (
                    "held.repeat_interleave(shared, dim=1)",
                    "held.repeat(1, shared, 1)",
                ),
            ),
        ),
        Clause("divided by the square root of d", edits=((" / math.sqrt(width)", ""),)),
    ),
    "09-block-manager": (
        Clause(
            "blocks are taken from its head and come back to its tail",
            edits=(("self._free.append(block)", "self._free.appendleft(block)"),),
        ),
        Clause(
            "A call that raises changes nothing.",
            edits=(
                (
                    "        self._need_free(copied + more)\n"
                    "        copies = [self._replace_last(table)] if copied else []\n",
                    "        self._need_free(copied)\n        copies = [self._replace_last(table)] if copied else []\n"
                    "        self._need_free(more)\n",
                ),
            ),
        ),
        Clause(
            "A call that raises changes nothing.",
            edits=(
                (
                    "        self._need_free(self._blocks(tokens))\n",
                    "        self._lengths[sequence], self._tables[sequence] = 0, []\n"
                    "        self._need_free(self._blocks(tokens))\n",
                ),
            ),
        ),
        *(
            Clause("Tables are handed out as new lists", edits=(edit,))
            for edit in (
                ("        return list(self._tables[sequence])", "        return self._tables[sequence]"),
                ("        return self.table(sequence)", "        return self._tables[sequence]"),
                ("        return list(shared)", "        return shared"),
            )
        ),
        Clause(
            "Whether the free blocks could hold a new sequence",
            edits=(("self._blocks(tokens) <= len(self._free)", "self._blocks(tokens) < len(self._free)"),),
        ),
        Clause(
            "Give a new sequence the blocks for",
            edits=(("= tokens, self._take(self._blocks(tokens))", "= tokens, self._take(self._blocks(tokens + 1))"),),
        ),
        Clause(
            "Blocks are taken only where the last one does not suffice.",
            edits=(("more = self._blocks(length + tokens)", "more = self._blocks(length + tokens + 1)"),),
        ),
        Clause(
            "not be written: then the first block that is taken replaces it in this table, and its tokens are to be "
            "copied.",
            edits=(
                (
                    "        copies = [self._replace_last(table)] if copied else []\n"
                    "        table += self._take(more)\n",
                    "        taken = self._take(more)\n"
                    "        copies = [self._replace_last(table)] if copied else []\n        table += taken\n",
                ),
            ),
        ),
        Clause(
            "A last block that is partly filled and shared must",
            edits=(("copied = tokens > 0 and", "copied = False and"),),
        ),
        Clause(
            "A last block that is partly filled and shared must",
            edits=(("length % self._block_size > 0", "length > 0"),),
        ),
        Clause(
            "Returns: ``[(source, destination)]``, the block to copy before the tokens are written, or ``[]``.",
            edits=(("return shared, own", "return own, shared"),),
        ),
        Clause(
            "Make a new sequence of the first",
            edits=(("table[: self._blocks(tokens)]", "table[: tokens // self._block_size]"),),
        ),
        Clause(
            "child: a new one.",
            edits=(
                (
                    "        self._refuse_known(child)\n",
                    "",
                ),
            ),
        ),
        Clause("None takes them all", edits=(("length if tokens is None", "0 if tokens is None"),)),
        Clause(
            "its blocks lose one reference each, from the last to the first",
            edits=(("for block in reversed(table):", "for block in table:"),),
        ),
        Clause(
            "A block that is left with none joins the tail of the queue at once.",
            edits=(("if self._counts[block] == 0:", "if self._counts[block] <= 1:"),),
        ),
    ),
    "09-debug-free": (
        Clause("from the last to the first", edits=(("reversed(tables[sequence])", "tables[sequence]"),)),
        Clause(
            "that is left with none joins the tail of the queue",
            edits=(("free.append(block)", "free.insert(0, block)"),),
        ),
    ),
    "09-prefix-sharing-saving": (
        Clause("Only whole blocks are shared", edits=(("prefix // block_size * block_size\n", "prefix\n"),)),
        Clause("0.0 where there are no tokens at all", edits=(("if alone else 0.0", "if alone else 1.0"),)),
        Clause(
            "each request takes blocks for the rest",
            edits=(("(prefix + unique - shared)", "unique"),),
        ),
    ),
    "09-radix-cache": (
        Clause(
            "Sequences are cut to whole pages of ``page_size`` tokens, and edges part only between pages.",
            edits=(("return place // self._page_size * self._page_size", "return place"),),
        ),
        Clause(
            "Sequences are cut to whole pages of ``page_size`` tokens",
            edits=(("return len(tokens) // self._page_size * self._page_size", "return len(tokens)"),),
        ),
        Clause(
            "A clock ticks once in each :meth:`match`, :meth:`insert` and :meth:`lock`",
            edits=(("        self._clock += 1\n", ""),),
        ),
        Clause(
            "every node on the path that is walked gets that time, also one that is matched only in part.",
            edits=(
                (
                    "            child.touched = self._clock\n"
                    "            shared = self._shared(child.tokens, tokens[start:stop])\n",
                    "            shared = self._shared(child.tokens, tokens[start:stop])\n"
                    "            child.touched = self._clock if shared == len(child.tokens) else child.touched\n",
                ),
            ),
        ),
        Clause(
            "both halves keep its time and its locks", edits=(("= node.touched, node.locks\n", "= node.touched, 0\n"),)
        ),
        Clause(
            "both halves keep its time and its locks", edits=(("= node.touched, node.locks\n", "= 0, node.locks\n"),)
        ),
        Clause(
            "what is not cached yet becomes one new leaf.",
            edits=(
                (
                    "            leaf = self._new_node(tokens[length:stop], slots[length:stop], node)\n"
                    "            leaf.touched = self._clock\n",
                    "            for at in range(length, stop, self._page_size):\n"
                    "                end = at + self._page_size\n"
                    "                node = self._new_node(tokens[at:end], slots[at:end], node)\n"
                    "                node.touched = self._clock\n",
                ),
            ),
        ),
        Clause(
            "How many of the tokens were cached already.",
            edits=(
                (
                    "self._evictable += stop - length\n        return length",
                    "self._evictable += stop - length\n        return stop - length",
                ),
            ),
        ),
        Clause(
            "no node from its end up to the root is evicted",
            edits=(("return not node.children and node.locks == 0", "return not node.children"),),
        ),
        Clause(
            "A leaf goes as a whole", edits=(("freed += leaf.slots\n", "freed += leaf.slots[: count - len(freed)]\n"),)
        ),
        Clause(
            "the one that was touched longest ago goes first",
            edits=(("return node.touched, node.number, node", "return -node.touched, node.number, node"),),
        ),
        Clause(
            "and of those of the same time the one that was created first",
            edits=(("return node.touched, node.number, node", "return node.touched, -node.number, node"),),
        ),
        Clause(
            "A parent whose last child went is a leaf from then on.",
            edits=(("if parent is not self._root and _can_go(parent):", "if False:"),),
        ),
        Clause(
            "children in the order of their tokens",
            edits=(
                ("children = sorted(node.children.items(), reverse=True)", "children = list(node.children.items())"),
            ),
        ),
    ),
    "09-quantize-kv": (
        Clause(
            "are divided by it and rounded to the nearest integer (ties to even).",
            edits=(("(x / scale).round()", "(x / scale + 0.5).floor()"),),
        ),
        Clause(
            "are divided by it and rounded to the nearest integer (ties to even).",
            edits=(("(x / scale).round()", "(x.sign() * (x.abs() / scale + 0.5).floor())"),),
        ),
        Clause(
            "or 1 for a vector of zeros",
            edits=(("torch.ones_like(scale), scale)", "torch.zeros_like(scale) + 2, scale)"),),
        ),
        Clause(
            "one scale for each vector along the last dimension",
            edits=(("amax(dim=-1, keepdim=True)", "amax().expand(*x.shape[:-1], 1)"),),
        ),
        Clause(
            "the scales [..., 1] of x's type", edits=((".to(torch.int8), scale", ".to(torch.int8), scale.double()"),)
        ),
    ),
    "09-dequantize-kv": (
        Clause(
            "of the type of ``scale``",
            edits=(("return q.to(scale.dtype) * scale", "return (q.to(scale.dtype) * scale).float()"),),
        ),
    ),
    "09-debug-units": (
        Clause(
            "rounded down",
            edits=(("return int(free / (kv_bytes * context))", "return round(free / (kv_bytes * context))"),),
        ),
        Clause(
            "0 where the weights take all memory", edits=(("max(0.0, gpu_gb - weights_gb)", "(gpu_gb - weights_gb)"),)
        ),
    ),
}
