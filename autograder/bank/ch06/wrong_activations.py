"""Chapter 6: what a layer stores, as people get it wrong."""

from __future__ import annotations

from autograder.items import Slip

ACTIVATION_BYTES = (
    Slip(
        "8 s b h leaves out the masks, the MLP and the attention matrix, and ignores all options.",
        edit=('if recompute == "full":', 'return 8.0 * tokens * hidden\n    if recompute == "full":'),
    ),
    Slip(
        "Without sequence parallelism, norms and residuals stay whole on every rank.",
        edit=("around = ranks if sequence_parallel else 1", "around = ranks"),
    ),
    Slip(
        "Flash attention never stores the attention matrix.",
        edit=('attention == "materialised" and recompute == "none"', 'recompute == "none"'),
    ),
    Slip(
        "Selective recomputation drops the attention matrix: it is not stored.",
        edit=('attention == "materialised" and recompute == "none"', 'attention == "materialised"'),
    ),
    Slip(
        "Selective recomputation drops the attention matrix alone: all else of the layer is stored.",
        edit=('if recompute == "full":', 'if recompute != "none":'),
    ),
    Slip(
        "The input of a layer is whole on every rank without sequence parallelism.",
        edit=("tokens * hidden * e / around", "tokens * hidden * e / ranks"),
    ),
    Slip(
        "Activations grow with batch and sequence: they are not a multiple of the weights.",
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
        "The result is in GiB: return bytes.",
        edits=(
            ("tokens * hidden * e / around", "tokens * hidden * e / around / 2**30"),
            (
                "replicated / around + (split + matrix) / ranks",
                "(tokens * hidden * (4 * e + 2 * k) / around + (split + matrix) / ranks) / 2**30",
            ),
        ),
    ),
)
