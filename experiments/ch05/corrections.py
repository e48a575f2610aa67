"""Chapter 5: wrong claims about replicas, model states and precision, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import GPT2_SMALL
from rankzero.facts.units import GB, MiB, billion, format_bytes, format_time, ms
from solutions.ch05.batching import debug_loss, scaled_learning_rate
from solutions.ch05.buckets import assign_buckets, exposed_communication
from solutions.ch05.precision import round_to_format
from solutions.ch05.scaler_protocols import final_scales
from solutions.ch05.zero import min_ranks, state_bytes, zero_memory, zero_traffic

from ..correction import FUNDAMENTALS, MLSYS, Correction

_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054"
_DDP = "Li et al. (2020), arXiv:2006.15704; PyTorch documentation, DistributedDataParallel"
_FSDP = "PyTorch documentation, FullyShardedDataParallel and fully_shard"
_LLAMA = "Llama Team (2024), arXiv:2407.21783, sections 3.3 and 3.4"
_RATES = "Goyal et al. (2017), arXiv:1706.02677; Malladi et al. (2022), arXiv:2205.10287"
_MIXED = "Micikevicius et al. (2018), arXiv:1710.03740"

#: The model and the machine that most of these claims are about.
_PARAMS, _GPUS, _MEMORY = 70e9, 8, H100_SXM.memory

#: 16 steps; 1 is an overflow.
_STEPS = (0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)


def _gb(size: float) -> str:
    return f"{size / GB:,.6g} GB"


def _held(params: float, stage: int, ranks: int, *sizes: float) -> str:
    return _gb(zero_memory(params, stage, ranks, *sizes))


def _row(*sizes: float) -> str:
    """Stages 1, 2 and 3 of 70B on 8 GPUs."""
    return ", ".join(f"{zero_memory(_PARAMS, stage, _GPUS, *sizes) / GB:g}" for stage in (1, 2, 3)) + " GB"


def _exact(value: float) -> str:
    return f"{value:.3g}"


def _states() -> tuple[Correction, ...]:
    """How much memory a parameter takes."""
    recipes = {
        "without a master copy": state_bytes(master=False),
        "classic": state_bytes(),
        "fp32 gradients": state_bytes(gradient="fp32"),
        "all in bf16": state_bytes(moment="bf16", master=False),
    }
    totals = "; ".join(f"{name} {sum(sizes):g} bytes, {_gb(_PARAMS * sum(sizes))}" for name, sizes in recipes.items())
    weights, gradients, optimizer = state_bytes()
    both = sum(recipes["fp32 gradients"]) + gradients
    small = 7 * billion
    tensor_parallel = 8
    return (
        Correction(
            "5.5",
            "Mixed-precision Adam needs 12 bytes per parameter, two thirds of them for the optimizer.",
            f"It needs {weights:g} for the weight, {gradients:g} for the gradient and {optimizer:g} for the optimizer "
            f"(the fp32 master copy and two moments). That is {weights + gradients + optimizer:g}, and the "
            f"optimizer's share is {optimizer / (weights + gradients + optimizer):.0%}.",
            f"A total means nothing unless you say what it includes. For 70B: {totals}; with gradients in both "
            f"precisions {both:g} bytes, {_gb(_PARAMS * both)}.",
            f"{_ZERO}, section 3.1",
            matters="The plan is short by the master copy, and the optimizer runs out of memory.",
            places=(
                f"{MLSYS}, src/part2-parallelism/chapter05.md",
                FUNDAMENTALS,
            ),
        ),
        Correction(
            "5.13",
            "A model needs 20 times its size.",
            f"{sum(state_bytes()):g} to {both:g} bytes per parameter, {sum(state_bytes()) / weights:g} to "
            f"{both / weights:g} times its bf16 weights, and activations on top.",
            f"{GPT2_SMALL.name}, with {GPT2_SMALL.parameters / 1e6:.1f}M parameters, has "
            f"{GPT2_SMALL.parameters * sum(state_bytes()) / GB:.3g} GB of states, not 1.5.",
            f"{_ZERO}, section 3.1",
            matters="A mix-up of bytes and multiples doubles the number of GPUs.",
        ),
        Correction(
            "5.5",
            "Mixed precision halves the memory of training.",
            f"Model states stay the same size: {sum(state_bytes('fp32')):g} bytes per parameter in fp32, "
            f"{sum(state_bytes()):g} in mixed precision.",
            "Activations, messages and the time of matrix products shrink; the master copy takes back what weights "
            "and gradients save.",
            _MIXED,
            matters="The batch is chosen for memory that was never freed.",
            places=("roboticscenter.ai, glossary, Mixed Precision Training",),
        ),
        Correction(
            "5.5",
            "A model of 1B to 10B parameters fits on one GPU.",
            f"7B in mixed precision has {_held(small, 0, 1)} of states, and a GPU has {_gb(_MEMORY)}.",
            f"It needs at least {min_ranks(small, 3, _MEMORY)} GPUs under stage 3, {min_ranks(small, 1, _MEMORY)} "
            "under stage 1, before activations.",
            f"{_ZERO}, section 3.1",
            matters="The first step ends in an out-of-memory error.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "5.6",
            "Tensor parallelism over 8 with ZeRO over 8 saves memory, in a table with no column for GPUs.",
            f"That layout takes {tensor_parallel * _GPUS} GPUs, and its row must say so.",
            f"70B under stage 1 needs {_held(_PARAMS / tensor_parallel, 1, _GPUS)} on each of "
            f"{tensor_parallel * _GPUS} GPUs, against {_held(_PARAMS, 1, _GPUS)} on each of {_GPUS}.",
            f"{_ZERO}, section 5",
            matters="Layouts are compared that do not cost the same number of GPUs.",
        ),
    )


def _sharding() -> tuple[Correction, ...]:
    """What ZeRO keeps and sends."""
    sent = [zero_traffic(_PARAMS, stage, 64) for stage in range(4)]
    ratios = ", ".join(f"{size / sent[0]:g}" for size in sent)
    small = [zero_traffic(7e9, stage, 64) for stage in (0, 3)]
    medium = 30 * billion
    kept = zero_traffic(_PARAMS, 3, 64, reshard=False)
    return (
        Correction(
            "5.13",
            "70B on 8 GPUs takes 210 GB with ZeRO-2, and still about 210 with ZeRO-1.",
            f"Stages 1, 2 and 3 take {_row()} per GPU; without the master copy {_row(2, 2, 8)}.",
            f"The 210 forgets the gradients' slice: sliced, gradients take {_gb(_PARAMS * state_bytes()[1] / _GPUS)} "
            "on each GPU, not nothing.",
            f"{_ZERO}, section 5",
            matters="The choice of a stage rests on figures that contradict each other.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter05.md (the first half)",),
        ),
        Correction(
            "5.6",
            "ZeRO-1 gathers the optimizer states before the step.",
            "Optimizer states never move. A rank updates its slice, and the updated weights are gathered.",
            f"That is {state_bytes()[0]:g} bytes per parameter on the wire instead of {state_bytes()[2]:g}.",
            f"{_ZERO}, sections 5 and 7",
            matters="It moves the largest states for nothing, and more bytes than DDP.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter05.md",),
        ),
        Correction(
            "5.6",
            "ZeRO-1 and ZeRO-2 send half as much as DDP, or half as much again; ZeRO-3 two or three times as much.",
            f"Stages 0 to 3 send {ratios} times what DDP sends.",
            f"70B on 64 ranks: {', '.join(f'{size / GB:.1f}' for size in sent)} GB per rank and step. An all-reduce is "
            "a reduce-scatter and an all-gather; stage 3 gathers once more.",
            f"{_ZERO}, section 7",
            matters="A stage is rejected for a cost that it does not have, or chosen for a saving it does not bring.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter05.md (half as much again; three times)",),
        ),
        Correction(
            "5.13",
            "ZeRO-3 sends 41 GB extra for 7B on 64 ranks.",
            f"{small[1] / GB:.1f} GB is all that it sends; its excess over DDP is {(small[1] - small[0]) / GB:.1f} GB.",
            f"DDP sends {small[0] / GB:.1f} GB. Over a port of 50 GB/s the difference takes "
            f"{format_time((small[1] - small[0]) / (50 * GB))}.",
            f"{_ZERO}, section 7",
            matters="The price of sharding looks several times as high as it is.",
        ),
        Correction(
            "5.7",
            "FSDP means ZeRO-2 by default, and ZeRO-3 is rarely used.",
            "FULL_SHARD, which is stage 3, is the default. Llama 3 was trained with weights stored as in stage 3, but "
            "without the second gather.",
            f"For 70B on 64 ranks each rank sends {sent[3] / GB:.1f} GB with resharding after the forward pass and "
            f"{kept / GB:.1f} GB without it, as much as DDP.",
            f"{_FSDP}; {_LLAMA}",
            matters="The wrong option is passed, and memory or traffic is not what was planned.",
        ),
        Correction(
            "5.5",
            "When the model is too big for a GPU, use data parallelism.",
            "Replication saves no model state. It helps a model that is too slow, not one that is too big.",
            f"7B has {_held(7e9, 0, 1)} of states on one rank and {_held(7e9, 0, 64)} on each of 64 replicas; sliced "
            f"by stage 3 it has {_held(7e9, 3, 64)}.",
            f"{_ZERO}, section 1",
            matters="The job still does not fit, on any number of GPUs.",
        ),
        Correction(
            "5.6",
            "A memory-bound model needs ZeRO.",
            "ZeRO relieves memory capacity. A program that is bound by memory bandwidth stays bound by it.",
            f"On an {H100_SXM.name} the two limits are {format_bytes(_MEMORY)} and "
            f"{format_bytes(H100_SXM.memory_bandwidth)}/s, and have nothing in common.",
            f"{_ZERO}, section 1",
            matters="Sharding adds communication and leaves the bottleneck as it was.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter05.md",),
        ),
        Correction(
            "5.13",
            "70B on 8 GPUs needs ZeRO and tensor parallelism together.",
            "Full sharding is already the minimum: no other split over the same GPUs holds less on each.",
            f"Each of 8 GPUs would hold {_held(_PARAMS, 3, _GPUS)} and has {_gb(_MEMORY)}. It takes "
            f"{min_ranks(_PARAMS, 3, _MEMORY)} of them, filled to the brim, or offloading.",
            f"{_ZERO}, section 5",
            matters="Tensor parallelism is added, with its traffic, for memory that it cannot save.",
        ),
        Correction(
            "5.13",
            "30B fits on 16 GPUs with ZeRO-2.",
            f"It takes {_held(medium, 2, 16)} on each, before activations, and a GPU has {_gb(_MEMORY)}.",
            f"The weights alone stay whole, {_gb(medium * state_bytes()[0])}; stage 3 holds {_held(medium, 3, 16)}.",
            f"{_ZERO}, section 5",
            matters="The plan fails once activations are added.",
        ),
    )


def _replicas() -> tuple[Correction, ...]:
    """What it takes for replicas to train like one model."""
    counts, means = [100, 100, 100, 50], [0.0, 1.0, 2.0, 3.0]
    exposed = exposed_communication([5 * ms] * 40, [1.5 * ms] * 40)
    first, later = (len(assign_buckets([MiB] * 40, limits)) for limits in ([2.0**63], [MiB, 25 * MiB]))
    return (
        Correction(
            "5.1",
            "Averaging gradients (all-reduce, then divide by the world size) always equals training on the big batch.",
            "Only if all ranks have equally many rows, or tokens, and nothing else couples the rows of a batch.",
            f"Ranks with {counts} rows and means {means} have the mean {debug_loss(means, counts):.6g}, not "
            f"{sum(means) / len(means):g}. Batch norm, dropout and the order of sums break equality too.",
            _DDP,
            matters="Rows on ranks with few tokens get too much weight, and nothing reports it.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter05-data-parallel/scripts/gradient_sync_visualizer.py",
            ),
        ),
        Correction(
            "5.1",
            "This loop trains on 16 GPUs: no zero_grad, a random data set made on each rank, device cuda:{rank}.",
            "Set gradients to zero, make one data set from one seed and split its indices, and use the local rank "
            "for the device.",
            "Gradients add up over steps; unseeded data sets differ on every rank, so no sampler can split them; the "
            f"second node of {_GPUS} GPUs has no device {_GPUS}.",
            "PyTorch documentation, torchrun and DistributedSampler",
            matters="It runs without an error and trains on the wrong data.",
        ),
        Correction(
            "5.2",
            "DDP broadcasts in the first forward pass, NCCL makes the buckets, and reducing by hand allocates memory.",
            "DDP broadcasts when it is constructed, DDP makes the buckets, and an all-reduce works in place.",
            f"By default, 40 layers of 1 MiB travel in {first} bucket in the first backward pass, and in {later} from "
            "then on.",
            _DDP,
            matters="It sends you to the wrong place when the first step is slow or a bucket is too small.",
        ),
        Correction(
            "5.11",
            "The overlap is 1 - (last all-reduce) / (backward pass).",
            f"The hidden share divides by the communication: {1 - exposed / (40 * 1.5 * ms):.1%}, not "
            f"{1 - exposed / (40 * 5 * ms):.2%}.",
            "That is for 40 layers with 5 ms of backward pass and 1.5 ms of all-reduce each, and only while a "
            "layer's communication takes no longer than its computation. With 7 ms of all-reduce each, "
            f"{format_time(exposed_communication([5 * ms] * 40, [7 * ms] * 40))} stay visible.",
            _DDP,
            matters="An overlap that looks almost perfect may leave most of a step exposed.",
        ),
        Correction(
            "5.4",
            "Accumulate with a loop around backward, round the steps up, and step when the count is reached.",
            "Under DDP, use no_sync for all micro-batches but the last, around both passes; require that the batch "
            "divides evenly, and use or drop what is left at the end of an epoch.",
            "A backward pass reduces unless its forward pass ran under no_sync; rounding up trains on a larger batch "
            "than asked for; gradients that are left over leak into the next epoch's first step.",
            _DDP,
            matters="It sends gradients too often, or drops the last examples of an epoch.",
        ),
        Correction(
            "5.4",
            "Gradient accumulation costs no memory.",
            f"A gradient stays alive between micro-steps: {state_bytes()[1]:g} bytes per parameter, or "
            f"{state_bytes(gradient='fp32')[1]:g} in fp32.",
            "Under FSDP without synchronization the whole gradient stays: "
            f"{(zero_memory(7e9, 0, 64, 0, 2, 0) - zero_memory(7e9, 3, 64, 0, 2, 0)) / GB:.1f} GB more for 7B on 64 "
            "ranks.",
            _FSDP,
            matters="A batch that should just fit does not.",
            places=(FUNDAMENTALS,),
        ),
    )


def _batches() -> tuple[Correction, ...]:
    """Batch and learning rate."""
    linear, root = (scaled_learning_rate(3e-4, 256, 2048, rule) for rule in ("linear", "sqrt"))
    before, after = 3e-4 / 4e6, scaled_learning_rate(3e-4, 4e6, 8e6, "linear") / 8e6
    return (
        Correction(
            "5.12",
            "Without a larger learning rate, a larger batch diverges.",
            "It undertrains: there are fewer steps, and each moves as far as before.",
            "Eight times the batch is 1/8 of the steps. Divergence comes from too large a learning rate, such as "
            f"{linear:g} where the optimizer needs less.",
            _RATES,
            matters="The learning rate is raised to prevent a divergence that would not have happened.",
        ),
        Correction(
            "5.12",
            "Scale Adam's learning rate with the batch, and warm up for 1,000 steps times that ratio, or 5 to 10 %.",
            f"The linear rule is for SGD. Going from 3e-4 at batch 256 to batch 2,048 it gives {linear:g}; the "
            f"square-root rule, which is for Adam, gives {root:.3g}.",
            "Warm-ups follow neither: 5 epochs on ImageNet, and for Llama 3 405B 8,000 of 1,200,000 steps, "
            f"{8000 / 1_200_000:.2%}.",
            f"{_RATES}; {_LLAMA}",
            matters="Adam with such a rate diverges, or the warm-up eats the run.",
        ),
        Correction(
            "5.12",
            "With twice the batch and twice the learning rate each token counts double.",
            f"It counts the same: a token's weight is rate over batch, {before:.3g} before and {after:.3g} after.",
            "Each step moves twice as far, and there are half as many steps.",
            "Goyal et al. (2017), arXiv:1706.02677, section 2.1",
            matters="It leads to corrections of the loss that change nothing but the learning rate.",
        ),
    )


def _precision() -> tuple[Correction, ...]:
    """What few bits do to numbers."""
    smallest = round_to_format(1.1 * 2.0**-25, 5, 10)
    saved = 80 * 2 * 4 * 4096 * 8192
    scales = final_scales(map(bool, _STEPS), 1024.0, 3)
    return (
        Correction(
            "5.8",
            "In fp16 everything below 6.1e-5 is zero.",
            f"Subnormal numbers go down to {_exact(smallest)}, and anything above half of that is rounded up to it.",
            f"{_exact(3.1e-8)} becomes {_exact(round_to_format(3.1e-8, 5, 10))}, and {_exact(2.0**-25)}, which is "
            f"exactly half, becomes {round_to_format(2.0**-25, 5, 10):g}.",
            "IEEE 754-2019, section 3.4",
            matters="Gradients are declared lost that the format still holds.",
            places=("apxml.com, How to Build a Large Language Model, chapter 20",),
        ),
        Correction(
            "5.16",
            "Divide the gradients by the scale and by the norm, then look for inf.",
            "Look while unscaling, before clipping: clipping turns inf into nan, or into a step of length zero.",
            "The order is unscale and look, clip, step or skip, update the scale.",
            "PyTorch documentation, torch.amp examples",
            matters="Overflows pass unnoticed, and the step that should be skipped destroys the weights.",
        ),
        Correction(
            "5.15",
            "Activations in fp8 save 172 GB, of 343.",
            f"They save {saved / GB:.1f} GB, of {2 * saved / GB:.1f}.",
            "80 layers with two saved tensors each, batch 4, sequence 4,096, width 8,192: "
            f"{saved / 1e9:.1f} billion numbers. 343 is {343 / (2 * saved / GB):.0f} times as much.",
            "Micikevicius et al. (2022), arXiv:2209.05433",
            matters="The expected saving is several times what the format brings.",
        ),
        Correction(
            "5.16",
            "All loss scalers follow one protocol.",
            "They end at different scales: "
            + "; ".join(f"{name}: {scale:,.0f}" for name, scale in scales.items())
            + ".",
            f"The steps are {list(_STEPS)} (1 is an overflow), from a scale of 1,024 with an interval of 3. The "
            "scalers differ in what the first overflow costs and in the step at which the scale grows.",
            "PyTorch, torch.amp.GradScaler; NVIDIA/Megatron-LM, DynamicGradScaler; DeepSpeed, DynamicLossScaler",
            matters="A run that is moved to another framework skips steps where it did not before.",
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_states(), *_sharding(), *_replicas(), *_batches(), *_precision())
