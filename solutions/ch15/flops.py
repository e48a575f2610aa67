"""Parameters, floating-point operations and utilization of a training run, from the model's shape. Standard library.

>>> parameter_count(126, 16_384, 128, 8, 128, 53_248, 128_256)
405853388800
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks


def parameter_count(
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    ffn: int,
    vocab: int,
    gated: bool = True,
    tied_embeddings: bool = False,
) -> int:
    """Parameters of a decoder with RMSNorm, no biases and no table of positions.

    A layer has four attention matrices (queries and output are ``heads * head_dim`` wide, keys and values ``kv_heads *
    head_dim``), the matrices of its feed-forward block, and two norms with ``hidden`` weights each. Outside the layers
    there are the embedding, a last norm and the head, which has the embedding's size.

    Args:
        layers: blocks; at least 1.
        hidden: width of the residual stream; at least 1. ``heads * head_dim`` need not be equal to it.
        heads: query heads; at least 1.
        kv_heads: key and value heads; at least 1, and a divisor of ``heads``.
        head_dim: width of one head; at least 1.
        ffn: inner width of the feed-forward block; at least 1.
        vocab: rows of the embedding; at least 1.
        gated: the feed-forward block has three matrices (SwiGLU), otherwise two.
        tied_embeddings: the head is the embedding, counted once.

    Sources: Shazeer (2020), arXiv:2002.05202 (the gate); Ainslie et al. (2023), arXiv:2305.13245 (fewer key and value
    heads). Checked against the counts of released models.
    """
    checks.count(layers=layers, hidden=hidden, ffn=ffn, vocab=vocab)
    checks.count(heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    checks.require(heads % kv_heads == 0, f"divide heads = {heads}", kv_heads=kv_heads)
    attention = 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim
    feed_forward = (3 if gated else 2) * hidden * ffn
    ends = (1 if tied_embeddings else 2) * vocab * hidden + hidden
    return layers * (attention + feed_forward + 2 * hidden) + ends


def training_flops(
    parameters: float,
    phases: Sequence[tuple[float, int]],
    layers: int = 0,
    width: int = 0,
    causal: bool = False,
) -> float:
    """Floating-point operations of a training run whose sequences may grow from phase to phase.

    A token costs 6 FLOP per matrix parameter, and for attention 12 per layer, per unit of width and per position of its
    sequence (forward and backward; the whole square of scores, as the PaLM paper counts it), or half of that with
    ``causal``.

    Args:
        parameters: those in matrices that a token is multiplied by (the head, not the embedding look-up); not
            negative.
        phases: pairs of tokens seen (not negative) and tokens of one sequence (at least 1).
        layers: blocks; not negative, and 0 leaves attention out.
        width: ``heads * head_dim``; not negative.
        causal: count only the half of the attention that a causal model needs.

    Returns:
        FLOP of all phases; 0.0 without phases.

    Sources: Kaplan et al. (2020), arXiv:2001.08361, section 2.1; Chowdhery et al. (2022), arXiv:2204.02311, appendix B.
    """
    checks.amount(parameters=parameters, tokens=[tokens for tokens, _ in phases])
    checks.count(sequence=[sequence for _, sequence in phases])
    checks.count(0, layers=layers, width=width)
    total = 0.0
    for tokens, sequence in phases:
        total += tokens * (6 * parameters + (6 if causal else 12) * layers * width * sequence)
    return total


def utilization(
    tokens_per_second: float, flops_per_token: float, gpus: int, peak: float, recomputed_forward: float = 0.0
) -> tuple[float, float]:
    """Model and hardware FLOPs utilization, MFU and HFU: the share of the peak that a run uses.

    MFU counts the operations that the model needs, HFU also those that are done twice: a forward pass is a third of a
    step, and ``recomputed_forward`` of it is computed again in the backward pass.

    Args:
        tokens_per_second: of the whole job; not negative.
        flops_per_token: forward and backward, nothing recomputed; positive.
        gpus: of the job; at least 1.
        peak: of one GPU, dense, FLOP/s; positive. A data sheet may print the peak with sparsity instead.
        recomputed_forward: share of the forward pass that is computed again, from 0 to 1.

    Returns:
        ``(mfu, hfu)``.

    Sources: Chowdhery et al. (2022), arXiv:2204.02311, section 4.1 (MFU); Korthikanti et al. (2022), arXiv:2205.05198,
    section 6.3 (HFU).
    """
    checks.amount(tokens_per_second=tokens_per_second)
    checks.positive(flops_per_token=flops_per_token, peak=peak)
    checks.count(gpus=gpus)
    checks.between(0, 1, recomputed_forward=recomputed_forward)
    mfu = tokens_per_second * flops_per_token / (gpus * peak)
    return mfu, mfu * (1 + recomputed_forward / 3)
