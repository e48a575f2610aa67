"""Chapter 3: programs that break what its docstrings promise."""

from __future__ import annotations

from tools.clauses import Clause

#: What is empty is sent like everything else.
EMPTY = (
    ("    if outgoing.numel():", "    if outgoing is not None:"),
    ("    if arriving.numel():", "    if arriving is not None:"),
)

CLAUSES = {
    "03-collective-outputs": (
        Clause(
            "For ``broadcast`` and ``scatter`` only ``inputs[root]`` counts",
            (("[list(values or ()) for values in read]", "[list(values or ()) for values in inputs]"),),
        ),
        Clause(
            "None where the library promises nothing",
            (("result if rank == root else None for rank", "result if rank == root else lists[rank] for rank"),),
        ),
    ),
    "03-ring-reduce-scatter": (
        Clause(
            "Only messages are used.", (("    return chunks[rank]", "    dist.barrier()\n    return chunks[rank]"),)
        ),
        Clause("empty chunks are not sent.", EMPTY),
        Clause(
            "unchanged afterwards.",
            (("[chunk.clone() for chunk in x.tensor_split(ranks)]", "list(x.tensor_split(ranks))"),),
        ),
        Clause(
            "Chunk r of the sum, a new tensor even with one rank.",
            (("    return chunks[rank]", "    return chunks[rank] if ranks > 1 else x"),),
        ),
    ),
    "03-ring-all-gather": (
        Clause(
            "Only messages are used.",
            (("    return torch.cat(parts)", "    dist.barrier()\n    return torch.cat(parts)"),),
        ),
        Clause("empty parts are not sent.", EMPTY),
        Clause(
            "unchanged afterwards.", (("    return torch.cat(parts)", "    x.zero_()\n    return torch.cat(parts)"),)
        ),
        Clause(
            "1-D of ``sum(sizes)`` elements, a new tensor.",
            (("    return torch.cat(parts)", "    return torch.cat(parts) if ranks > 1 else x"),),
        ),
    ),
    "03-ring-all-reduce": (
        Clause(
            "unchanged afterwards.",
            (
                ("    return ring_all_gather(", "    return x.copy_(ring_all_gather("),
                (".reshape(x.shape)\n", ".reshape(x.shape)).clone()\n"),
            ),
        ),
        Clause(
            "of the shape of ``x``, a new tensor.",
            (
                (
                    "    flat = x.flatten()",
                    "    if dist.get_world_size() == 1:\n        return x\n    flat = x.flatten()",
                ),
            ),
        ),
        Clause(
            "All ranks end with the same bits.",
            edits=(
                (
                    "    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)",
                    (
                        "    total, passing = x.clone(), x.clone()\n"
                        "    for _ in sizes[1:]:\n"
                        "        arrived = torch.empty_like(x)\n"
                        "        _pass_right(passing, arrived)\n"
                        "        total, passing = total + arrived, arrived\n"
                        "    return total"
                    ),
                ),
            ),
        ),
    ),
    "03-traffic": (
        Clause("One rank alone moves nothing.", (("steps_after_root != 1 % ranks", "steps_after_root != 1"),)),
        Clause("Broadcast is a chain root, root+1, ...", (("steps_after_root < ranks - 1", "rank < ranks - 1"),)),
    ),
    "03-ring-all-reduce-time": (
        Clause("each of ``ranks - 1`` steps", (("2 * (ranks - 1) * (latency", "2 * ranks * (ranks > 1) * (latency"),)),
    ),
    "03-all-to-all": (
        Clause(
            "Only messages are used",
            (("    _swap(blocks, arriving)", "    dist.barrier()\n    _swap(blocks, arriving)"),),
        ),
        Clause(
            "a rank's own block does not travel", edits=(("for step in range(1, ranks):", "for step in range(ranks):"),)
        ),
        Clause(
            "and neither do empty blocks",
            (
                ("        if outgoing[right].numel():", "        if outgoing:"),
                ("        if arriving[left].numel():", "        if arriving:"),
            ),
        ),
        Clause("unchanged afterwards.", (("    return arriving", "    blocks[rank].zero_()\n    return arriving"),)),
        Clause(
            "One 1-D tensor per rank, new tensors.",
            (("    return arriving", "    arriving[rank] = blocks[rank]\n    return arriving"),),
        ),
    ),
    "03-distributed-mean": (
        Clause("unchanged afterwards.", (("    return total / count", "    x.zero_()\n    return total / count"),)),
    ),
    "03-distributed-argmax": (
        Clause(
            "Each rank sends only its candidate.",
            (
                ("torch.tensor([x[index], index]", "torch.tensor([x[index], index, *[0.0] * 40]"),
                ("torch.tensor([0.0, -1.0]", "torch.tensor([0.0, -1.0, *[0.0] * 40]"),
            ),
        ),
        Clause("without nan", why="no rank is handed nan: it says what the caller sees to"),
        Clause("may be empty on some ranks.", (("    if x.numel():", "    if x is not None:"),)),
        Clause("Unchanged afterwards.", (("    return max(candidates", "    x.zero_()\n    return max(candidates"),)),
    ),
    "03-distributed-softmax": (
        Clause("may be empty.", (("x.max() if x.numel() else x.new_tensor(-torch.inf)", "x.max()"),)),
        Clause("Unchanged afterwards.", (("(x - largest).exp()", "x.sub_(largest).exp()"),)),
    ),
}
