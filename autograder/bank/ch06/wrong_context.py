"""Chapter 6: partial attention merged and passed around a ring, as people get it wrong."""

from __future__ import annotations

from autograder.items import Slip

_SCALED = "first, second = (one[0] - largest).exp(), (other[0] - largest).exp()  # at most 1"

MERGES = (
    Slip(
        "Sums and values were added as they are: they were formed with different maxima.",
        edit=(_SCALED, "first = second = torch.ones_like(largest)"),
    ),
    Slip(
        "The exponentials were taken without subtracting the common maximum: they overflow.",
        edit=(_SCALED, "first, second = one[0].exp(), other[0].exp()"),
    ),
    Slip(
        "The weighted values were divided by the sum: return them as they are, so that a third block can be merged.",
        edit=(
            "return largest, total, one[2] * first[..., None] + other[2] * second[..., None]",
            "return largest, total, (one[2] * first[..., None] + other[2] * second[..., None]) / total[..., None]",
        ),
    ),
    Slip(
        "Only the sums were scaled: the weighted values were formed with the same maxima.",
        edit=("one[2] * first[..., None] + other[2] * second[..., None]", "one[2] + other[2]"),
    ),
    Slip(
        "The maxima were averaged: the larger of the two is the common one.",
        edit=("torch.maximum(one[0], other[0])", "(one[0] + other[0]) / 2"),
    ),
)

RINGS = (
    Slip(
        "The own block was not masked: a query must not see the tokens after it.",
        edit=("partial_attention(q, k, v, later)", "partial_attention(q, k, v)"),
    ),
    Slip(
        "Blocks of later tokens were merged too: attention is causal.",
        edit=("if rank >= step:  # the block of rank - step lies before these queries", "if True:"),
    ),
    Slip(
        "Blocks were taken for those of other ranks: after step s to the right, rank r has the block of rank r - s.",
        edit=("k, v = ring_shift(k), ring_shift(v)", "k, v = ring_shift(k, -1), ring_shift(v, -1)"),
    ),
    Slip(
        "The blocks' results were averaged: each counts as much as its sum of exponentials.",
        edits=(
            (
                "    result = partial_attention(q, k, v, later)\n",
                "    result = partial_attention(q, k, v, later)\n    blocks = [result[2] / result[1][..., None]]\n",
            ),
            (
                "result = merge_partials(result, partial_attention(q, k, v))",
                "_, total, weighted = partial_attention(q, k, v)\n"
                "            blocks.append(weighted / total[..., None])",
            ),
            (
                "    _, total, weighted = result\n    return weighted / total[..., None]",
                "    return torch.stack(blocks).mean(0)",
            ),
        ),
    ),
    Slip(
        "Only the first block that arrived was merged: pass it on, and merge those that follow.",
        edit=("for step in range(1, ranks):", "for step in range(1, min(ranks, 2)):"),
    ),
    Slip(
        "Keys and values were gathered with a collective: in a ring they travel as messages.",
        edit=(
            "k, v = ring_shift(k), ring_shift(v)",
            "parts = [torch.empty_like(q) for _ in range(2 * ranks)]\n"
            "        dist.all_gather(parts[:ranks], k.contiguous())\n"
            "        dist.all_gather(parts[ranks:], v.contiguous())\n"
            "        k, v = parts[(rank - 1) % ranks], parts[ranks + (rank - 1) % ranks]",
        ),
    ),
)
