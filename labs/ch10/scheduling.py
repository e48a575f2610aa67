# Generated from solutions/ch10/scheduling.py by make stubs. Write the bodies; names and signatures stay.
"""The CPU's share of a step on an accelerator: launches, graphs, padding, overlap. Standard library only.

Launches are asynchronous: the CPU enqueues kernels one after the other, the GPU runs what has been enqueued, in order.
Times are in seconds.

>>> from rankzero.facts.units import us
>>> round(eager_time([100 * us] * 5, 50 * us) / us)
550
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from rankzero import checks


def eager_time(kernel_times: Sequence[float], launch_time: float) -> float:
    """Time of a sequence of kernels that are launched one by one, in seconds.

    The launch of kernel i ends at ``(i + 1) * launch_time``. A kernel starts when it has been launched and the kernel
    before it has ended. The time runs from the first launch's start to the last kernel's end.

    Args:
        kernel_times: of each kernel on the GPU, seconds; not negative. Without kernels the time is 0.
        launch_time: of one launch on the CPU, seconds; not negative.
    """
    checks.amount(kernel_times=kernel_times, launch_time=launch_time)
    raise NotImplementedError("10-eager-time: not written yet")


def graph_time(kernel_times: Sequence[float], replay_time: float) -> float:
    """Time of the same kernels as one graph, in seconds: one launch for all, then each right after the one before.

    Args:
        kernel_times: of each kernel on the GPU, seconds; not negative. Without kernels the time is 0.
        replay_time: of the launch of the graph on the CPU, seconds; not negative.
    """
    checks.amount(kernel_times=kernel_times, replay_time=replay_time)
    raise NotImplementedError("10-graph-time: not written yet")


def published_sizes(most: int) -> list[int]:
    """Batch sizes that vLLM captures by default, up to ``most``: 1, 2, 4, then every 8th, from 256 on every 16th."""
    return [size for size in (1, 2, 4, *range(8, 256, 8), *range(256, most + 1, 16)) if size <= most]


def capture_size(batch: int, sizes: Sequence[int]) -> int | None:
    """The captured batch size that a batch is padded to: the smallest that is large enough.

    Args:
        batch: rows; at least 1.
        sizes: batch sizes for which there is a graph, in any order; each at least 1.

    Returns:
        None when the batch is larger than all of them: then it runs without a graph, one kernel after the other.

    Source: vLLM, ``CompilationConfig.cudagraph_capture_sizes``.
    """
    checks.count(batch=batch, sizes=sizes)
    raise NotImplementedError("10-capture-size: not written yet")


def padding_waste(batches: Iterable[int], sizes: Sequence[int]) -> float:
    """The share of padded rows among all rows that run in graphs.

    Args:
        batches: the batch of each step; each at least 1. Walked through once. A batch that has no graph counts nowhere.
        sizes: batch sizes for which there is a graph, in any order, which stays; each at least 1.

    Returns:
        From 0 to below 1; 0.0 when no batch has a graph.
    """
    checks.count(sizes=sizes)
    raise NotImplementedError("10-padding-waste: not written yet")


def overlap_time(steps: int, schedule: float, compute: float, post: float, overlap: bool = True) -> float:
    """Time of a number of engine steps, from the first schedule to the last post-processing, in seconds.

    Without overlap, each step is ``schedule``, ``compute`` and ``post``, one after the other.

    With ``overlap`` the CPU schedules a step and launches it; the device starts it at that moment, or when it has ended
    the step before. Then the CPU processes the step *before*, as soon as the device has ended that one, and goes on to
    the next step. After the last step it waits for the device, and processes it.

    Args:
        steps: an integer, not negative; 0 steps take no time.
        schedule: of one step, on the CPU, seconds; not negative.
        compute: of one step, on the device, seconds; not negative.
        post: processing of one step's results, on the CPU, seconds; not negative.
        overlap: whether the CPU works while the device does; without it the steps run in turn.

    Source: Zhu et al. (2024), NanoFlow, arXiv:2408.12757; SGLang v0.4, the zero-overhead batch scheduler.
    """
    checks.count(0, steps=steps)
    checks.amount(schedule=schedule, compute=compute, post=post)
    raise NotImplementedError("10-overlap-time: not written yet")


def debug_yield(step: Callable[[], bool]) -> Coroutine[Any, Any, int]:
    """A loop that runs ``step()`` until it returns False, as a coroutine; it gives how often it ran.

    It shares an event loop with others. While the loop below runs, an HTTP server in the same event loop answers
    nobody. Correct it: after every step, all others that are ready get a turn before the next step begins.

    Args:
        step: one step of the engine; True while there is more to do.
    """
    count = 0

    async def loop():
        nonlocal count
        more = True
        while more:
            more = step()
            count += 1
        return count

    return loop()


def debug_budget(
    arrivals: Sequence[int], prompts: Sequence[int], outputs: Sequence[int], budget: int
) -> list[list[int]]:
    """The tokens of every request in every step of a server with a budget per step, until all are finished.

    In each step those that decode get one token each, then those whose prompts are not yet computed get what is left of
    the budget, as much as they need; both in the order of their numbers. The step that ends a prompt yields the first
    output token, and each decode one more. Memory is not a limit here.

    With the program below, streams stall while a prompt is computed. Correct it.

    Args:
        arrivals: of each request, the first step in which it may run; not negative.
        prompts: tokens of each prompt; at least 1.
        outputs: tokens that each generates; at least 1.
        budget: tokens of one step; at least 1.

    Returns:
        ``steps[s][i]``, the tokens that request i computes in step s; a step in which nobody runs is all zeros.
    """
    checks.count(0, arrivals=arrivals)
    checks.count(prompts=prompts, outputs=outputs, budget=budget)
    missing, unsaid = list(prompts), list(outputs)
    steps: list[list[int]] = []
    while any(unsaid):
        left, step = budget, [0] * len(prompts)
        here = [i for i, arrival in enumerate(arrivals) if arrival <= len(steps) and unsaid[i]]
        filling = [i for i in here if missing[i]]
        for i in filling + [i for i in here if not missing[i]]:
            step[i] = min(missing[i] or 1, left)
            left -= step[i]
            missing[i] -= min(missing[i], step[i])
            unsaid[i] -= step[i] > 0 and not missing[i]
        steps.append(step)
    return steps
