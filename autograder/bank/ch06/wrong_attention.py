"""Chapter 6: attention split by heads, as people get it wrong."""

from __future__ import annotations

from autograder.items import Slip

PARALLEL_ATTENTION = (
    Slip(
        "The gradients of a copied key-value head were not summed: each rank has the part from its own query heads.",
        edit=(
            "    if replicas > 1:  # the ranks' gradients of a full weight lie in the rows of their heads: f "
            "adds the replicas\n"
            "        wk, wv = copy_to_ranks(wk, group), copy_to_ranks(wv, group)\n",
            "",
        ),
    ),
    Slip(
        "The weights were joined and cut as one matrix: a rank needs its heads from each of the three.",
        edits=(
            ("    q = _projected(x, wq, query, width)", ""),
            (
                "    k, v = (_projected(x, weight, key_value, width) for weight in (wk, wv))",
                "    fused, own = torch.cat([wq, wk, wv]), [len(query), len(key_value), len(key_value)]\n"
                "    first = min(dist.get_rank(group) * sum(own), len(fused) // width - sum(own))\n"
                "    q, k, v = _projected(x, fused, range(first, first + sum(own)), width).split(own, 1)",
            ),
        ),
    ),
    Slip("A token attends to later ones: attention is causal.", edit=("is_causal=True, ", "")),
    Slip(
        "f is missing: each rank's gradient of x holds only what comes from its own heads.",
        edit=("    x = copy_to_ranks(x, group)\n", ""),
    ),
    Slip(
        "x went through f three times: once is enough, before the three projections.",
        edits=(
            ("    x = copy_to_ranks(x, group)\n", ""),
            ("_projected(x, wq,", "_projected(copy_to_ranks(x, group), wq,"),
            ("_projected(x, weight,", "_projected(copy_to_ranks(x, group), weight,"),
        ),
    ),
)
