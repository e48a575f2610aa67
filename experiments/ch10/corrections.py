"""Chapter 10: when graphs and overlap pay. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import ms, us
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time, padding_waste, published_sizes

from ..correction import Correction, worked

_GUIDE = "NVIDIA, CUDA C++ Programming Guide, sections on asynchronous execution and CUDA Graphs"
_VLLM = (
    "vLLM, [vllm/config/compilation.py](https://github.com/vllm-project/vllm/blob/"
    "ee525ce4fc8c9cfdedbbad878dcb2bccbb3c4b95/vllm/config/compilation.py), cudagraph_capture_sizes"
)
_NANOFLOW = "Zhu et al. (2024), arXiv:2408.12757"
_SGLANG = (
    "SGLang, [tp_worker_overlap_thread.py](https://github.com/sgl-project/sglang/blob/"
    "00a44dee4d77f70b92874109cf669d6bad85693f/python/sglang/srt/managers/tp_worker_overlap_thread.py)"
)

_LONG, _SHORT = worked(eager_time, [100 * us] * 5, 5 * us), worked(eager_time, [2 * us] * 500, 5 * us)
_GRAPH = worked(graph_time, [2 * us] * 500, 10 * us)

_POWERS, _SIZES = [2**power for power in range(9)], published_sizes(256)


def waste(sizes: list[int]) -> float:
    """The share of padding if batches of 1 to 256 are equally likely."""
    return padding_waste(range(1, 257), sizes)


_COARSE, _FINE = worked(waste, _POWERS), worked(waste, _SIZES)

_TURN, _SIDE = (worked(overlap_time, 20, 2 * ms, 10 * ms, 1 * ms, overlap=overlap) for overlap in (False, True))
#: Tokens of an answer.
_WANTED = 300

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "10.8",
        "A graph saves only launches that nobody hides",
        "A CUDA graph of n kernels saves n launches.",
        "Launches run ahead of the kernels, so most of them are hidden while the kernels are long: five of 100 µs "
        f"with 5 µs to launch take {_LONG.value / ms:.4g} ms one by one, and only the first launch shows. For 500 "
        f"kernels of 2 µs the CPU is the limit: {_SHORT.value / ms:.4g} ms, and {_GRAPH.value / ms:.3g} ms as a graph.",
        (_LONG, _SHORT, _GRAPH),
        _GUIDE,
    ),
    Correction(
        "10.16",
        "A batch without a graph of its own is padded",
        "A graph serves one batch size only, so most batches run eagerly.",
        "A graph does have one size, but a smaller batch is padded to the next size that was captured, and the rows "
        f"added are thrown away. If batches up to 256 are equally likely, {len(_POWERS)} powers of two compute "
        f"{_COARSE.value:.1%} for nothing and vLLM's {len(_SIZES)} sizes {_FINE.value:.1%}; decode reads the weights "
        "once anyway, so the rows cost less than their share.",
        (_COARSE, _FINE),
        _VLLM,
    ),
    Correction(
        "10.9",
        "Overlap hides the scheduler and costs a token",
        "Overlapping the scheduler with the GPU is free.",
        f"It hides scheduling and the handling of results: 20 steps of 2, 10 and 1 ms take {_SIDE.value / ms:.0f} ms "
        f"in place of {_TURN.value / ms:.0f} ms. But the CPU reads a token when the next step is already running, so "
        f"each request that ends with EOS computes one token too many: 1 of {_WANTED + 1} where {_WANTED} are wanted, "
        "and a larger share of short answers.",
        (_TURN, _SIDE),
        f"{_NANOFLOW}; {_SGLANG}",
    ),
)
