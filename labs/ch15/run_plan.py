# Generated from solutions/ch15/run_plan.py by make stubs. Write the bodies; names and signatures stay.
"""One training run on paper: layers on stages, memory of each stage, traffic of each GPU, causes of interruptions.

Standard library only. A ``model`` is a shape with the fields of ``rankzero.facts.models.Model``; the feed-forward block
is taken to be gated, the head to be a matrix of its own, and every layer to be dense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankzero import checks


def partition_layers(layers: int, stages: int, reserved_first: int = 0, reserved_last: int = 0) -> list[int]:
    """How many layers each pipeline stage holds, when embedding and head count as some layers each.

    Layers and reserved places are spread evenly. The remainder goes to the *last* stages, one each, because they hold
    the fewest micro-batches. Then the reserved places are removed. A stage may be left without a layer.

    Args:
        layers: of the model; at least 1.
        stages: pipeline stages; at least 1, and no more than layers and reserved places together.
        reserved_first: layers that the embedding counts as; not negative.
        reserved_last: layers that the head counts as; not negative.

    Returns:
        One number for each stage, the first stage first.

    Raises:
        ValueError: a stage would have a negative number of layers.

    Source: Llama Team (2024), arXiv:2407.21783, section 3.3.2: one layer fewer on the first and on the last stage.
    """
    checks.count(layers=layers, stages=stages)
    checks.count(0, reserved_first=reserved_first, reserved_last=reserved_last)
    places = layers + reserved_first + reserved_last
    checks.require(stages <= places, f"be at most {places}, the layers and reserved places", stages=stages)
    raise NotImplementedError("cap-partition-layers: not written yet")


def memory_per_stage(
    model: Any,
    partition: Sequence[int],
    tp: int,
    cp: int,
    dp: int,
    microbatches: int,
    tokens: float,
    shard: str = "optimizer+gradients",
    gradient_bytes: float = 4,
    recompute: str = "none",
) -> list[dict[str, float]]:
    """Bytes that one GPU of each pipeline stage holds, under the 1F1B schedule, without chunks.

    The parameters of a stage are those of its layers (two norms each), of the embedding on the first stage, and of the
    last norm and the head on the last one; tensor parallelism divides them by ``tp``. Each takes 2 bytes as a weight,
    ``gradient_bytes`` as a gradient and 12 as optimizer state (Adam in fp32: master copy and two moments). ``shard``
    divides some of it by ``cp * dp``.

    Stage i of p keeps the activations of ``min(microbatches, p - i)`` micro-batches. With h = ``hidden``, A =
    ``heads * head_dim``, K = ``kv_heads * head_dim`` and f = ``ffn``, a layer keeps for each token
    ``2 (4h + 2A + 2K + 4f)`` bytes without recomputation; ``2 (2h + 2A + 2K + 2f)`` with ``"cheap"``, which
    recomputes the outputs of the norms, of the SiLU and of its product; ``2h``, the layer's input, with ``"full"``.
    ``tp`` (with sequence parallelism) and ``cp`` divide the tokens. Not counted: the layer that is being recomputed,
    keys and values from other ``cp`` ranks, the logits, and the row statistics of norms and attention.

    Args:
        model: the shape: ``layers``, ``hidden``, ``heads``, ``kv_heads``, ``head_dim``, ``ffn`` and ``vocab``.
        partition: layers of each stage, as from ``partition_layers``; not negative, and ``model.layers`` in sum.
        tp, cp, dp: ranks of tensor, context and data parallelism; at least 1.
        microbatches: of one replica and step; at least 1.
        tokens: of one micro-batch (sequences times their length); positive.
        shard: what the ``cp * dp`` replicas share: ``"optimizer"``, ``"optimizer+gradients"`` or ``"all"``.
        gradient_bytes: of one gradient; not negative.
        recompute: ``"none"``, ``"cheap"`` or ``"full"``.

    Returns:
        For each stage ``parameters`` (the weights), ``states`` (gradients and optimizer), ``activations`` and
        ``total``, all in bytes.

    Sources: Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1; Korthikanti et al. (2022), arXiv:2205.05198,
    section 4.
    """
    checks.count(0, partition=partition)
    checks.require(sum(partition) == model.layers, "be model.layers", **{"sum(partition)": sum(partition)})
    checks.count(tp=tp, cp=cp, dp=dp, microbatches=microbatches)
    checks.positive(tokens=tokens)
    checks.one_of(("optimizer", "optimizer+gradients", "all"), shard=shard)
    checks.amount(gradient_bytes=gradient_bytes)
    checks.one_of(("none", "cheap", "full"), recompute=recompute)
    raise NotImplementedError("cap-memory-per-stage: not written yet")


def traffic_per_gpu(model: Any, layout: Any) -> dict[str, float]:
    """Bytes that one GPU of an inner stage, with ``ceil(layers / pp)`` layers, sends in one optimizer step.

    With A = ``2 * micro_tokens * hidden / cp``, the bytes of a layer's input, each micro-batch and layer needs, over
    rings,

    * 4 all-reduces of A over ``tp`` ranks (or as many pairs of all-gather and reduce-scatter), 2 forward and 2
      backward, and 2 more when ``recompute`` is ``"full"``, which repeats the forward pass; the all-gathers that
      sequence parallelism repeats are left out;
    * over ``cp`` ranks the all-gather of keys and values, ``4 * micro_tokens * kv_heads * head_dim / tp`` bytes (kept
      for the backward pass), the reduce-scatter of their gradients, and with ``"full"`` the all-gather once more.

    A micro-batch crosses to the next stage and back ``virtual_stages`` times, and each ``tp`` rank sends its share of
    the tokens, A / tp bytes. Once a step the gradients of the stage's layers, two norms each, are
    reduce-scattered in fp32 and their weights all-gathered in bf16 over ``cp * dp`` ranks; a GPU has one ``tp``-th of
    them.

    Args:
        model: the shape: ``layers``, ``hidden``, ``heads``, ``kv_heads``, ``head_dim``, ``ffn`` and ``vocab``.
        layout: a ``RunLayout`` of ``rankzero.facts.plans``. In grading, it and the model have fields and no methods.
            ``tp``, ``cp``, ``pp`` and ``dp`` are the ranks of each dimension (one stage sends nothing to another),
            ``microbatches`` those of one replica and step, ``micro_tokens`` the tokens of one of them before ``cp``
            divides them, ``virtual_stages`` the chunks of layers on each stage. ``recompute`` is ``"none"``,
            ``"cheap"`` (which repeats no collective) or ``"full"``.

    Returns:
        Bytes by the name of the dimension: ``tp``, ``cp``, ``pp`` and ``dp``.

    Source: Llama Team (2024), arXiv:2407.21783, section 3.3.2.
    """
    tp, cp, pp, dp = layout.tp, layout.cp, layout.pp, layout.dp
    microbatches, virtual_stages = layout.microbatches, layout.virtual_stages
    checks.count(tp=tp, cp=cp, pp=pp, dp=dp, microbatches=microbatches, virtual_stages=virtual_stages)
    checks.positive(micro_tokens=layout.micro_tokens)
    checks.one_of(("none", "cheap", "full"), recompute=layout.recompute)
    raise NotImplementedError("cap-traffic-per-gpu: not written yet")


def debug_shares(counts: Mapping[str, int], planned: Sequence[str] = ()) -> dict[str, float]:
    """The share of each cause in the unplanned interruptions, in percent.

    Args:
        counts: interruptions by cause, planned ones too; not all of them are planned.
        planned: the causes that were planned.

    Returns:
        Percent for each unplanned cause, in the order of ``counts``; together 100.
    """
    total = sum(counts.values())
    return {cause: 100 * count / total for cause, count in counts.items() if cause not in planned}
