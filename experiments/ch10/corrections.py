"""Chapter 10: wrong claims about graphs, overlap and schedulers, and what is right. Standard library only."""

from __future__ import annotations

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import ms, us
from solutions.ch08.serving import decode_step_time
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time, padding_waste, published_sizes

from ..correction import MLSYS, Correction

_NOTES = "PyTorch documentation, CUDA semantics, section CUDA Graphs"
_GUIDE = "NVIDIA, CUDA C++ Programming Guide, sections on asynchronous execution and CUDA Graphs"
_VLLM = "vLLM, CompilationConfig.cudagraph_capture_sizes"
_SGLANG = "SGLang v0.4, the zero-overhead batch scheduler"
_NANOFLOW = "Zhu et al. (2024), arXiv:2408.12757"
_ROOFLINE = "Williams, Waterman and Patterson (2009), doi:10.1145/1498765.1498785"
_ASYNCIO = "Python documentation, asyncio, Developing with asyncio"

#: Bytes of keys and values of one token of Llama 3 8B in bf16.
_KV = 2 * 2 * LLAMA3_8B.layers * LLAMA3_8B.kv_heads * LLAMA3_8B.head_dim


def _decode(batch: int, context: int = 2048) -> float:
    model, gpu = LLAMA3_8B, H100_SXM
    weights = 2 * model.parameters
    return decode_step_time(model.parameters, weights, _KV, [context] * batch, gpu.peak_bf16, gpu.memory_bandwidth)


def _graphs() -> tuple[Correction, ...]:
    """Kernel launches and CUDA graphs."""
    five = eager_time([100 * us] * 5, 50 * us)
    likely = eager_time([100 * us] * 5, 5 * us)
    many = eager_time([2 * us] * 500, 5 * us), graph_time([2 * us] * 500, 10 * us)
    powers, longer = [2**power for power in range(9)], published_sizes(256)
    waste = [100 * padding_waste(range(1, 257), sizes) for sizes in (powers, longer)]
    return (
        Correction(
            "10.1",
            "A graph saves n launches: five kernels of 100 µs with 50 µs each to launch take 0.75 ms.",
            f"Launches run ahead of the kernels, so they take {five / ms:.3g} ms, and {likely / ms:.4g} ms with 5 µs "
            "per launch.",
            "Only one launch is exposed here. Short kernels are another matter: 500 of 2 µs take "
            f"{many[0] / ms:.4g} ms one by one and {many[1] / ms:.3g} ms as a graph.",
            _GUIDE,
            matters="Graphs are introduced where the device was the limit all along.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter10-scheduling-cuda/scripts/cuda_graph_simple.py",),
        ),
        Correction(
            "10.2",
            "Capture the model once, then call replay() for every request.",
            "For each request, first copy the input into the static buffer, then replay, then copy the answer out.",
            "A graph holds addresses. Without the copy it computes the same answer every time.",
            _NOTES,
            matters="Every request gets the answer of the first.",
            places=(f"{MLSYS}, src/part3-inference/chapter10.md",),
        ),
        Correction(
            "10.2",
            "Graphs forbid random numbers, dropout and allocation.",
            "All three work: the generator's offset advances at each replay, and memory comes from the graph's pool.",
            "Graphs forbid waiting for the device, shapes and Python branches that depend on data, and addresses that "
            "change.",
            _NOTES,
            matters="Models that could be captured are left to run eagerly.",
            places=(f"{MLSYS}, src/part3-inference/chapter10.md",),
        ),
        Correction(
            "10.2",
            "Training rarely uses graphs.",
            "Megatron and Transformer Engine capture layers; torch.compile with mode reduce-overhead captures steps.",
            "Keep the learning rate in a tensor, and create the optimizer with capturable=True.",
            _NOTES,
            matters="A tool is overlooked that training at scale relies on.",
            places=(f"{MLSYS}, src/part3-inference/chapter10.md",),
        ),
        Correction(
            "10.3",
            "Prefill cannot use graphs, and a batch without a graph of its exact size runs eagerly.",
            f"A batch is padded to the next captured size: {len(longer)} sizes waste {waste[1]:.3g} % on uniform "
            f"batches up to 256, and {len(powers)} powers of two {waste[0]:.3g} %.",
            "Prefills run in piecewise graphs that leave attention out, or eagerly.",
            _VLLM,
            matters="Serving gives up graphs for most of its batches.",
            places=(f"{MLSYS}, tutorial/part3-inference/chapter10-scheduling-cuda/scripts/cuda_graph_simple.py",),
        ),
    )


def _loop() -> tuple[Correction, ...]:
    """The loop around the model."""
    cpu, compute = 2.1, 5.2
    steps = [value / ms for value in (_decode(1), _decode(64))]
    turn, side = (overlap_time(20, 2 * ms, 10 * ms, 1 * ms, overlap) / ms for overlap in (False, True))
    serial = 2 + 20 * (10 + 1)
    return (
        Correction(
            "10.4",
            "The overhead of 2.1 ms on the CPU beside 5.2 ms on the GPU is 40 % in one table and 29 % in the next.",
            f"Both are right: {100 * cpu / compute:.0f} % of the compute, {100 * cpu / (cpu + compute):.0f} % of the "
            "step.",
            "Say what the share is of. This course uses the whole step.",
            "division",
            matters="Two right figures look like a contradiction.",
        ),
        Correction(
            "10.4",
            "Decode takes 5.2 ms at batch 1 and 45.2 ms at batch 64, so the overhead vanishes in large batches.",
            f"Llama 3 8B with 2,048 tokens per sequence takes {steps[0]:.3g} ms and {steps[1]:.3g} ms on an H100.",
            f"The weights are read once for all; 64 sequences cost {steps[1] / steps[0]:.2g} times one, not "
            f"{45.2 / 5.2:.2g} times.",
            _ROOFLINE,
            matters="Optimizing the CPU looks pointless exactly where it still pays.",
            places=(f"{MLSYS}, src/part3-inference/chapter10-benchmark.md",),
        ),
        Correction(
            "10.4",
            "Small batches spend more time scheduling than computing: 2 ms against 5 ms.",
            f"2 ms is less than 5 ms: {100 * 2 / (2 + 5):.0f} % of the step.",
            "The weights are read for one sequence as for many, so a small batch does not make a short step.",
            _ROOFLINE,
            matters="The wrong side of the engine is optimized.",
            places=(f"{MLSYS}, src/part3-inference/chapter10-benchmark.md",),
        ),
        Correction(
            "10.5",
            "Overlap hides the scheduling; processing the results stays serial.",
            f"Both are hidden: 20 steps of 2, 10 and 1 ms take {side:.0f} ms instead of {turn:.0f} ms in turn; "
            f"{serial} ms with serial processing.",
            "The results of step N are read while step N+1 runs.",
            f"{_NANOFLOW}; {_SGLANG}",
            matters="The engine is left with a gap in every step.",
            places=(
                f"{MLSYS}, tutorial/part3-inference/chapter10-scheduling-cuda/scripts/scheduling_overhead_benchmark.py",
            ),
        ),
        Correction(
            "10.5",
            "An `async def` loop overlaps with the server.",
            "Without an `await` that really waits it overlaps with nothing: the server is blocked until it ends.",
            "Coroutines switch only where one of them waits. A loop that computes belongs in a thread.",
            _ASYNCIO,
            matters="Requests wait while the loop blocks the server.",
            places=(f"{MLSYS}, src/part3-inference/chapter10.md",),
        ),
        Correction(
            "10.6",
            "Overlap is free.",
            f"It costs one wasted token for each request that says EOS: 1 of {300 + 1} when 300 are wanted.",
            "The CPU reads the token only when the next step is already running.",
            _SGLANG,
            matters="Tokens per second are promised that the engine spends on nothing.",
        ),
        Correction(
            "10.5",
            "An overlap benchmark made of sleeps shows the gain.",
            "It shows the timer. All runs of this chapter compute.",
            "A thread that sleeps needs no core and no lock; one that computes needs both.",
            _ASYNCIO,
            matters="A design that would not overlap real work passes its benchmark.",
            places=(
                f"{MLSYS}, tutorial/part3-inference/chapter10-scheduling-cuda/scripts/scheduling_overhead_benchmark.py",
            ),
        ),
    )


CORRECTIONS = (*_graphs(), *_loop())
