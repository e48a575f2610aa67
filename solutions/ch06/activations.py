"""What a transformer layer sends under tensor parallelism, where checkpoints belong, and how a vocabulary is padded.

Standard library only. A layer works on a micro-batch of ``batch`` sequences of ``sequence`` tokens.

>>> from rankzero.facts.units import MB
>>> round(tensor_parallel_traffic(4096, 1, 8192, ranks=8) / MB, 3)
469.762
"""

from __future__ import annotations

from rankzero import checks


def tensor_parallel_traffic(
    sequence: int,
    batch: int,
    hidden: int,
    ranks: int,
    element_bytes: float = 2,
    backward: bool = True,
    sequence_parallel: bool = False,
) -> float:
    """Bytes that one rank sends for one transformer layer and one micro-batch under tensor parallelism.

    Two all-reduces forward (attention and MLP) and two backward, each of a whole activation tensor of
    ``sequence * batch * hidden`` elements, ring-optimal. With ``sequence_parallel`` each all-reduce becomes an
    all-gather and a reduce-scatter of the same bytes together; the two split inputs, of which only slices were stored,
    are gathered once more in the backward pass.

    Args:
        sequence: tokens in a sequence; not negative.
        batch: sequences in the micro-batch; not negative.
        hidden: width of the model; at least 1.
        ranks: tensor-parallel ranks; at least 1 (one rank sends nothing).
        element_bytes: bytes of an element; finite, not negative. 2 is bf16.
        backward: count the backward pass too.
        sequence_parallel: norms and residuals are split along the sequence.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3; Korthikanti et al. (2022), arXiv:2205.05198, section 4.
    """
    checks.count(0, sequence=sequence, batch=batch)
    checks.count(hidden=hidden, ranks=ranks)
    checks.amount(element_bytes=element_bytes)
    shares = 4 + (4 + (2 if sequence_parallel else 0) if backward else 0)
    return float(shares * (ranks - 1) / ranks * sequence * batch * hidden * element_bytes)


def best_segment(layers: int, layer_bytes: float, checkpoint_bytes: float) -> tuple[int, float]:
    """How many layers to put between two checkpoints so that the peak of activations is least.

    With a checkpoint every k layers, all ``ceil(layers / k)`` inputs of segments are kept, and while the backward pass
    runs through a segment, the activations of its k layers live too.

    Args:
        layers: of the model; at least 1.
        layer_bytes: what one layer stores when it is not recomputed; finite, not negative.
        checkpoint_bytes: the input of a layer; finite, not negative.

    Returns:
        ``(k, peak)``: layers of a segment, from 1 to ``layers``, the fewest of several that are equally good; and
        the peak, bytes.

    Source: Chen et al. (2016), arXiv:1604.06174.
    """
    checks.count(layers=layers)
    checks.amount(layer_bytes=layer_bytes, checkpoint_bytes=checkpoint_bytes)
    peaks = ((-(-layers // k) * checkpoint_bytes + k * layer_bytes, k) for k in range(1, layers + 1))
    peak, segment = min(peaks)
    return segment, float(peak)


def padded_vocabulary(vocab: int, ranks: int, multiple: int = 128) -> int:
    """The least multiple of ``multiple * ranks`` that holds ``vocab`` tokens: every rank gets whole blocks of rows.

    Args:
        vocab: tokens of the tokenizer; at least 1.
        ranks: tensor-parallel ranks; at least 1.
        multiple: rows of a block on one rank; at least 1. 128 suits matrix units.

    Source: NVIDIA Megatron-LM, ``--make-vocab-size-divisible-by``.
    """
    checks.count(vocab=vocab, ranks=ranks, multiple=multiple)
    block = multiple * ranks
    return -(-vocab // block) * block


def debug_traffic(sequence: int, batch: int, hidden: int, ranks: int) -> float:
    """Bytes that one rank sends for one layer in a step under tensor parallelism, with activations in bf16.

    Four all-reduces, each of the whole activation tensor, ring-optimal.

    Args:
        sequence: tokens in a sequence; not negative.
        batch: sequences in the micro-batch; not negative.
        hidden: width of the model; at least 1.
        ranks: tensor-parallel ranks; at least 1.
    """
    checks.count(0, sequence=sequence, batch=batch)
    checks.count(hidden=hidden, ranks=ranks)
    tensor = 2 * sequence * batch * hidden
    return 4 * 2 * (ranks - 1) / ranks * tensor
