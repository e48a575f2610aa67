"""The capstone: wrong claims about one large run, its cost and failures, and what is right. Standard library."""

from __future__ import annotations

import math

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import GPT3_175B, LLAMA3_405B
from rankzero.facts.scaling_laws import BESIROGLU, FITTED_FLOP, GPT3, HOFFMANN
from rankzero.facts.units import GB, PFLOP, TB, TFLOP, Gbit, billion, day, hour, minute, trillion
from solutions.ch15.checkpointing import (
    checkpoint_waste,
    checkpoint_write_time,
    failure_cost,
    optimal_checkpoint_interval,
)
from solutions.ch15.flops import parameter_count
from solutions.ch15.llama_405b import (
    BUDGET_FLOP,
    CARD,
    CAUSES,
    GPU_HOURS,
    LONG_CONTEXT_TOKENS,
    NETWORK,
    PAPER,
    STAGES,
    STORAGE,
    TOKENS,
    UNEXPECTED,
    WINDOW,
)
from solutions.ch15.run_plan import memory_per_stage, partition_layers, traffic_per_gpu
from solutions.ch15.run_sheet import run_bill

from ..ch01.token_budgets import best_split
from ..correction import TRAINING_BOOK, Correction

_DALY = "Daly (2006), doi:10.1016/j.future.2004.11.016"
_HOFFMANN = "Hoffmann et al. (2022), arXiv:2203.15556; Besiroglu et al. (2024), arXiv:2404.10102"
_KAPLAN = "Kaplan et al. (2020), arXiv:2001.08361, section 2.1"
_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1"
_PALM = "Chowdhery et al. (2022), arXiv:2204.02311, table 3"

#: The row of the paper's table that most examples use.
_ROW = STAGES[1]
#: Seconds between unexpected interruptions of 16,384 GPUs.
_MTBF = WINDOW / UNEXPECTED
#: A job of 512 GPUs: stall, MTBF and restart of the examples, seconds.
_JOB = (98.0, 24 * hour, 120.0)


def _full_heads() -> int:
    """The count of a 405B shape whose keys and values have as many heads as the queries."""
    m = LLAMA3_405B
    return parameter_count(m.layers, m.hidden, m.heads, m.heads, m.head_dim, m.ffn, m.vocab)


def _layer(parameters: int) -> float:
    m = LLAMA3_405B
    return (parameters - 2 * m.vocab * m.hidden - m.hidden) / m.layers


def _weights() -> float:
    row = memory_per_stage(LLAMA3_405B, partition_layers(126, 16, 1, 1), 8, 1, 128, 16, 8192)[1]
    return row["parameters"]


def _shape() -> tuple[Correction, ...]:
    """What was trained, on what."""
    first, printed = STAGES[0], 4
    heads, groups = _layer(_full_heads()), _layer(LLAMA3_405B.parameters)
    return (
        Correction(
            "15.2",
            'The "actual configuration" is micro-batch 1, accumulation 4, 512 sequences, 4M tokens.',
            f"It is {_ROW.batch_per_dp} sequences on each of {_ROW.dp} replicas: {_ROW.batch_per_dp * _ROW.dp:,} "
            f"sequences, {_ROW.tokens_per_step / 1e6:.2f}M tokens.",
            f"{_ROW.batch_per_dp * _ROW.dp:,} times {_ROW.sequence:,} tokens. 4M tokens, in sequences of 4,096, are "
            "the first stretch of the batch ramp.",
            f"{PAPER}, table 4 and section 3.4.1",
            matters="The batch is several times too small, and the number of steps too large.",
        ),
        Correction(
            "15.11",
            "Attention has 4 h² parameters, a layer 3.69 billion, a GPU 7.38 GB of weights.",
            f"With grouped queries it has 2 h² + 2 h K: a layer has {groups / billion:.4f} billion, and a GPU of an "
            f"inner stage holds {_weights() / GB:.2f} GB.",
            f"{LLAMA3_405B.layers} layers of {heads / billion:.2f} billion and the embeddings would be a model of "
            f"{_full_heads() / billion:.0f} billion.",
            f"{PAPER}, table 3",
            matters="Parameters and memory are counted for heads that the model does not have.",
        ),
        Correction(
            "15.15",
            "With sequences of 131,072 there are 4 data-parallel ranks.",
            f"There are {STAGES[2].dp}.",
            f"{STAGES[2].tp} x {STAGES[2].cp} x {STAGES[2].pp} x {STAGES[2].dp} = {STAGES[2].ranks:,} GPUs; with "
            f"{printed}, as the first version of the paper prints, it would be half.",
            f"{PAPER}, table 4",
            matters="The layout does not use all of the GPUs.",
        ),
        Correction(
            "15.3",
            "The dimensions are ordered TP, PP, CP, DP; pipeline stages talk over NVLink; the network is InfiniBand.",
            f"TP, CP, PP, DP from the inside out; stages lie on different nodes; the network is Ethernet (RoCE), "
            f"{NETWORK / Gbit:.0f} Gb/s per GPU.",
            "Keys and values are exchanged in every layer, activations between stages only once per micro-batch: the "
            "dimensions that communicate more often are further inside.",
            f"{PAPER}, sections 3.3.1 and 3.3.2",
            matters="The traffic that cannot wait is put on the slowest links.",
        ),
        Correction(
            "15.2",
            "400 TFLOP/s per GPU are an MFU of 41 %.",
            f"They are {_ROW.flops_per_gpu / H100_SXM.peak_bf16:.1%}.",
            f"{_ROW.flops_per_gpu / TFLOP:.0f} of {H100_SXM.peak_bf16 / TFLOP:g} dense. The printed rates are rounded "
            f"to tens, and {_ROW.mfu * H100_SXM.peak_bf16 / TFLOP:.4g} would be {_ROW.mfu:.0%}; the first row "
            f"prints {first.flops_per_gpu / TFLOP:.0f}.",
            f"{PAPER}, table 4",
            matters="A rounded percentage is compared with others that are exact.",
            places=(f"{PAPER}, table 4",),
        ),
    )


def _budget() -> tuple[Correction, ...]:
    """FLOP, tokens and days."""
    model, gopher = LLAMA3_405B, 5.76e23
    six = 6 * model.parameters * TOKENS
    days = GPU_HOURS * hour / _ROW.gpus / day
    law = 0.29 * BUDGET_FLOP**0.53
    ratios = [tokens / parameters for parameters, tokens in (best_split(fit, gopher) for fit in (HOFFMANN, BESIROGLU))]
    long = STAGES[2].sequence / (12 * model.hidden)
    gpt3 = 2048 / (6 * GPT3_175B.hidden)
    return (
        Correction(
            "15.2",
            "The run took 54 days, at an MFU of 48 %.",
            f"{WINDOW / day:.0f} days is the window in which failures were counted. The GPU-hours make {days:.1f} "
            f"days of {_ROW.gpus:,} GPUs, at {six / (GPU_HOURS * hour * H100_SXM.peak_bf16):.1%} from end to end.",
            f"{GPU_HOURS / 1e6:.2f} million GPU-hours over {_ROW.gpus:,}. {WINDOW / day:.0f} days would need "
            f"{six / (_ROW.gpus * WINDOW * H100_SXM.peak_bf16):.1%}. Both count all parameters, as the paper does.",
            f"{CARD}; {PAPER}, section 3.3.4",
            matters="The length of the run is taken from a window of its log.",
            places=(f"{TRAINING_BOOK}, docs/synthesis/34-case-study-llama3.md (the days)",),
        ),
        Correction(
            "15.13",
            "The best number of tokens is 0.29 C^0.53, which gives 16.55 trillion.",
            f"As printed it gives {law / trillion:.1f} trillion at C = {BUDGET_FLOP:.2g}.",
            f"The exponent is rounded. {math.log(16.55e12 / 0.29) / math.log(BUDGET_FLOP):.4f} reproduces the text; "
            f"the rounding to 0.53 alone costs {1 - law / 16.55e12:.0%}.",
            f"{PAPER}, section 3.2.1",
            matters="A reader who computes with the printed coefficients gets another model.",
            places=(f"{PAPER}, section 3.2.1",),
        ),
        Correction(
            "15.1",
            "Twenty tokens per parameter is a law.",
            f"It is extrapolated from runs of {FITTED_FLOP[0]:.2g} to {FITTED_FLOP[1]:.2g} FLOP, without the cost of "
            "inference.",
            f"At {gopher:.3g} FLOP the parametric fit as first published gives {ratios[0]:.1f}, the same runs fitted "
            f"again {ratios[1]:.1f}.",
            _HOFFMANN,
            matters="Models meant for serving are stopped too early.",
        ),
        Correction(
            "15.13",
            "Large models lie on the line of twenty tokens per parameter.",
            f"Plot the tokens that they really saw: GPT-3 has {GPT3.tokens_per_parameter:.2f}, Llama 3.1 405B "
            f"{TOKENS / model.parameters:.1f}.",
            f"{GPT3.tokens / billion:.0f} over {GPT3.parameters / billion:.0f} billion.",
            GPT3.source,
            matters="The picture says that every model follows the rule, which is what it should test.",
        ),
        Correction(
            "15.12",
            "Attention can be left out for long sequences.",
            f"Only for short ones. Causal attention is {STAGES[0].sequence / (12 * model.hidden):.1%} of a layer "
            f"with four-fold feed-forward and full heads at {STAGES[0].sequence:,}, and {long:.0%} at "
            f"{STAGES[2].sequence:,}.",
            "s/(6h) of the matrices for the full square, s/(12h) for the causal half. At most "
            f"{LONG_CONTEXT_TOKENS / TOKENS:.0%} of the tokens were seen at {STAGES[2].sequence:,}: the stage that "
            f"reaches it begins at {STAGES[0].sequence:,} and takes six steps.",
            _KAPLAN,
            matters="The estimate is least right for the contexts that cost most.",
        ),
        Correction(
            "15.12",
            "The FLOP per token contain s².",
            "Attention costs 4 s d forward per token; s² is the cost of a whole sequence.",
            f"For GPT-3 that is {gpt3:.1%} of its layer's 24 h²; with s² it would be "
            f"{2048 * gpt3:.0f} times the layer.",
            _KAPLAN,
            matters="The cost of attention is too large by the length of the sequence.",
        ),
        Correction(
            "15.14",
            "An MFU of 40 to 50 % is good and 60 % excellent.",
            f"It depends on the machine and the scale: {STAGES[2].mfu:.0%} to {STAGES[0].mfu:.0%} is what was "
            f"published for {STAGES[0].gpus:,} to {_ROW.gpus:,} H100.",
            "PaLM 540B prints 46.2 % on 6,144 TPU v4. A faster chip with the same network has the lower MFU.",
            f"{PAPER}, table 4; {_PALM}",
            matters="The state of the art at this scale is taken for a failure.",
            places=("zeroentropy.dev, Model FLOPs Utilization (40 to 60 % good, 50 % and more excellent)",),
        ),
        Correction(
            "15.1",
            "Llama 3.1 405B took four times the compute of GPT-4.",
            f"Uncertain: GPT-4's compute is not published. By an outside estimate of 2.1e25 FLOP it is "
            f"{BUDGET_FLOP / 2.1e25:.1f} times.",
            f"{BUDGET_FLOP:.2g} FLOP are {BUDGET_FLOP / (PFLOP * day):,.0f} petaFLOP/s days.",
            f"{PAPER}, section 3.2; Epoch AI, estimate",
            matters="A ratio to an unpublished number is passed on as a fact.",
        ),
    )


def _layout() -> tuple[Correction, ...]:
    """The bubble and the traffic."""
    stages, micro = _ROW.pp, _ROW.batch_per_dp
    sent = traffic_per_gpu(LLAMA3_405B, _ROW.tp, _ROW.cp, _ROW.pp, _ROW.dp, micro, _ROW.sequence)["dp"]
    return (
        Correction(
            "15.17",
            "The bubble is 375 %, or 187.5 % with two chunks, and the paper reports 18 to 20 %.",
            f"With {micro} micro-batches, one for each sequence (assumed), the overhead is {(stages - 1) / micro:.2%} "
            f"over the number of chunks: {(stages - 1) / (8 * micro):.1%} with 8.",
            "The paper prints the formula, but neither the number of chunks nor the size of a micro-batch nor a "
            "bubble. A bubble above 100 % can only be an overhead, idle over useful time, and these belong to 4 "
            "micro-batches.",
            f"{PAPER}, section 3.3.2",
            matters="Interleaving looks useless, or a bubble above one looks possible.",
        ),
        Correction(
            "15.18",
            "The data-parallel all-reduce of a step moves 14.65, 7.27 or 14.63 GB.",
            f"A GPU sends {sent / GB:.2f} GB, in {sent / NETWORK:.3f} s over its port.",
            f"Gradients are reduce-scattered in fp32 and weights all-gathered in bf16: {_ROW.dp - 1}/{_ROW.dp} of 6 "
            f"bytes for each of {_weights() / 2 / billion:.4f} billion parameters. An all-reduce in bf16, which is a "
            f"different system, would send {sent * 4 / 6 / GB:.2f} GB.",
            f"{PAPER}, section 3.3.2",
            matters="Whether the traffic hides behind computing cannot be decided.",
        ),
    )


def _failures() -> tuple[Correction, ...]:
    """Failures and checkpoints."""
    stall, mtbf, restart = _JOB
    best = optimal_checkpoint_interval(stall, mtbf, "young")
    waste = checkpoint_waste(best, stall, mtbf, restart)
    bill = run_bill(512, 30 * day, 2, 0.7, 1, 0)["dollars"]
    gpu = sum(cause.count for cause in CAUSES if cause.kind == "GPU")
    rare, often = (optimal_checkpoint_interval(30 * minute, hour, method) / minute for method in ("young", "exact"))
    shared = checkpoint_write_time(70e9, 14, 64, 10 * GB, 10 * GB)
    return (
        Correction(
            "15.19",
            "Faulty GPUs caused 30.1 % of the interruptions, GPUs in all 58.7 %.",
            f"{CAUSES[0].count / UNEXPECTED:.1%} and {gpu / UNEXPECTED:.1%}.",
            f"{CAUSES[0].count} and {gpu} of {UNEXPECTED}. The first is a misprint in the table, and the second is "
            "its sum.",
            f"{PAPER}, table 5",
            matters="Spare parts are planned for the wrong share of failures.",
            places=(
                f"{PAPER}, table 5",
                "DatacenterDynamics, July 2024, on the interruptions of Llama 3 (the first figure)",
            ),
        ),
        Correction(
            "15.5",
            "N writers write at N times 10 GB/s.",
            f"The storage is shared: 980 GB at 10 GB/s in total take {shared:.0f} s, however many processes write.",
            f"64 writers with separate storage would take {shared / 64:.1f} s. Llama 3.1 405B's storage sustained "
            f"{STORAGE / TB:.0f} TB/s for all GPUs.",
            f"{PAPER}, section 3.3.1",
            matters="The stall of each checkpoint is planned far too short.",
            places=(
                f"{TRAINING_BOOK}, docs/composition/26-failures-checkpoints.md; 5 GB/s in "
                "synthesis/34-case-study-llama3.md",
            ),
        ),
        Correction(
            "15.5",
            "A checkpoint must hold the bf16 weights.",
            "They are a cast of the fp32 master copy: the master and two moments, 12 bytes per parameter, suffice.",
            f"For 70 billion parameters {70e9 * 12 / GB:.0f} GB instead of {70e9 * 14 / GB:.0f} GB.",
            _ZERO,
            matters="Each checkpoint is larger, and slower, than it has to be.",
        ),
        Correction(
            "15.6",
            "An MTBF of 24 hours is realistic for a large cluster.",
            f"{_ROW.gpus:,} GPUs had one unexpected interruption every {_MTBF / hour:.2f} h.",
            f"{UNEXPECTED} in {WINDOW / day:.0f} days: a GPU fails once in {_MTBF * _ROW.gpus / (365.25 * day):.1f} "
            "years, and any one stops the job.",
            f"{PAPER}, section 3.3.4",
            matters="Checkpoints are written too rarely, and each failure costs more work than planned.",
        ),
        Correction(
            "15.6",
            "At the best interval checkpoints cost 2.4 %.",
            f"That is only the writing. As much again is lost to rework, and restarts add to that: {waste:.2%} of the "
            "wall-clock.",
            f"C = {stall:.0f} s, M = {mtbf / hour:.0f} h, R = {restart:.0f} s, every {best:,.0f} s: writing alone is "
            f"{stall / best:.2%}.",
            _DALY,
            matters="Half of the waste is left out of the bill.",
        ),
        Correction(
            "15.6",
            "The best interval is sqrt(2 C M).",
            "Only while C is much smaller than M.",
            f"With C = 30 min and M = 1 h it gives {rare:.0f} min, the MTBF itself; the exact optimum is {often:.1f} "
            "min.",
            f"Young (1974), doi:10.1145/361147.361115; {_DALY}",
            matters="When saving is slow, the formula gives an interval that is too long.",
        ),
        Correction(
            "15.22",
            "At $618 per crash and one crash a day, a month wastes 30 times that.",
            f"It wastes ${waste * bill:,.0f} of ${bill:,.0f}: the writing costs just as much.",
            f"A failure costs ${failure_cost(best, stall, mtbf, restart, 512, 2):,.0f} (512 GPUs at 2 dollars an "
            f"hour), and {waste:.2%} of the wall-clock is wasted in all.",
            _DALY,
            matters="The cheaper half of the loss is taken for all of it.",
        ),
        Correction(
            "15.24",
            "16,384 GPUs of 700 W take 21,233,448 kWh in 77 days.",
            f"{run_bill(_ROW.gpus, 77 * day, 2, 0.7, 1, 0.05)['kwh']:,.0f} kWh, "
            f"${run_bill(_ROW.gpus, 77 * day, 2, 0.7, 1, 0.05)['electricity_dollars']:,.0f} at 5 cents.",
            "Multiply, and remember that 700 W is the GPU alone: servers, network and cooling come on top.",
            CARD,
            matters="The bill is for a day that the run did not take.",
        ),
    )


CORRECTIONS = (*_shape(), *_budget(), *_layout(), *_failures())
