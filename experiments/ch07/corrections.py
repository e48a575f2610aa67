"""Chapter 7: wrong claims about pipelines, experts and layouts, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import LLAMA3_70B, MIXTRAL_8X7B
from rankzero.facts.units import GB, MB, billion, format_bytes, ms
from solutions.ch01.ranks import process_groups
from solutions.ch01.scale import minimum_ranks
from solutions.ch02.model_parallel import naive_step
from solutions.ch05.zero import zero_memory
from solutions.ch07.experts import all_to_all_bytes, moe_parameters
from solutions.ch07.pipeline import (
    bubble_fraction,
    bubble_overhead,
    peak_in_flight,
    pipeline_schedule,
    simulate_schedule,
)

from ..correction import FUNDAMENTALS, MLSYS, TRAINING_BOOK, Correction

_NARAYANAN = "Narayanan et al. (2021), arXiv:2104.04473, section 2.2"
_GPIPE = "Huang et al. (2019), arXiv:1811.06965"
_KORTHIKANTI = "Korthikanti et al. (2022), arXiv:2205.05198"
_LLAMA3 = "Llama Team (2024), arXiv:2407.21783, section 3.3 and table 4"
_DEEPSEEK = "DeepSeek-AI (2024), arXiv:2412.19437"
_MIXTRAL = "Jiang et al. (2024), arXiv:2401.04088"
_GSHARD = "Lepikhin et al. (2020), arXiv:2006.16668"
_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054"
_TORCH = "PyTorch documentation, torch.distributed.pipelining"

#: Ranks, micro-batches, and the times of a forward and a backward that the page's charts use.
_RANKS, _BATCHES, _TIMES = 4, 8, {"F": 1.0, "B": 2.0}


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _times(name: str) -> dict[str, tuple[float, float]]:
    return simulate_schedule(pipeline_schedule(name, _RANKS, _BATCHES), _TIMES)


def _end(name: str) -> float:
    return max(end for _, end in _times(name).values())


def _peaks(name: str, microbatches: int, chunks: int = 1) -> list[int]:
    return [peak_in_flight(order) for order in pipeline_schedule(name, _RANKS, microbatches, chunks)]


def _idle() -> tuple[Correction, ...]:
    """Idle time, and what reduces it."""
    p, m = _RANKS, _BATCHES
    fraction, overhead = bubble_fraction(p, m), bubble_overhead(p, m)
    drained = (p - 1) * m / (p * m + p - 1)
    chunks = bubble_fraction(4, 12, 4)
    return (
        Correction(
            "7.3",
            "GPipe idles (p-1)/(m+p-1) of the time, and 1F1B (p-1)/m.",
            f"Both idle for (p-1)(tF+tB) on every rank. For p = {p} and m = {m} that is {_percent(fraction)} of the "
            f"total, or {_percent(overhead)} of the useful time.",
            f"It is one idle time over two denominators: the simulator ends them at {_end('gpipe'):g} and "
            f"{_end('1f1b'):g} with tF = 1, tB = 2.",
            f"{_GPIPE}; {_NARAYANAN}",
            matters="The slower schedule is chosen because two definitions are compared.",
            places=(
                f"{TRAINING_BOOK}, docs/parallelism/16-pipeline-parallelism-separability.md and "
                "synthesis/34-case-study-llama3.md",
            ),
        ),
        Correction(
            "7.4",
            "1F1B reduces the bubble fraction from 27 to 19 %.",
            f"It stays {_percent(fraction)}; what falls is memory, from {_peaks('gpipe', m)[0]} micro-batches to "
            f"{_peaks('1f1b', m)[0]} on stage 0.",
            f"Both steps end at {_end('1f1b'):g}: backward passes come earlier, but no more of them fit into the same "
            "time.",
            _NARAYANAN,
            matters="A schedule is chosen for speed that it does not have, and its real merit is overlooked.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter07-pipeline.md",),
        ),
        Correction(
            "7.4",
            "With 1F1B every stage holds p micro-batches, or p-1.",
            f"Stage i holds min(m, p - i): {', '.join(map(str, _peaks('1f1b', 12)))} of 12.",
            "It warms up with p - 1 - i forward passes and runs one more before its first backward pass.",
            _NARAYANAN,
            matters="The first stage runs out of memory, or the last is given room that it does not need.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter07.md (p micro-batches)",),
        ),
        Correction(
            "7.2",
            "Stage 0 starts its backward passes right after its last forward pass.",
            f"Its first backward pass starts at {_times('gpipe')['0B0'][0]:g}, not at "
            f"{_times('gpipe')[f'0F{m - 1}'][1]:g}, in GPipe with p = {p}, m = {m}, tF = 1, tB = 2.",
            "The loss is on the last stage, whose first backward pass waits for its own forward passes; then the "
            f"gradient comes back through {p - 1} stages.",
            _GPIPE,
            matters="Activations are freed too early on paper, and the peak comes out too small.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter07.md, the first schedule",),
        ),
        Correction(
            "7.3",
            "Filling and draining take (p-1)m/(pm+p-1) of the time.",
            f"They take (p-1)/(m+p-1): {_percent(fraction)} for p = {p} and m = {m}.",
            f"The printed formula gives {_percent(drained)}: it counts the empty slots of one rank m times over.",
            _GPIPE,
            matters="The answer is a plausible number for the wrong schedule.",
            places=(f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/pipeline_schedule_viz.py",),
        ),
        Correction(
            "7.3",
            "The efficiency of a pipeline is 1 - (p-1)/m.",
            f"It is m/(m+p-1): {_percent(1 - bubble_fraction(4, 4))} for p = m = 4, not "
            f"{_percent(1 - bubble_overhead(4, 4))}.",
            "An overhead is not a share of the total. With m = 2 the printed formula gives "
            f"{_percent(1 - bubble_overhead(4, 2))}.",
            _NARAYANAN,
            matters="Pipelines with few micro-batches look worse than they are.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "7.7",
            "(p-1)/(p-1+mv) should read (p-1)/(mv).",
            f"The first is the bubble fraction, {_percent(chunks)} for p = 4, m = 12, v = 4; the second is the "
            f"overhead, {_percent(bubble_overhead(4, 12, 4))}.",
            "Idle time over total time and idle time over useful time are both right under their own names.",
            _NARAYANAN,
            matters="A formula that was right is corrected into a wrong one.",
        ),
    )


def _held() -> tuple[Correction, ...]:
    """What a stage holds."""
    stages = _peaks("interleaved", 12, 4)[0] / 4
    batch, layers, samples, microbatches = 512, 6, 32, 16
    elements = microbatches * samples * 4096 * layers
    kept = 34 * 1024 * samples * 4096 * layers
    naive = [naive_step(12, 3, 10 * ms, 5 * ms, ratio)[0] / ms for ratio in (2.0, 1.0)]
    return (
        Correction(
            "7.7",
            "Interleaving costs nothing but messages.",
            f"It costs memory as well: rank 0 holds the activations of {stages:g} stages in place of "
            f"{_peaks('1f1b', 12)[0]}, p = 4, m = 12, v = 4.",
            "The warm-up is 2(p-1-r) + (v-1)p forward passes, each through 1/v of a stage. Also, m has to be a "
            "multiple of p.",
            _NARAYANAN,
            matters="The gain in time is paid with memory that nobody reserved.",
        ),
        Correction(
            "7.16",
            "More micro-batches need more memory.",
            f"At a fixed batch of {batch} samples GPipe holds {batch} on stage 0 whatever m is, and 1F1B "
            f"{batch // 64 * _peaks('1f1b', 64)[0]} at m = 64, {batch // 16 * _peaks('1f1b', 16)[0]} at m = 16.",
            "With more micro-batches each is smaller, and 1F1B holds p of them.",
            _NARAYANAN,
            matters="The number of micro-batches is kept low, and the bubble fraction large, for no reason.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/"
                "pipeline_schedule_viz.py (naive schedule)",
            ),
        ),
        Correction(
            "7.16",
            "16 micro-batches of 32 samples take 16 x 32 x 4096 x 6 = 12.6 GB in 6 layers.",
            f"They take {format_bytes(microbatches * kept)} with GPipe and {format_bytes(_RANKS * kept)} on stage 0 "
            f"of {_RANKS} with 1F1B, for sequences of 1,024 tokens.",
            f"The product is {elements / 1e6:.3g} million elements, {format_bytes(2 * elements)}: it leaves out the "
            "sequence length, and that a layer keeps 34 s b h bytes, not one element per feature.",
            _KORTHIKANTI,
            matters="The plan is short by more than an order of magnitude.",
            places=(f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/pipeline_schedule_viz.py",),
        ),
        Correction(
            "7.18",
            "A backward pass takes as long as a forward pass.",
            "It takes about twice as long. A step of 12 layers of 10 ms on 3 stages with hops of 5 ms takes "
            f"{naive[0]:g} ms, not {naive[1]:g}.",
            "Each matrix product of the forward pass needs two in the backward pass: for its input and for its "
            "weights.",
            _NARAYANAN,
            matters="Every step time and every bubble time of the plan is too small.",
            places=(FUNDAMENTALS,),
        ),
    )


def _experts() -> tuple[Correction, ...]:
    """Mixtures of experts."""
    m = MIXTRAL_8X7B
    shared = m.parameters - m.layers * m.experts * 3 * m.hidden * m.expert_ffn
    total, active = moe_parameters(m.hidden, m.expert_ffn, m.experts, m.top_k, m.layers, shared)
    whole, used = moe_parameters(7168, 2048, 256, 8, 58, 14_563_317_248, 1)
    split, each = (2 * all_to_all_bytes(tokens, 4096, 2, 8) / MB for tokens in (512, 4096))
    return (
        Correction(
            "7.10",
            "Expert parallelism sends 2kS/N with N experts.",
            "A rank sends T k h w (R-1)/R in each all-to-all, with R ranks and T tokens on the rank. For 4,096 "
            f"tokens of 4096 elements, top-2, on 8 ranks it sends {split:.3g} MB there and back if the ranks split "
            f"the tokens, and {each:.3g} MB if each rank has that many.",
            "Tokens travel between ranks, so the number of experts on a rank does not change what is sent.",
            _GSHARD,
            matters="The estimate falls with the number of experts where the traffic does not.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter07.md",),
        ),
        Correction(
            "7.21",
            "An 8x7B model has 56 billion parameters.",
            f"It has {total / billion:.1f} billion, of which a token uses {active / billion:.1f}.",
            f"Only the feed-forward blocks exist eight times; the other {shared / billion:.2g} billion count once.",
            _MIXTRAL,
            matters="Memory is planned for parameters that do not exist.",
            places=("techchilli.com, What is Mixtral 8x7B",),
        ),
        Correction(
            "7.21",
            "A mixture of experts trains best on 20 tokens for each active parameter.",
            "There is no such rule. DeepSeek-V3 saw "
            f"{14.8e12 / used:.0f} tokens for each of its {used / billion:.1f} billion active parameters.",
            f"The rule of 20 was fitted to dense models; this one has {whole / billion:.0f} billion parameters in all.",
            _DEEPSEEK,
            matters="Training stops long before such a model has seen enough.",
        ),
    )


def _layouts() -> tuple[Correction, ...]:
    """Meshes, shards and their traffic."""
    job = Job(LLAMA3_70B, 64, 1024, 4096)
    layout = Layout(8, 1, 1, 8)
    held = zero_memory(100e9 / 64, 1, 8) / (100e9 / 64), zero_memory(100e9 / 64, 3, 8) / (100e9 / 64)
    floor = zero_memory(70e9, 3, 8)
    mesh = {"dp": 2, "pp": 2, "cp": 2, "tp": 2}
    replicas = process_groups(mesh, "dp")
    return (
        Correction(
            "7.11",
            "Data parallelism all-reduces parameters/pp.",
            "It all-reduces parameters/(tp pp): a rank has gradients for its own shard only.",
            f"With TP {layout.tp} the claim is {layout.tp} times too large.",
            _NARAYANAN,
            matters="The time for the gradients is too long by the degree of tensor parallelism.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/"
                "parallel_strategy_calculator.py",
            ),
        ),
        Correction(
            "7.6",
            "The traffic of TP and PP depends on the global batch.",
            "It depends on batch/dp: a replica's messages carry its own micro-batches.",
            f"With DP {layout.dp} a replica has {job.global_batch // layout.dp} of {job.global_batch} sequences.",
            _NARAYANAN,
            matters="A layout looks as if it became worse with more replicas.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/"
                "parallel_strategy_calculator.py",
            ),
        ),
        Correction(
            "7.25",
            "A layout with whole weights and gradients on each replica is ZeRO-3.",
            "That is ZeRO-1: only the optimizer states are divided.",
            f"On 8 replicas it takes {held[0]:g} bytes of each parameter; ZeRO-3 takes {held[1]:g}.",
            _ZERO,
            matters="Memory is planned that the optimizer's sharding alone does not free.",
            places=(
                f"{MLSYS}, tutorial/part2-parallelism/chapter07-pipeline-expert/scripts/"
                "parallel_strategy_calculator.py",
            ),
        ),
        Correction(
            "7.25",
            "If full sharding does not fit, add TP or PP on the same GPUs.",
            f"The floor is the total divided by the number of GPUs: {format_bytes(floor)} for 70 billion parameters "
            f"on 8, however they are cut. The states alone need {minimum_ranks(70e9, 80 * GB)} GPUs of 80 GB.",
            f"Every byte has to be on some GPU. TP 8 without ZeRO holds "
            f"{format_bytes(zero_memory(70e9 / 8, 0, 1))} as well.",
            _ZERO,
            matters="GPUs are moved from one axis to another, and the job still does not fit.",
        ),
        Correction(
            "7.25",
            "Data parallelism scales without end.",
            "It ends at the critical batch size; at a fixed batch, each replica gets fewer micro-batches.",
            "When the GPUs of the published run doubled at a fixed batch, a replica's sequences fell from "
            f"{2048 // 64} to {2048 // 128} and the printed utilization from 43 to 41 %.",
            _LLAMA3,
            matters="GPUs are bought that save no steps.",
            places=(f"{MLSYS}, src/part2-parallelism/chapter07.md",),
        ),
        Correction(
            "7.11",
            "One replica of the model is data-parallel group 0.",
            "A data-parallel group joins equal shards of different replicas.",
            f"In a mesh of 2 x 2 x 2 x 2 it is ranks {' and '.join(map(str, replicas[0]))}, while the first replica is "
            f"ranks 0 to {replicas[0][1] - 1}.",
            _LLAMA3,
            matters="Gradients of different shards are averaged.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "7.5",
            "Pipelines are built with torch.distributed.pipeline.sync.Pipe.",
            "That module was removed: use torch.distributed.pipelining.",
            "Its schedules are ScheduleGPipe, Schedule1F1B, ScheduleInterleaved1F1B and others.",
            _TORCH,
            matters="The code does not import.",
            places=(FUNDAMENTALS,),
        ),
    )


CORRECTIONS = (*_idle(), *_held(), *_experts(), *_layouts())
