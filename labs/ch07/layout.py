# Generated from solutions/ch07/layout.py by make stubs. Write the bodies; names and signatures stay.
"""The layout advisor: which layouts fit, and which of them is fastest. Standard library only.

>>> from rankzero.facts.layouts import Job
>>> from rankzero.facts.models import LLAMA3_8B
>>> job = Job(LLAMA3_8B, gpus=8, global_batch=512, sequence=8192)
>>> best = choose_layout(job)
>>> str(best), round(step_time(best, job), 4)
('DP8 ZeRO-3', 45.4588)
"""

from rankzero import checks


def layout_memory(layout: "Layout", job: "Job") -> tuple[float, float]:
    """What the fullest GPU of a layout holds: bytes of states, and bytes of activations.

    Parameters of one layer, in a block: attention ``h q + 2 h kv + q h`` (q and kv are the heads, and the key-value
    heads, times ``head_dim``) and two norms of h; for a dense model the feed-forward, 3 (gated) or 2 matrices of
    h by ``ffn``; for a mixture the router, h times ``experts``, and ``shared_experts`` experts. An expert has 3 or 2
    matrices of h by ``expert_ffn``. Biases and learned positions are left out.

    A stage has Ls = ceil(layers / pp) layers. One GPU of it holds P = (Ls block + ends) / tp parameters that all
    tokens use, where the ends are one matrix of ``vocab`` by h in a pipeline, and without one both of them (one if
    they are tied) and the last norm; and X = Ls experts expert / (tp ep) parameters of experts. P is divided among
    z = dp cp ranks, X among z / ep. Bytes per parameter: 2 of weights (over z with ZeRO-3), 2 of gradients (over z
    with ZeRO-2 and 3), 12 of optimizer states (over z).

    For each token a layer keeps 2 (4 h + 2 q + 2 kv + 4 f) bytes (h is ``hidden``), or without a gate 2 (5 h + 2 q +
    2 kv + 2 f), which counts masks of dropout. f is ``ffn``, for a mixture (``top_k + shared_experts``) ``expert_ffn``;
    tokens on their way to experts are left out. A micro-batch has ``micro_batch`` sequences of ``sequence`` tokens,
    divided by tp cp. A rank holds min(m, pp) micro-batches of all its layers, or with v = ``virtual_stages`` > 1
    min(m, pp + (pp - 1) / v), where m = global_batch / (dp ``micro_batch``). With recomputation a layer keeps 2 h
    bytes per token instead, and one layer is there in full.

    Args:
        layout: how the job lies on the GPUs. Its sizes are at least 1, ``tp cp pp dp`` is ``gpus``, ``ep`` divides
            ``dp``, and ``zero`` is 1, 2 or 3. In grading it and the job are records with their fields alone.
        job: the model, its batch and its GPUs; the batch is divisible by ``dp`` micro-batches.

    Source: Rajbhandari et al. (2020), arXiv:1910.02054; for activations chapter 6, with flash attention and sequence
    parallelism: Korthikanti et al. (2022), arXiv:2205.05198, section 4.
    """
    _check_layout(layout, job)
    raise NotImplementedError("07-layout-memory: not written yet")


def choose_layout(job: "Job", limit: float | None = None) -> "Layout | None":
    """The layout of a job with the least step time among those that fit.

    Of ``candidates(job)``, those fit whose states and activations together, by ``layout_memory``, take at most the
    memory of a GPU less the job's reserve. Step times that agree within a relative 1e-9 are a tie: then the least
    product ``tp cp pp ep`` wins, then the least ``zero``, then ``virtual_stages``, then no recomputation.

    Call ``candidates(job)``, ``layout_memory(layout, job)`` and ``step_time(layout, job)`` by these names, and import
    none of them beside the function: where it is checked or graded, all three are there. To call it yourself, run
    ``from solutions.ch07.layout import candidates, step_time`` in a cell of its own.

    Args:
        job: the model, its batch and its GPUs.
        limit: bytes of one GPU in place of ``job.gpu_memory``.

    Returns:
        The best layout, or None when none fits.
    """
    raise NotImplementedError("07-choose-layout: not written yet")


def debug_validate(gpus: int, tp: int, cp: int, pp: int, dp: int) -> int:
    """The GPUs of one replica of the model, when the mesh takes exactly the GPUs that there are.

    The check lets TP 8, PP 16, DP 4 with CP 16 pass on 16,384 GPUs.

    Args:
        gpus: how many there are, at least 1.
        tp, cp, pp, dp: the sizes of the mesh, each at least 1.

    Raises:
        ValueError: the mesh takes another number of GPUs than there are; the message holds both.
    """
    checks.count(gpus=gpus, tp=tp, cp=cp, pp=pp, dp=dp)
    if tp * pp * dp > gpus:
        raise ValueError(f"tp * pp * dp must be at most {gpus}, got {tp * pp * dp}")
    return tp * cp * pp


def debug_impossible(parameters: float, gpu_memory: float) -> tuple[int, int] | None:
    """Sizes (tp, pp) for a model by a rule of thumb, or None when its bf16 weights alone do not fit so.

    The rule: (1, 1) below 10 billion parameters, (8, 1) below 100 billion, (8, 4) from there on. Weights take 2 bytes
    per parameter, divided among tp pp GPUs; they fit when a GPU's share is at most its memory.

    Args:
        parameters: of the model; positive.
        gpu_memory: of one GPU, bytes; positive.
    """
    checks.positive(parameters=parameters, gpu_memory=gpu_memory)
    return (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)


def _check_layout(layout: "Layout", job: "Job") -> None:
    """Every size is at least 1, and the sizes divide the job."""
    checks.count(tp=layout.tp, cp=layout.cp, pp=layout.pp, dp=layout.dp)
    checks.count(ep=layout.ep, virtual_stages=layout.virtual_stages)
    checks.one_of((1, 2, 3), zero=layout.zero)
    taken = layout.tp * layout.cp * layout.pp * layout.dp
    checks.require(taken == job.gpus, f"take {job.gpus} GPUs", layout=taken)
    checks.require(layout.dp % layout.ep == 0, f"divide dp = {layout.dp}", ep=layout.ep)
    at_once = layout.dp * job.micro_batch
    checks.require(job.global_batch % at_once == 0, f"be a multiple of {at_once}", global_batch=job.global_batch)
