"""Further right programs for the items of chapter 8."""

from __future__ import annotations

import asyncio
import itertools
import statistics

from solutions.ch08.serving import RequestMetrics
from tools.luck import Right


async def sleep_in_two_parts(latency_ms):
    seconds, rest = divmod(latency_ms, 1000)
    await asyncio.sleep(seconds)
    await asyncio.sleep(rest / 1000)


def sleep_by_a_timer(latency_ms):
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_later(latency_ms / 1000, done.set_result, None)
    return done


def metrics_from_gaps(arrival, token_times):
    times = [arrival, *token_times]
    ttft, *itls = (later - earlier for earlier, later in itertools.pairwise(times))
    return RequestMetrics(ttft, statistics.fmean(itls) if itls else None, ttft + sum(itls), tuple(itls))


def probabilities_by_comparison(logits, temperature=1.0, top_k=0, top_p=1.0):
    """Each token finds out for itself how much is more probable than it: nothing is sorted."""
    if temperature == 0:
        largest = logits == logits.amax(-1, keepdim=True)
        return (largest & (largest.cumsum(-1) == 1)).to(logits.dtype)
    mine, other = logits.unsqueeze(-1), logits.unsqueeze(-2)
    earlier = logits.new_ones(logits.shape[-1:] * 2).tril(-1).bool()
    above = (other > mine) | ((other == mine) & earlier)  # [..., token, more probable]
    kept = above.sum(-1) < (top_k or logits.shape[-1])
    weights = ((logits - logits.amax(-1, keepdim=True)) / temperature).exp() * kept
    weights = weights / weights.sum(-1, keepdim=True)
    if top_p < 1:
        weights = weights * ((above * weights.unsqueeze(-2)).sum(-1) < top_p)
    return weights / weights.sum(-1, keepdim=True)


RIGHT = {
    "08-debug-kv-room": (
        Right(
            "in bytes",
            edits=(
                (
                    "room = gpu_gb - billions * bytes_per_parameter",
                    "room = (gpu_gb * 1e9 - billions * 1e9 * bytes_per_parameter) / 1e9",
                ),
            ),
        ),
        Right(
            "the share that is left",
            edits=(
                (
                    "room = gpu_gb - billions * bytes_per_parameter",
                    "room = gpu_gb * (1 - billions * bytes_per_parameter / gpu_gb)",
                ),
            ),
        ),
    ),
    "08-debug-sleep": (
        Right("multiplied by a thousandth", edits=(("latency_ms / 1000", "latency_ms * 1e-3"),)),
        Right("whole seconds, then the rest", program=sleep_in_two_parts),
        Right("a timer of the running loop", program=sleep_by_a_timer),
    ),
    "08-prefill-time": (
        Right(
            "the prompt's length factored out",
            edits=(
                (
                    "2 * parameters * prompt_tokens + 2 * layers * hidden * prompt_tokens**2",
                    "2 * prompt_tokens * (parameters + layers * hidden * prompt_tokens)",
                ),
            ),
        ),
        Right(
            "the times of matrices and attention added",
            edits=(
                (
                    "max(operations / peak,",
                    "max(2 * parameters / peak * prompt_tokens + hidden / peak * layers * (2 * prompt_tokens**2),",
                ),
            ),
        ),
    ),
    "08-decode-step-time": (
        Right(
            "every sequence's reading added to that of the weights",
            edits=(
                (
                    "read / bandwidth)",
                    "sum((kv_bytes_per_token * one / bandwidth for one in contexts), weight_bytes / bandwidth))",
                ),
            ),
        ),
        Right(
            "compared as bytes",
            edits=(
                (
                    "return max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                    "return max(len(contexts) * (bandwidth / peak) * 2 * parameters, read) / bandwidth",
                ),
            ),
        ),
    ),
    "08-critical-batch-size": (
        Right(
            "in bytes",
            edits=(
                (
                    "gain = 2 * parameters / peak - kv_bytes_per_token * context / bandwidth",
                    "gain = 2 * parameters / peak * bandwidth - kv_bytes_per_token * context",
                ),
                ("weight_bytes / bandwidth / gain", "weight_bytes / gain"),
            ),
        ),
        Right(
            "the batch without a cache, stretched",
            edits=(
                (
                    "gain = 2 * parameters / peak - kv_bytes_per_token * context / bandwidth",
                    "gain = 1 - kv_bytes_per_token * context * peak / (2 * parameters * bandwidth)",
                ),
                ("weight_bytes / bandwidth / gain", "weight_bytes / (2 * parameters) * (peak / bandwidth) / gain"),
            ),
        ),
    ),
    "08-request-metrics": (
        Right("everything from the gaps", program=metrics_from_gaps),
        Right(
            "times counted from the arrival",
            edits=(
                (
                    "    first, last = token_times[0], token_times[-1]\n",
                    "    token_times = [time - arrival for time in token_times]\n"
                    "    arrival, first, last = 0.0, token_times[0], token_times[-1]\n",
                ),
            ),
        ),
    ),
    "08-replicas-needed": (
        Right(
            "compared with the number below",
            edits=(
                (
                    "    return math.ceil(in_flight / slots * (1 - 1e-9))",
                    "    below = math.floor(in_flight / slots)\n"
                    "    return below + (in_flight > below * slots * (1 + 1e-9))",
                ),
            ),
        ),
        Right(
            "seconds per replica",
            edits=(
                ("in_flight / slots * (1 - 1e-9)", "rate / (slots / inside) - 1e-9 * rate * inside / slots"),
                (
                    "in_flight = rate * (ttft + (output_tokens - 1) * itl)",
                    "inside = ttft + output_tokens * itl - itl or 1e-300",
                ),
            ),
        ),
    ),
    "08-next-token-probabilities": (
        Right("compared with each other, not sorted", program=probabilities_by_comparison),
        Right(
            "double precision inside",
            edits=(
                ("(logits / temperature).sort", "(logits.double() / temperature).sort"),
                (
                    "return torch.zeros_like(probabilities).scatter(-1, order, probabilities)",
                    "return torch.zeros_like(probabilities).scatter(-1, order, probabilities).to(logits.dtype)",
                ),
            ),
        ),
    ),
}
