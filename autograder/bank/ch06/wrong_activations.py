"""Chapter 6: what a layer stores, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_stores_split_input(
    sequence,
    batch,
    hidden,
    heads,
    ffn=None,
    kv_heads=None,
    ranks=1,
    sequence_parallel=False,
    recompute="none",
    attention="materialised",
    gated=False,
    dropout=True,
    element_bytes=2,
    mask_bytes=1,
):
    ffn, kv_heads = 4 * hidden if ffn is None else ffn, heads if kv_heads is None else kv_heads
    if min(sequence, batch) < 0 or ranks < 1 or hidden % heads or kv_heads < 1 or heads % kv_heads:
        raise ValueError("out of range")
    if recompute not in ("none", "selective", "full") or attention not in ("materialised", "flash"):
        raise ValueError("unknown option")
    if min(element_bytes, mask_bytes, ffn) < 0:
        raise ValueError("negative size")
    tokens, e, k = sequence * batch, element_bytes, mask_bytes if dropout else 0
    if recompute == "full":
        return tokens * hidden * e / ranks
    split = tokens * (hidden * (2 * e + 2 * e * kv_heads / heads) + ffn * e * (4 if gated else 2))
    stored = attention == "materialised" and recompute == "none"
    matrix = stored * heads * sequence * tokens * (2 * e + k if dropout else e)
    return tokens * hidden * (4 * e + 2 * k) / (ranks if sequence_parallel else 1) + (split + matrix) / ranks


def slip_stores_unchecked(
    sequence,
    batch,
    hidden,
    heads,
    ffn=None,
    kv_heads=None,
    ranks=1,
    sequence_parallel=False,
    recompute="none",
    attention="materialised",
    gated=False,
    dropout=True,
    element_bytes=2,
    mask_bytes=1,
):
    ffn, kv_heads = 4 * hidden if ffn is None else ffn, heads if kv_heads is None else kv_heads
    tokens, e, k = sequence * batch, element_bytes, mask_bytes if dropout else 0
    around = ranks if sequence_parallel else 1
    if recompute == "full":
        return tokens * hidden * e / max(1, around)
    split = tokens * (hidden * (2 * e + 2 * e * kv_heads / max(1, heads)) + ffn * e * (4 if gated else 2))
    stored = attention == "materialised" and recompute == "none"
    matrix = stored * heads * sequence * tokens * (2 * e + k if dropout else e)
    return tokens * hidden * (4 * e + 2 * k) / max(1, around) + (split + matrix) / max(1, ranks)


ACTIVATION_BYTES = (
    Slip(
        "8 s b h leaves out the masks, the MLP and the attention matrix, and knows no option.",
        edit=('if recompute == "full":', ('return 8.0 * tokens * hidden\n    if recompute == "full":')),
    ),
    Slip(
        "Without sequence parallelism norms and residuals stay whole on every rank: not everything is divided.",
        edit=("around = ranks if sequence_parallel else 1", "around = ranks"),
    ),
    Slip(
        "Flash attention never stores the attention matrix.",
        edit=('attention == "materialised" and recompute == "none"', 'recompute == "none"'),
    ),
    Slip("The input of a layer is whole on every rank without sequence parallelism.", slip_stores_split_input),
    Slip(
        "Activations grow with batch and sequence: they are no multiple of the weights.",
        edit=(
            'if recompute == "full":',
            'return 10 * 12.0 * hidden * hidden * e / ranks\n    if recompute == "full":',
        ),
    ),
    Slip(
        "Every head has an attention matrix of its own.",
        edit=("split + matrix", "split + stored * sequence * tokens * (2 * e + k if dropout else e)"),
    ),
    Slip(
        "A gated MLP keeps four inner tensors: gate, up, the activated gate and the product.",
        edit=("4 if gated else 2", "2"),
    ),
    Slip(
        "That is GiB: return bytes.",
        edits=(
            ("tokens * hidden * e / around", "tokens * hidden * e / around / 2**30"),
            (
                "replicated / around + (split + matrix) / ranks",
                "(tokens * hidden * (4 * e + 2 * k) / around + (split + matrix) / ranks) / 2**30",
            ),
        ),
    ),
    Slip("No argument is checked: one that is outside its range has to raise ValueError.", slip_stores_unchecked),
)
