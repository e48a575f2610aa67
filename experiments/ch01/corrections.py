"""Chapter 1: wrong claims about ranks, scale and efficiency, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.scaling_laws import CHINCHILLA, FITTED_FLOP, GPT3, LLAMA3_8B, LLAMA3_405B
from rankzero.facts.units import GB, PFLOP, TFLOP, billion, day, format_bytes, hour, million, year
from solutions.ch01.scale import minimum_ranks, training_flops_per_token, training_time
from solutions.ch01.scaling import amdahl_speedup, scaling_efficiency
from solutions.ch01.sharding import shard_indices

from ..correction import FUNDAMENTALS, MLSYS, Correction
from .launching import VARIABLES

#: Bytes that mixed-precision Adam keeps for each parameter.
STATES = {"bf16 weight": 2, "bf16 gradient": 2, "fp32 copy of the weight": 4, "fp32 moments": 8}

_BROWN = "Brown et al. (2020), arXiv:2005.14165, table 2.1 and appendix D"
_NARAYANAN = "Narayanan et al. (2021), arXiv:2104.04473, section 5.1"
_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1"
_TORCH = "torch.distributed documentation"
_PALM = "Chowdhery et al. (2022), arXiv:2204.02311, appendix B"
_HOFFMANN = "Hoffmann et al. (2022), arXiv:2203.15556; Besiroglu et al. (2024), arXiv:2404.10102"
_AMDAHL = "Amdahl (1967), doi:10.1145/1465482.1465560; Gustafson (1988), doi:10.1145/42411.42415"
_MFU = "Korthikanti et al. (2022), arXiv:2205.05198, table 5; Llama Team (2024), arXiv:2407.21783, table 4"

#: Training GPT-3 on A100s at half of their dense peak, at 3 USD an hour.
_UTILIZATION, _PRICE = 0.5, 3.0


def _flops() -> float:
    return training_flops_per_token(GPT3.parameters) * GPT3.tokens


def _device_hours() -> float:
    return training_time(_flops(), 1, A100_SXM.peak_bf16, _UTILIZATION) / hour


def _time() -> tuple[Correction, ...]:
    """How long it takes, and what it costs."""
    v100 = training_time(3.14e23, 1, 28 * TFLOP, 1.0) / year
    rate, per_token = 1000, training_flops_per_token(GPT3.parameters)
    seconds = GPT3.tokens / rate
    hours = _device_hours()
    bills = [hours * _PRICE / efficiency / million for efficiency in (1.0, 0.9)]
    rented = (365 * 24, 256 * 36)  # hours of one GPU in a year, and of 256 in a day and a half
    shares = [f"{100 * part / hours:.1f}" for part in rented]
    return (
        Correction(
            "1.9",
            "Training GPT-3 takes 355 years on one A100.",
            f"On an A100 at {100 * _UTILIZATION:.0f} % of its dense peak it takes {hours * hour / year:.1f} years.",
            f"3.14e23 FLOP on a V100 at 28 TFLOP/s take {v100:.2f} years; 6 N D is {_flops():.3g} FLOP.",
            _BROWN,
            matters="A budget made with it names the wrong GPU, or is several times too long.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "1.15",
            "At 1,000 tokens a second, 300 billion tokens take 20,833 hours.",
            f"They take {seconds:.3g} s, {seconds / hour:,.0f} hours or {seconds / day:,.0f} days.",
            f"That rate needs {rate * per_token / PFLOP:.3g} PFLOP/s, "
            f"{rate * per_token / A100_SXM.peak_bf16:.1f} times an A100's dense peak.",
            _NARAYANAN,
            matters="A schedule built on it is too short, and it asks for more than one GPU can compute.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "1.15",
            "One GPU for a year costs 26,280 USD, and 256 for a day and a half hardly more: many GPUs cost nothing "
            "extra.",
            f"Neither trains the model: it takes {hours:,.0f} A100-hours, {bills[0]:.2f} million USD at 3 USD each.",
            f"They do {shares[0]} % and {shares[1]} % of the work. Finishing sooner multiplies the bill by "
            f"1/efficiency: at 90 % it is {bills[1]:.2f} million USD.",
            _BROWN,
            matters="It hides that the price of a run is fixed by its compute, whatever the number of GPUs.",
            places=(FUNDAMENTALS,),
        ),
    )


def _memory() -> tuple[Correction, ...]:
    """What has to be held in memory."""
    size, ranks = GPT3.parameters, 8
    each = sum(STATES.values())
    whole, without = size * each, size * (each - STATES["fp32 copy of the weight"])
    devices = [minimum_ranks(size, A100_SXM.memory, total / size) for total in (whole, without)]
    copied, sharded = (70 * billion * each / share for share in (1, ranks))
    return (
        Correction(
            "1.9",
            "Mixed-precision Adam keeps 12 bytes for each parameter.",
            f"It keeps {each}: " + ", ".join(f"{name} {count}" for name, count in STATES.items()) + ".",
            f"The figure of 12 leaves out the fp32 copy. {size / billion:.0f} billion parameters need "
            f"{format_bytes(whole)} on {devices[0]} devices of {A100_SXM.memory / GB:.0f} GB, not "
            f"{format_bytes(without)} on {devices[1]}.",
            _ZERO,
            matters="Memory is missing from the plan, and the job fails at start.",
            places=(
                f"{MLSYS}, src/part2-parallelism/chapter05.md (840 GB for 70 billion parameters)",
                FUNDAMENTALS,
            ),
        ),
        Correction(
            "1.9",
            "A model that is too big for one device is replicated across several.",
            "A replica is as big as the model: replication saves no memory, but sharding does.",
            f"With 70 billion parameters on {ranks} ranks, each rank holds {format_bytes(copied)} as a full copy but "
            f"{format_bytes(sharded)} as a shard.",
            _ZERO,
            matters="Adding replicas never makes such a model fit.",
        ),
    )


def _processes() -> tuple[Correction, ...]:
    """Why training uses processes, and how they start."""
    return (
        Correction(
            "1.2",
            "The interpreter's lock keeps threads from computing at the same time, so training needs processes.",
            "Matrix products, backward passes and communication release the lock, so threads do overlap in them.",
            "Processes are used because Python dispatches serially within each one, because a crash is confined to "
            "one rank, and because the same program then runs on several machines.",
            _TORCH,
            matters="It explains the wrong thing: the case for processes is dispatch, isolation and several machines.",
            places=(f"{MLSYS}, src/part1-distributed/chapter01.md",),
        ),
        Correction(
            "1.4",
            "The spawn helper sets the variables that processes use to find each other.",
            f"It sets none of the {len(VARIABLES)}; torchrun sets all of them.",
            f"A program that was only spawned finds {', '.join(VARIABLES[:-1])} and {VARIABLES[-1]} unset, unless it "
            "sets them itself.",
            _TORCH,
            matters="A program that relies on it fails to find its peers, or puts every rank on one GPU.",
            places=(f"{MLSYS}, src/part1-distributed/chapter01.md",),
        ),
    )


def _work() -> tuple[Correction, ...]:
    """What a token costs, and how many there should be."""
    ratios = [training.tokens_per_parameter for training in (GPT3, LLAMA3_405B, LLAMA3_8B)]

    def attention(width: int, context: int) -> float:
        """The cost of attention as a share of the cost of a layer's 12 d² parameters."""
        matrices = 12 * width**2
        return training_flops_per_token(matrices, 1, width, context) / training_flops_per_token(matrices) - 1

    short, long = 100 * attention(12_288, 2048), 100 * attention(16_384, 131_072)
    claimed = 2 * 12_288 * 2048**2 / (training_flops_per_token(12 * 12_288**2) / 3)
    return (
        Correction(
            "1.16",
            "Twenty tokens per parameter is a law, and every model follows it.",
            f"It is extrapolated from runs of {FITTED_FLOP[0]:.2g} to {FITTED_FLOP[1]:.2g} FLOP, and it leaves out "
            "the cost of serving. No such rule holds for the active parameters of a mixture of experts.",
            f"Chinchilla, the model that tested it, took {CHINCHILLA.flops / FITTED_FLOP[1]:.0f} times the largest of "
            f"these budgets. Tokens per parameter: GPT-3 {ratios[0]:.2f}, Llama 3.1 405B {ratios[1]:.1f}, Llama 3 8B "
            f"{ratios[2]:,.0f}.",
            _HOFFMANN,
            matters="A model that will serve many requests should see far more tokens than this rule allows.",
        ),
        Correction(
            "1.14",
            "Attention costs 2 d s² per token, and can be ignored for long sequences.",
            "It costs 4 s d per token and layer forward, 2 s d when causal, and can be ignored when s is far below 6 "
            "d.",
            f"At d = 12,288 and s = 2,048 it adds {short:.1f} % to the layer's matrices (2 d s² would be "
            f"{claimed:.0f} times the layer); at d = 16,384 and s = 131,072 it adds {long:.0f} %.",
            _PALM,
            matters="It gets the direction wrong: long contexts are where attention dominates.",
        ),
    )


def _speed() -> tuple[Correction, ...]:
    """How much faster many ranks are."""
    shares = (10, 40)  # percent of a step that 8 ranks spend communicating
    amdahl = [f"{amdahl_speedup(share / 100, 8):.2f}" for share in shares]
    scaled = [f"{8 * scaling_efficiency(100 - share, 100, 8, weak=True):.1f}" for share in shares]
    steps = [len(shard_indices(51_200, ranks, 0)) // 32 for ranks in (1, 32)]
    # A model of 128 layers and width 25,600: 512 sequences of 2,048 tokens in 71.49 s.
    step = training_flops_per_token(12 * 128 * 25_600**2 + 51_200 * 25_600, 128, 25_600, 2048) * 512 * 2048
    a100 = training_time(step, 512, A100_SXM.peak_bf16, 1.0) / 71.49
    h100 = [100 * speed * TFLOP / H100_SXM.peak_bf16 for speed in (380, 430)]
    return (
        Correction(
            "1.8",
            "The speed-up follows Amdahl's law, with the measured share of communication as the serial part.",
            "One rank does not communicate, so communication is not a serial part. When every rank has the same "
            "work, the speed-up is n times compute / (compute + communication).",
            f"Eight ranks that spend {shares[0]} % or {shares[1]} % of a step communicating reach a speed-up of "
            f"{scaled[0]} or {scaled[1]}, not {amdahl[0]} or {amdahl[1]}.",
            _AMDAHL,
            matters="The predicted ceiling on the speed-up has nothing to do with the program.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "1.8",
            "Weak scaling keeps the time of an epoch constant.",
            "It keeps the time of a step constant; on the same data an epoch has n times fewer steps.",
            f"51,200 samples, at 32 per rank and step, take {steps[0]:,} steps on one rank and {steps[1]} on 32.",
            _AMDAHL,
            matters="A scaling chart drawn with it mixes up two different experiments.",
            places=(FUNDAMENTALS,),
        ),
        Correction(
            "1.15",
            "An MFU of 40 % is good and 60 % is excellent, on any device.",
            "What is good depends on the device, the model and the number of devices: compare like with like.",
            f"Training a trillion parameters on 512 A100s reached {100 * a100:.0f} %; training 405 billion on up to "
            f"16,384 H100s reached {h100[0]:.0f} to {h100[1]:.0f} %.",
            _MFU,
            matters="A healthy run on a large cluster looks like a failure, and a poor one on a few GPUs looks fine.",
            places=("alphabetsoup.ai, Model FLOPs Utilization (40 to 60 % good)",),
        ),
    )


CORRECTIONS: tuple[Correction, ...] = (*_time(), *_memory(), *_processes(), *_work(), *_speed())
