"""Wrong orders of work for ``pipeline_schedule``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations


def slip_neighbouring_chunks(name, ranks, microbatches, virtual_stages=1):
    if name not in ("gpipe", "1f1b", "interleaved", "zb-h1"):
        raise ValueError("name")
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if (name == "interleaved") != (virtual_stages > 1) or (name == "interleaved" and microbatches % ranks):
        raise ValueError("chunks")
    p, m, v = ranks, microbatches, virtual_stages
    orders = []
    for r in range(p):
        if name == "zb-h1":
            warm = min(m, p - 1 - r)
            order, owed = [f"{r}F{i}" for i in range(warm)], []
            for i in range(m):
                order += [f"{r}F{warm + i}"] if warm + i < m else []
                order.append(f"{r}I{i}")
                owed.append(f"{r}W{i}")
                if warm + i >= m or len(owed) > r:
                    order.append(owed.pop(0))
            orders.append(order + owed)
            continue
        if name == "gpipe":
            orders.append([f"{r}{kind}{i}" for kind in "FB" for i in range(m)])
            continue
        forwards = [f"{r * v + c}F{i}" for i in range(m) for c in range(v)]
        backwards = [f"{r * v + c}B{i}" for i in range(m) for c in reversed(range(v))]
        warm = v * min(m, p - 1 - r)
        order = forwards[:warm]
        for i in range(m):
            at = warm + i * v
            order += forwards[at : at + v] + backwards[i * v : i * v + v]
        orders.append(order)
    return orders


def slip_any_shape(name, ranks, microbatches, virtual_stages=1):
    p, m, v = int(ranks), int(microbatches), int(virtual_stages)
    orders = []
    for r in range(p):
        if name == "zb-h1":
            warm = min(m, p - 1 - r)
            order, owed = [f"{r}F{i}" for i in range(warm)], []
            for i in range(m):
                order += [f"{r}F{warm + i}"] if warm + i < m else []
                order.append(f"{r}I{i}")
                owed.append(f"{r}W{i}")
                if warm + i >= m or len(owed) > r:
                    order.append(owed.pop(0))
            orders.append(order + owed)
            continue
        turns = [(k % (p * v) // p, k // (p * v) * p + k % p) for k in range(m * v)]
        many = name == "interleaved"
        forwards = [f"{r + c * p}F{i}" for c, i in turns] if many else [f"{r}F{i}" for i in range(m)]
        backwards = [f"{r + (v - 1 - c) * p}B{i}" for c, i in turns] if many else [f"{r}B{i}" for i in range(m)]
        warm = m if name == "gpipe" else min(len(forwards), 2 * (p - 1 - r) + (v - 1) * p if many else p - 1 - r)
        order = forwards[:warm]
        for k, backward in enumerate(backwards):
            order += forwards[warm + k : warm + k + 1]
            order.append(backward)
        orders.append(order)
    return orders
