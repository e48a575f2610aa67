"""Further right programs for the items of chapter 10."""

from __future__ import annotations

import itertools
import math

from solutions.ch10.scheduling import capture_size, overlap_time
from tools.luck import Right


def latest_row(kernel_times, launch_time):
    """The end is that of the launch that was waited for last and of all kernels from there on."""
    ends = [(place + 1) * launch_time + sum(kernel_times[place:]) for place in range(len(kernel_times))]
    return max(ends, default=0.0)


def kernel_after_kernel(kernel_times, replay_time):
    *_, end = itertools.accumulate(kernel_times, initial=replay_time)
    return end if kernel_times else 0.0


def shares_of_sizes(batches, sizes):
    """Graph by graph: the share that each has of all rows, times what it wastes."""
    used = {}
    for batch in batches:
        size = capture_size(batch, sizes)
        if size:
            used.setdefault(size, []).append(batch)
    rows = sum(size * len(own) for size, own in used.items())
    return sum(size * len(own) / rows * (1 - sum(own) / len(own) / size) for size, own in used.items()) + 0.0


def rows_of_both(steps, schedule, compute, post, overlap=True):
    """Lists of the moments at which each step is launched, ended and processed."""
    if not overlap:
        return math.fsum([schedule, compute, post] * steps)
    launched, ended, processed = [], [], []
    for step in range(steps):
        if step > 1:
            processed.append(max(launched[-1], ended[-2]) + post)
        launched.append((processed[-1] if processed else launched[-1] if launched else 0.0) + schedule)
        ended.append(max(launched[-1], ended[-1] if ended else 0.0) + compute)
    if steps > 1:
        processed.append(max(launched[-1], ended[-2]) + post)
    return max(ended[-1], *processed, 0.0) + post if steps else 0.0


def in_milliseconds(steps, schedule, compute, post, overlap=True):
    return overlap_time(steps, 1e3 * schedule, 1e3 * compute, 1e3 * post, overlap) / 1e3


RIGHT = {
    "10-eager-time": (
        Right("the latest of all ways", program=latest_row),
        Right(
            "launches added up",
            edits=(
                (
                    "    for place, kernel in enumerate(kernel_times):\n"
                    "        end = max(end, (place + 1) * launch_time) + kernel\n",
                    "    launched = 0.0\n    for kernel in kernel_times:\n        launched += launch_time\n"
                    "        end = kernel + (launched if launched > end else end)\n",
                ),
            ),
        ),
    ),
    "10-graph-time": (
        Right("kernel after kernel", program=kernel_after_kernel),
        Right("summed in one go", edits=(("replay_time + sum(kernel_times)", "sum([*kernel_times, replay_time])"),)),
    ),
    "10-padding-waste": (
        Right("what is not useful", edits=(("padded / run if run", "1 - (run - padded) / run if run"),)),
        Right("the shares of the sizes", program=shares_of_sizes),
    ),
    "10-overlap-time": (
        Right("lists of moments", program=rows_of_both),
        Right("in milliseconds", program=in_milliseconds),
    ),
    "10-debug-graph": (
        Right("assigned in place", edits=(("x.copy_(new)", "x[:] = new"),)),
        Right("copied into a tensor of its own", edits=(("return y.clone()", "return torch.empty_like(y).copy_(y)"),)),
    ),
    "10-graph-runner": (
        Right(
            "only the padding is zeroed",
            edits=(
                (
                    "        static_input.zero_()\n        static_input[: len(x)].copy_(x)\n",
                    "        static_input[: len(x)] = x\n        static_input[len(x) :] = 0\n",
                ),
            ),
        ),
        Right(
            "detached instead of computed without gradients",
            edits=(
                (
                    "            with torch.no_grad():\n                return self._model(x)\n",
                    "            return self._model(x).detach()\n",
                ),
            ),
        ),
    ),
}
