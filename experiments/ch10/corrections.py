"""Chapter 10: claims about graphs, overlap and schedulers that are often printed wrong. Standard library only."""

from __future__ import annotations

from rankzero.hardware import H100_SXM
from rankzero.models import LLAMA3_8B
from rankzero.units import ms, us
from solutions.ch08.serving import decode_step_time
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time, padding_waste, published_sizes

from ..correction import Correction

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
    """Launches, and what a graph is."""
    five = eager_time([100 * us] * 5, 50 * us)
    likely = eager_time([100 * us] * 5, 5 * us)
    many = eager_time([2 * us] * 500, 5 * us), graph_time([2 * us] * 500, 10 * us)
    powers, longer = [2**power for power in range(9)], published_sizes(256)
    waste = [100 * padding_waste(range(1, 257), sizes) for sizes in (powers, longer)]
    return (
        Correction(
            "10",
            "A graph saves n launches: five kernels of 100 us with 50 us each to launch take 0.75 ms.",
            f"Launches run ahead of the kernels: {five / ms:.3g} ms, and {likely / ms:.4g} ms with 5 us for a launch.",
            "One launch is not hidden here. Short kernels are another matter: 500 of 2 us take "
            f"{many[0] / ms:.4g} ms one by one and {many[1] / ms:.3g} ms as a graph.",
            _GUIDE,
        ),
        Correction(
            "10",
            "Capture the model once, then call replay() for every request.",
            "Copy each input into the static buffer first, and copy the answer out.",
            "A graph holds addresses. Without the copy it computes the same answer a thousand times.",
            _NOTES,
        ),
        Correction(
            "10",
            "Graphs forbid random numbers, dropout and allocation.",
            "All three work: the generator's offset advances at each replay, memory comes from the graph's pool.",
            "What is forbidden: waiting for the device, shapes and Python branches that depend on data, addresses that "
            "change.",
            _NOTES,
        ),
        Correction(
            "10",
            "Training rarely uses graphs.",
            "Megatron and Transformer Engine capture layers; torch.compile with mode reduce-overhead captures steps.",
            "The learning rate stands in a tensor, and the optimizer is made with capturable=True.",
            _NOTES,
        ),
        Correction(
            "10",
            "Prefill cannot use graphs, and a batch without a graph of its exact size runs eagerly.",
            f"A batch is padded to the next captured size: {len(longer)} sizes waste {waste[1]:.3g} % on uniform "
            f"batches up to 256, {len(powers)} powers of two {waste[0]:.3g} %.",
            "Prefills run in piecewise graphs that leave attention out, or eagerly.",
            _VLLM,
        ),
    )


def _loop() -> tuple[Correction, ...]:
    """What is around the model."""
    cpu, compute = 2.1, 5.2
    steps = [value / ms for value in (_decode(1), _decode(64))]
    turn, side = (overlap_time(20, 2 * ms, 10 * ms, 1 * ms, overlap) / ms for overlap in (False, True))
    serial = 2 + 20 * (10 + 1)
    return (
        Correction(
            "10",
            "The overhead of 2.1 ms on the CPU beside 5.2 ms on the GPU is 40 % in one table and 29 % in the next.",
            f"Both are right: {100 * cpu / compute:.0f} % of the compute, {100 * cpu / (cpu + compute):.0f} % of the "
            "step.",
            "Say of what. This course takes the step.",
            "division",
        ),
        Correction(
            "10",
            "Decode takes 5.2 ms at batch 1 and 45.2 ms at batch 64, so the overhead vanishes in large batches.",
            f"Llama 3 8B with 2,048 tokens each on an H100: {steps[0]:.3g} ms and {steps[1]:.3g} ms.",
            f"The weights are read once for all; 64 sequences cost {steps[1] / steps[0]:.2g} times one, not "
            f"{45.2 / 5.2:.2g} times.",
            _ROOFLINE,
        ),
        Correction(
            "10",
            "Small batches spend more time scheduling than computing: 2 ms against 5 ms.",
            f"2 ms is less than 5 ms: {100 * 2 / (2 + 5):.0f} % of the step.",
            "The weights are read for one sequence as for many, so that a small batch is not a short step.",
            _ROOFLINE,
        ),
        Correction(
            "10",
            "Overlap hides the scheduling; processing the results stays serial.",
            f"Both hide: 20 steps of 2, 10 and 1 ms take {side:.0f} ms, in turn {turn:.0f} ms; {serial} ms with serial "
            "processing.",
            "The results of step N are read while step N+1 runs.",
            f"{_NANOFLOW}; {_SGLANG}",
        ),
        Correction(
            "10",
            "An `async def` loop overlaps with the server.",
            "Without an `await` that waits it overlaps with nothing: the server stands still until it ends.",
            "Coroutines change places only where one of them waits. A loop that computes belongs into a thread.",
            _ASYNCIO,
        ),
        Correction(
            "10",
            "Overlap is free.",
            f"It costs one wasted token for each request that says EOS: 1 of {300 + 1} when 300 are wanted.",
            "The CPU reads the token when the next step runs already.",
            _SGLANG,
        ),
        Correction(
            "10",
            "An overlap benchmark made of sleeps shows the gain.",
            "It shows the timer. All runs of this chapter compute.",
            "A thread that sleeps needs no core and no lock; one that computes needs both.",
            _ASYNCIO,
        ),
    )


CORRECTIONS = (*_graphs(), *_loop())
