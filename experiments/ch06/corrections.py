"""Chapter 6: wrong claims about tensor parallelism and activations, and what is right. Standard library only."""

from __future__ import annotations

import math

from rankzero.facts.hardware import H100_SXM, IB_NDR, NVLINK3, NVLINK4
from rankzero.facts.models import GPT3_175B, LLAMA3_70B
from rankzero.facts.units import MB, format_bytes, format_time
from solutions.ch06.activations import activation_bytes, best_segment, tensor_parallel_traffic
from solutions.ch06.heads import head_partition

from ..correction import FUNDAMENTALS, MLSYS, TRAINING_BOOK, Correction

_MEGATRON = "Shoeybi et al. (2019), arXiv:1909.08053, section 3"
_SEQUENCE = "Korthikanti et al. (2022), arXiv:2205.05198"
_GQA = "Ainslie et al. (2023), arXiv:2305.13245"
_CHEN = "Chen et al. (2016), arXiv:1604.06174"
_SHEETS = "NVIDIA A100 and H100 data sheets; InfiniBand Trade Association roadmap"
_XAVIER = "Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward neural networks"

#: The job that most claims are about: 70B on 8 ranks, one sequence of 4,096 tokens in bf16.
_RANKS, _SEQUENCE_LENGTH = 8, 4096
_TENSOR = 2 * _SEQUENCE_LENGTH * LLAMA3_70B.hidden


def _layer(**options: bool) -> float:
    return tensor_parallel_traffic(_SEQUENCE_LENGTH, 1, LLAMA3_70B.hidden, _RANKS, **options)


def _all_reduce() -> float:
    """What a rank sends in one all-reduce: two are the forward pass of a layer."""
    return _layer(backward=False) / 2


def _gpt3(**options: str) -> float:
    """Bytes of one GPT-3 layer at one sequence."""
    return activation_bytes(2048, 1, GPT3_175B.hidden, GPT3_175B.heads, **options)  # type: ignore[arg-type]


def _xavier(fan_in: int, fan_out: int) -> float:
    return 2 / (fan_in + fan_out)


def _collectives() -> tuple[Correction, ...]:
    """Which collectives a split layer needs."""
    forward, step = (_layer(backward=back) / _all_reduce() for back in (False, True))
    return (
        Correction(
            "6.1",
            "A column-parallel layer gives a partial result; or it needs no communication, just concatenate.",
            "It gives a complete slice of the output. Joining slices across ranks takes an all-gather, which is not "
            "needed only because a row-parallel layer follows and takes the slice as its input.",
            "A row-parallel layer gives partial sums of the full output, and those need the all-reduce.",
            _MEGATRON,
            matters="Layers are then joined with a collective that is not needed, or without one that is.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md (the second half)",),
        ),
        Correction(
            "6.2",
            "A column-parallel layer has no communication in the backward pass.",
            "The gradient of its input is a sum over the ranks: f all-reduces it.",
            "Without f the output and the layer's own gradients are right on every rank, but the gradients of all "
            "layers before it are wrong.",
            _MEGATRON,
            matters="The layers before it are trained with the gradients of one shard alone.",
        ),
        Correction(
            "6.3",
            "An all-gather follows every column-parallel layer, so that a layer has four collectives forward.",
            f"{forward:.0f} all-reduces forward, {step - forward:.0f} backward, no all-gather: one each way for "
            "attention and one for the MLP.",
            "What torch.distributed.all_gather fills in is not part of the autograd graph: a weight before it never "
            "learns.",
            _MEGATRON,
            matters="Communication is planned at a multiple of what it takes.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "6.3",
            "The bias of a row-parallel layer lives on rank 0.",
            "Every rank holds it and adds it once, after the sum.",
            f"If one rank adds it after the sum, the replicas diverge; if all {_RANKS} add it before the sum, the "
            f"output is wrong by {_RANKS - 1} biases.",
            _MEGATRON,
            matters="The bias is added a wrong number of times, or its replicas drift apart.",
            places=(
                FUNDAMENTALS,
                f"{TRAINING_BOOK}, docs/parallelism/15-tensor-parallelism-linearity.md (a comment)",
            ),
        ),
    )


def _bytes() -> tuple[Correction, ...]:
    """What a split layer sends, and how long that takes."""
    one, links = _all_reduce(), (NVLINK4, NVLINK3, IB_NDR)
    times = ", ".join(f"{format_time(one / link.bandwidth)} over {link.name}" for link in links)
    compute = 0.3
    shares = [100 * LLAMA3_70B.layers * _layer() / link.bandwidth / compute for link in (NVLINK4, IB_NDR)]
    small = 2 * 3 / 4 * 2 * MB
    more = _layer(sequence_parallel=True) / _layer()
    flops = 72 * _SEQUENCE_LENGTH * LLAMA3_70B.hidden**2 / (_RANKS * 0.5 * H100_SXM.peak_bf16)
    return (
        Correction(
            "6.6",
            "A layer sends 8 b s h (t-1)/t bytes in a step, because the rows are divided by t.",
            "Those are elements: in bf16 it sends twice that many bytes. Activations are whole on every rank.",
            f"For 70B on {_RANKS} ranks with {_SEQUENCE_LENGTH:,} tokens it sends {format_bytes(_layer())} for a "
            f"layer, not {format_bytes(_layer() / 2)}.",
            _MEGATRON,
            matters="Traffic is underestimated by the size of an element.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md",),
        ),
        Correction(
            "6.6",
            "An all-reduce of 70B activations is 112 MB, halved to 56; it takes 0.09 ms, and the overhead is 9.6 %.",
            f"A rank sends {format_bytes(one)} of a tensor of {format_bytes(_TENSOR)}, and "
            f"{format_bytes(LLAMA3_70B.layers * _layer(backward=False))} in a forward pass.",
            f"One all-reduce takes {times}. Relative to {format_time(compute)} of compute, a step's communication "
            f"takes {shares[0]:.1f} % over {NVLINK4.name} and {shares[1]:.0f} % over one port.",
            _SHEETS,
            matters="A decision about the degree of parallelism is made on a time that cannot be reached.",
        ),
        Correction(
            "6.6",
            "InfiniBand is 10 times, or 1.5 times, slower than NVLink.",
            f"It is {NVLINK4.bandwidth / IB_NDR.bandwidth:.3g} times slower, for one GPU and one direction.",
            f"{NVLINK4.name} carries {format_bytes(NVLINK4.bandwidth)}/s, a port {format_bytes(IB_NDR.bandwidth)}/s. "
            f"The second figure compares {format_bytes(2 * NVLINK3.bandwidth)}/s, both directions of the previous "
            f"generation, with the {format_bytes(8 * IB_NDR.bandwidth)}/s of a node's eight ports.",
            _SHEETS,
            matters="The rule to keep tensor parallelism inside a node loses its reason, or is overstated.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md (10 times)",),
        ),
        Correction(
            "6.6",
            "An all-reduce of 2 MB on 4 GPUs takes 0.01 ms.",
            f"Its bytes take {format_time(small / NVLINK4.bandwidth)} over {NVLINK4.name}; but a message that small "
            "pays for its start-ups.",
            f"Six steps of 5 µs take {format_time(6 * 5e-6)}: the bytes are the smaller part.",
            _SHEETS,
            matters="Small messages are estimated by their bytes, when start-ups dominate them.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md",),
        ),
        Correction(
            "6.16",
            "The communication of tensor parallelism cannot be overlapped.",
            "Not across the dependency; but a product cut into chunks can send one chunk while it computes the next.",
            f"There is room: on {NVLINK4.name} the all-reduces of a 70B layer take "
            f"{100 * _layer() / NVLINK4.bandwidth / flops:.0f} % of its matrix products at half of an H100's peak.",
            _SEQUENCE,
            matters="A library that does overlap looks impossible.",
        ),
        Correction(
            "6.5",
            "Sequence parallelism adds no traffic.",
            "None forward. If only slices are stored, both inputs of a layer are gathered again in the backward pass.",
            f"That is {format_bytes(_layer(sequence_parallel=True))} for a layer against {format_bytes(_layer())}, "
            f"{100 * (more - 1):.0f} % more.",
            _SEQUENCE,
            matters="The extra gather in the backward pass is missing from the plan.",
        ),
    )


def _shapes() -> tuple[Correction, ...]:
    """Weights and heads."""
    largest = 2 * GPT3_175B.vocab * GPT3_175B.hidden
    estimate = 12 * LLAMA3_70B.hidden**2 * LLAMA3_70B.layers
    query, key_value, replicas = head_partition(LLAMA3_70B.heads, LLAMA3_70B.kv_heads, 16, 0)
    up = _xavier(512, 2048 // 8) / _xavier(512, 2048)
    down = _xavier(2048 // 8, 512) / _xavier(2048, 512) / 8**2
    return (
        Correction(
            "6.9",
            "Tensor parallelism is for layers that exceed the memory of a GPU.",
            "It is for the total of all weights, for activations, and for latency.",
            f"The largest matrix of GPT-3, its embedding, takes only {format_bytes(largest)} in bf16.",
            _MEGATRON,
            matters="The main reasons for splitting a layer are overlooked.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md",),
        ),
        Correction(
            "6.12",
            "The weights of 70B at TP 8 are 16.1 GB on a rank.",
            f"They are {format_bytes(2 * LLAMA3_70B.parameters / 8)}.",
            f"12 h² L counts {estimate / 1e9:.1f} billion of {LLAMA3_70B.parameters / 1e9:.2f} billion parameters: "
            "the vocabulary, the gate and the grouped heads are left out.",
            LLAMA3_70B.source,
            matters="The part that is replicated is missing, and a rank that looks full enough overflows.",
        ),
        Correction(
            "6.16",
            "A layer has 12 heads at a hidden size of 4,096.",
            f"A head would have {4096 / 12:.1f} features; there is no such layer.",
            f"With 32 heads it is {4096 // 32}.",
            _MEGATRON,
            matters="An example that cannot be built teaches a rule that cannot be checked.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter06.md, exercise 2",),
        ),
        Correction(
            "6.4",
            "With 8 key-value heads, TP 16 is impossible: use sequence parallelism instead.",
            f"Each key-value head is held on {replicas} ranks, which sum its weight gradient.",
            f"A rank of 16 then has {len(query)} query heads and {len(key_value)} key-value head. Sequence "
            "parallelism splits norms and residuals, not heads.",
            _GQA,
            matters="A layout that works is ruled out.",
        ),
        Correction(
            "6.12",
            "Initialize each shard by its own shape, with the same seed on every rank, and divide W2 by t.",
            "Draw the full matrix from one seed, with the full matrix's fan-in and fan-out, and slice it.",
            f"At 512 to 2,048 features on 8 ranks a shard drawn by its own shape has {up:.2f} times the right "
            f"variance; W2, divided by 8 as well, has {down:.3f} times; drawn correctly but divided, {1 / 64:.3f} "
            "times. And with one seed all shards are identical, so a test of their order cannot fail.",
            _XAVIER,
            matters="Every rank starts from the same columns, and the model cannot become the one that was meant.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter06-tensor-parallel/scripts/tp_linear.py and tp_mlp.py",
            ),
        ),
        Correction(
            "6.12",
            "Multiply the reference's W2 by the number of ranks, so that the split MLP agrees with it.",
            "Partial sums add up to the whole product: compare with the unmodified plain layer.",
            f"Otherwise a correct layer on {_RANKS} ranks looks {_RANKS} times too small.",
            _MEGATRON,
            matters="The test passes for a layer that counts each contribution too often.",
            places=(f"{MLSYS}, tutorial/part2-parallelism/chapter06-tensor-parallel/scripts/tp_mlp.py",),
        ),
    )


def _memory() -> tuple[Correction, ...]:
    """What is stored, and what recomputation costs."""
    layers, hidden = GPT3_175B.layers, GPT3_175B.hidden
    eight = 8 * 2048 * hidden * layers
    inputs, layer = layers * _gpt3(recompute="full"), _gpt3()
    segment, peak = best_segment(layers, layer, _gpt3(recompute="full"))
    again = 2048 / (18 * hidden + 3 * 2048)
    return (
        Correction(
            "6.7",
            "Activations are 10 times the parameters, or 8 b s h L bytes.",
            f"GPT-3 stores {format_bytes(layers * layer)} for one sequence, not {format_bytes(eight)}, and twice as "
            "much for two.",
            "They grow with batch and sequence, and the attention matrix, where it is kept, with the square of the "
            "sequence; weights do not.",
            f"{_SEQUENCE}, table 2",
            matters="Whether a batch fits is decided by a number that ignores the batch.",
            places=(f"{FUNDAMENTALS} (the second half)",),
        ),
        Correction(
            "6.19",
            "Checkpointing stores the square root of the activations.",
            f"It stores the inputs of all layers and one live layer: {format_bytes(inputs)} + {format_bytes(layer)} "
            f"for GPT-3, not {format_bytes(eight / math.sqrt(layers))}.",
            "The square root holds if a checkpoint is as large as a layer. A layer of GPT-3 is as large as "
            f"{layer / _gpt3(recompute='full'):.0f} checkpoints: the best distance is {segment}, with a peak of "
            f"{format_bytes(peak)}.",
            _CHEN,
            matters="Memory is planned that no schedule reaches.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "6.8",
            "Checkpointing costs 33 to 100 % more time.",
            f"Full recomputation repeats the forward pass, {100 / 3:.1f} % of a step; selective recomputation of GPT-3 "
            f"{100 * again:.1f} %.",
            f"{100 * 2048 / (6 * hidden):.1f} % is the attention core beside the other matrix products of a forward "
            "pass.",
            f"{_SEQUENCE}, section 5",
            matters="Recomputation is avoided for a price that it does not have.",
        ),
        Correction(
            "6.11",
            "Context parallelism uses an all-gather, as in ring attention.",
            "Those are two algorithms: one gathers keys and values, the other passes blocks of them around a ring.",
            "When gathered, the keys and values of 131,072 tokens in a layer of 70B take "
            f"{format_bytes(2 * 2 * 131_072 * LLAMA3_70B.kv_heads * LLAMA3_70B.head_dim)} on every rank; in a ring of "
            "8 a rank holds two blocks of one eighth each.",
            "Liu et al. (2023), arXiv:2310.01889; Llama Team (2024), arXiv:2407.21783, section 3.3.2",
            matters="The traffic of one algorithm is charged to the other.",
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_collectives(), *_bytes(), *_shapes(), *_memory())
