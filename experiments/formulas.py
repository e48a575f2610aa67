"""The formulas of the course, each tied to the function that computes it. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM, IB_NDR, NVLINK4
from rankzero.facts.models import LLAMA3_70B, LLAMA3_405B
from rankzero.facts.units import GB, MB, billion, hour, minute, ms, trillion, us

from .formula import Formula

_NVLINK, _PORT, _PEAK = NVLINK4.bandwidth, IB_NDR.bandwidth, H100_SXM.peak_bf16
_LINK = {"S": "message_bytes", "N": "ranks", "B": "bandwidth", "alpha": "latency"}
_MESSAGE = {"message_bytes": 1 * GB, "ranks": 8, "bandwidth": _NVLINK, "latency": 5 * us}
_PIPELINE = {"p": "stages", "m": "microbatches", "v": "virtual_stages"}
_STAGES = {"stages": 4, "microbatches": 12, "virtual_stages": 2}
_SHAPE_70B = {"layers": LLAMA3_70B.layers, "kv_heads": LLAMA3_70B.kv_heads, "head_dim": LLAMA3_70B.head_dim}

FOUNDATIONS = (
    Formula(
        *("1.14", "Compute of one training token", "C", "6*N + 12*L*w*s", "ch01.scale.training_flops_per_token"),
        {"N": "parameters", "L": "layers", "w": "width", "s": "context"},
        {"parameters": 70 * billion, "layers": LLAMA3_70B.layers, "width": LLAMA3_70B.hidden, "context": 8192},
        "FLOP",
    ),
    Formula(
        *("1.15", "Time of a training run", "T", "C/(n*F*u)", "ch01.scale.training_time"),
        {"C": "flops", "n": "ranks", "F": "peak", "u": "utilization"},
        {"flops": 6 * 70 * billion * 15 * trillion, "ranks": 4096, "peak": _PEAK, "utilization": 0.4},
        "s",
    ),
    Formula(
        *(
            "1.16",
            "Parameters that spend a budget, at r tokens each",
            "N",
            "sqrt(C/(6*r))",
            "ch01.scale.compute_optimal",
        ),
        {"C": "flops", "r": "tokens_per_parameter"},
        {"flops": 5.76e23, "tokens_per_parameter": 20.0},
        place=0,
    ),
    Formula(
        *("1.17", "Fewest devices that hold the states", "n", "max(1, ceil(N*b/(M - r)))", "ch01.scale.minimum_ranks"),
        {"N": "parameters", "b": "bytes_per_parameter", "M": "memory", "r": "reserve"},
        {"parameters": 70 * billion, "bytes_per_parameter": 16.0, "memory": 80 * GB, "reserve": 10 * GB},
    ),
    Formula(
        *("1.8", "Speed-up on a fixed problem (Amdahl)", "A", "1/(s + (1 - s)/n)", "ch01.scaling.amdahl_speedup"),
        {"s": "serial_fraction", "n": "ranks"},
        {"serial_fraction": 0.05, "ranks": 64},
    ),
    Formula(
        *("1.13", "Speed-up on a growing problem (Gustafson)", "G", "s + (1 - s)*n", "ch01.scaling.gustafson_speedup"),
        {"s": "serial_fraction", "n": "ranks"},
        {"serial_fraction": 0.05, "ranks": 64},
    ),
    Formula(
        *("2.6", "Time of one message", "T", "alpha + m/B", "ch02.alpha_beta.message_time"),
        {"m": "message_bytes", "B": "bandwidth", "alpha": "latency"},
        {"message_bytes": 1 * MB, "bandwidth": _PORT, "latency": 5 * us},
        "s",
    ),
    Formula(
        *("2.14", "Time of a relay in chunks", "T", "(h + k - 1)*(alpha + m/(k*B))", "ch02.alpha_beta.relay_time"),
        {"m": "message_bytes", "h": "hops", "k": "chunks", "B": "bandwidth", "alpha": "latency"},
        {"message_bytes": 1 * GB, "hops": 7, "chunks": 64, "bandwidth": _PORT, "latency": 5 * us},
        "s",
    ),
    Formula(
        *("3.8", "Time of a ring all-reduce", "T", "2*(N - 1)*(alpha + S/(N*B))"),
        *("ch03.collective_cost.ring_all_reduce_time", _LINK, _MESSAGE, "s"),
    ),
    Formula(
        *("4.3", "Time of a tree all-reduce", "T", "2*ceil(log2(N))*(alpha + S/B)"),
        *("ch04.all_reduce_algorithms.all_reduce_time", _LINK, _MESSAGE, "s"),
        choice={"algorithm": "tree"},
    ),
    Formula(
        *("4.10", "Time of an all-reduce over two pipelined trees", "T", "2*ceil(log2(N))*alpha + 2*S/B"),
        *("ch04.all_reduce_algorithms.all_reduce_time", _LINK, _MESSAGE, "s"),
        choice={"algorithm": "double_tree"},
    ),
    Formula(
        *("4.13", "Size above which the ring beats the double tree", r"S^{*}", "N*(N - 1 - ceil(log2(N)))*alpha*B"),
        "ch04.all_reduce_algorithms.crossover_bytes",
        {"N": "ranks", "alpha": "latency", "B": "bandwidth"},
        {"ranks": 64, "latency": 5 * us, "bandwidth": _PORT},
        "B",
    ),
    Formula(
        *("4.14", "Time of an all-reduce in two levels", "T"),
        "2*(g - 1)*(alpha_i + S/(g*B_i)) + 2*(n - 1)*(alpha_x + S/(g*n*B_x))",
        "ch04.all_reduce_algorithms.hierarchical_all_reduce_time",
        {
            **{"S": "message_bytes", "n": "nodes", "g": "ranks_per_node", "B_i": "intra_bandwidth"},
            **{"B_x": "inter_bandwidth", "alpha_i": "intra_latency", "alpha_x": "inter_latency"},
        },
        {
            **{"message_bytes": 20 * GB, "nodes": 8, "ranks_per_node": 8, "intra_bandwidth": _NVLINK},
            **{"inter_bandwidth": _PORT, "intra_latency": 5 * us, "inter_latency": 10 * us},
        },
        "s",
    ),
    Formula(
        *("4.6", "Bus bandwidth of an all-reduce", r"B_{\mathrm{bus}}", "2*(N - 1)/N*S/t"),
        *("ch04.bandwidth.bus_bandwidth", {"N": "ranks", "S": "message_bytes", "t": "seconds"}),
        {"ranks": 8, "message_bytes": 1 * GB, "seconds": 4.5 * ms},
        "B/s",
        {"operation": "all_reduce"},
    ),
)

_STATE = {"P": "params", "N": "ranks", "w": "weight_bytes", "g": "gradient_bytes", "o": "optimizer_bytes"}
_STATES_70B = {"params": 70 * billion, "ranks": 64, "weight_bytes": 2.0, "gradient_bytes": 2.0, "optimizer_bytes": 12.0}
_ZERO = ("P*(w + g + o/N)", "P*(w + (g + o)/N)", "P*(w + g + o)/N")

PARALLELISM = (
    *(
        Formula(
            *("5.6", f"Model state on one rank, ZeRO stage {stage}", "M", law, "ch05.zero.zero_memory"),
            *(_STATE, _STATES_70B, "B", {"stage": stage}),
        )
        for stage, law in enumerate(_ZERO, 1)
    ),
    Formula(
        *("5.11", "Time of an accumulated step", "T", "k*t + r + u", "ch05.batching.accumulated_step_time"),
        {"k": "micro_steps", "t": "micro_time", "r": "sync_time", "u": "update_time"},
        {"micro_steps": 8, "micro_time": 300 * ms, "sync_time": 80 * ms, "update_time": 20 * ms},
        "s",
    ),
    Formula(
        *("5.12", "Learning rate after a change of batch, square-root rule", r"\eta", "eta_0*sqrt(b/b_0)"),
        "ch05.batching.scaled_learning_rate",
        {"eta_0": "base", "b_0": "base_batch", "b": "batch"},
        {"base": 3e-4, "base_batch": 256, "batch": 2048},
        choice={"rule": "sqrt"},
    ),
    Formula(
        *("6.6", "Bytes that a rank sends for one layer, both passes", "V", "8*(t - 1)/t*s*b*h*w"),
        "ch06.activations.tensor_parallel_traffic",
        {"s": "sequence", "b": "batch", "h": "hidden", "t": "ranks", "w": "element_bytes"},
        {"sequence": 8192, "batch": 1, "hidden": LLAMA3_70B.hidden, "ranks": 8, "element_bytes": 2},
        "B",
    ),
    Formula(
        *("6.7", "Activations of a GPT-3-like layer with its attention matrix, in bf16", "A", "s*b*h*(34 + 5*a*s/h)"),
        "ch06.layer_memory.stored_by_layer",
        {"s": "sequence", "b": "batch", "h": "hidden", "a": "heads"},
        {"sequence": 2048, "batch": 1, "hidden": 12_288, "heads": 96},
        "B",
    ),
    Formula(
        *("7.3", "Bubble fraction: idle over total time (v > 1: m a multiple of p)", r"\beta", "(p - 1)/(v*m + p - 1)"),
        *("ch07.pipeline.bubble_fraction", _PIPELINE, _STAGES),
    ),
    Formula(
        *("7.3", "Bubble overhead: idle over useful time (v > 1: m a multiple of p)", "o", "(p - 1)/(v*m)"),
        *("ch07.pipeline.bubble_overhead", _PIPELINE, _STAGES),
    ),
    Formula(
        *("7.22", "Capacity of an expert", "C", "ceil(c*T*k/E)", "ch07.experts.expert_capacity"),
        {"T": "tokens", "E": "experts", "k": "top_k", "c": "capacity_factor"},
        {"tokens": 4096, "experts": 8, "top_k": 2, "capacity_factor": 1.25},
        "tokens",
    ),
    Formula(
        *(
            "7.10",
            "Bytes that a rank sends in one all-to-all",
            "V",
            "T*k*h*w*(R - 1)/R",
            "ch07.experts.all_to_all_bytes",
        ),
        {"T": "tokens", "h": "hidden", "k": "top_k", "R": "ranks", "w": "bytes_per_element"},
        {"tokens": 4096, "hidden": 4096, "top_k": 2, "ranks": 8, "bytes_per_element": 2},
        "B",
    ),
)

SERVING = (
    Formula(
        *("8.13", "Tokens of a pass at the ridge", "n", "W*F/(2*N*B)", "ch08.serving.critical_batch_size"),
        {"N": "parameters", "W": "weight_bytes", "F": "peak", "B": "bandwidth"},
        {"parameters": 8e9, "weight_bytes": 16e9, "peak": 989.4e12, "bandwidth": 3.35e12},
    ),
    Formula(
        *("8.16", "Replicas that a load needs", "R", "ceil(r*(f + (n - 1)*t)/b)", "ch08.serving.replicas_needed"),
        {"r": "rate", "f": "ttft", "t": "itl", "n": "output_tokens", "b": "slots"},
        {"rate": 5000.0, "ttft": 0.2, "itl": 0.03, "output_tokens": 300, "slots": 128},
    ),
    Formula(
        *("9.3", "KV cache of one token on one rank", "K", "2*L*max(1, n_kv/t)*d*w"),
        "ch09.kv_cache.kv_bytes_per_token",
        {"L": "layers", "n_kv": "kv_heads", "d": "head_dim", "w": "bytes_per_element", "t": "tensor_parallel"},
        {**_SHAPE_70B, "bytes_per_element": 2.0, "tensor_parallel": 8},
        "B",
    ),
    Formula(
        *(
            "9.14",
            "Tokens that fit in the KV cache",
            "T",
            "max(0, floor((G*(M*u - o) - W)/K))",
            "ch09.kv_cache.kv_capacity_tokens",
        ),
        {
            **{"M": "memory_per_gpu", "G": "gpus", "W": "weight_bytes", "K": "kv_bytes_per_token"},
            **{"u": "usable", "o": "overhead_per_gpu"},
        },
        {
            **{"memory_per_gpu": 80 * GB, "gpus": 4, "weight_bytes": 2 * LLAMA3_70B.parameters},
            **{"kv_bytes_per_token": 327_680, "usable": 0.9, "overhead_per_gpu": 2 * GB},
        },
        "tokens",
    ),
    Formula(
        *("11.5", "Tokens of one target pass", "E", "(1 - alpha**(k + 1))/(1 - alpha)"),
        *("ch11.speculative.expected_tokens", {"alpha": "acceptance", "k": "draft_length"}),
        {"acceptance": 0.8, "draft_length": 5},
        "tokens",
    ),
    Formula(
        *("11.5", "Speed of speculative over plain decoding", "G"),
        *("(1 - alpha**(k + 1))/((1 - alpha)*(k*c + v))", "ch11.speculative.speculative_speedup"),
        {"alpha": "acceptance", "k": "draft_length", "c": "draft_cost", "v": "verify_cost"},
        {"acceptance": 0.8, "draft_length": 5, "draft_cost": 0.05, "verify_cost": 1.0},
    ),
)

_WASTE = "1 - tau/(M*exp(R/M)*(exp((tau + C)/M) - 1))"

RUNS = (
    Formula(
        *("15.2", "Model FLOPs utilization", r"\mathrm{MFU}", "r*c/(n*F)", "ch15.flops.utilization"),
        {"r": "tokens_per_second", "c": "flops_per_token", "n": "gpus", "F": "peak"},
        {
            **{"tokens_per_second": 2.6e6, "flops_per_token": 6 * LLAMA3_405B.parameters},
            **{"gpus": 16_384, "peak": _PEAK},
        },
        place=0,
    ),
    Formula(
        *("15.5", "Time to write a sharded checkpoint", "C", "N*b/min(n*B_w, B_s)"),
        "ch15.checkpointing.checkpoint_write_time",
        {
            **{"N": "parameters", "b": "bytes_per_parameter", "n": "writers"},
            **{"B_w": "writer_bandwidth", "B_s": "storage_bandwidth"},
        },
        {
            **{"parameters": LLAMA3_405B.parameters, "bytes_per_parameter": 12.0, "writers": 16_384},
            **{"writer_bandwidth": 2 * GB, "storage_bandwidth": 2000 * GB},
        },
        "s",
    ),
    Formula(
        *("15.6", "Checkpoint interval, first order (Young)", r"\tau", "sqrt(2*C*M)"),
        *("ch15.checkpointing.optimal_checkpoint_interval", {"C": "checkpoint_time", "M": "mtbf"}),
        {"checkpoint_time": 1 * minute, "mtbf": 3 * hour},
        "s",
        {"method": "young"},
    ),
    Formula(
        *("15.6", "Share of the time that failures and checkpoints waste", "W", _WASTE),
        "ch15.checkpointing.checkpoint_waste",
        {"tau": "interval", "C": "checkpoint_time", "M": "mtbf", "R": "restart_time"},
        {"interval": 1140.0, "checkpoint_time": 1 * minute, "mtbf": 3 * hour, "restart_time": 5 * minute},
    ),
)

FORMULAS = (*FOUNDATIONS, *PARALLELISM, *SERVING, *RUNS)
