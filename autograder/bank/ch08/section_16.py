"""Section 8.16, How many replicas: its questions."""

from __future__ import annotations

from autograder.bank.ch08.quantities import BANDWIDTH, KV_70B, PEAK
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms

models = lazily("rankzero.facts.models")
serving = lazily("solutions.ch08.serving")


def _handoff(bandwidth: float = 50e9, kv: int = KV_70B) -> float:
    """Seconds."""
    return 4096 * kv / bandwidth


def _step_70b(gpus: int, requests: int) -> float:
    """Seconds of a step of one replica, Llama 3 70B in bf16 at 4,096 tokens."""
    n = models.LLAMA3_70B.parameters
    return serving.pass_time(requests, [4096] * requests, n, 2 * n, KV_70B, gpus * PEAK, gpus * BANDWIDTH)


def _fitting(gpus: int, share: float = 1.0, usable: float = 0.9) -> int:
    """Requests of 4,096 tokens beside ``share`` of the weights, with the ``usable`` part of 80 GB per GPU."""
    room = usable * 80 * GB * gpus - share * 2 * models.LLAMA3_70B.parameters
    return int(room // (4096 * KV_70B))


QUESTIONS = (
    Question(
        id="08-little-rate",
        kind="derive",
        title="Throughput from what is inside",
        section="8.16",
        ask="throughput",
        unit="requests/s",
        answer=lambda: 64 / 1.6,
        tolerance=1e-6,
        slips=(
            Slip("Divide: many inside for a long time is a low rate.", value=lambda: 64 * 1.6),
            Slip("That is the time over the number.", value=lambda: 1.6 / 64),
        ),
        derivation="$\\lambda = L / W$.",
        bonus=True,
    ),
    Question(
        id="08-handoff",
        kind="design",
        title="Handing a prompt over",
        section="8.16",
        parts=(
            Part(
                "bytes",
                "GB",
                lambda: 4096 * KV_70B / GB,
                0.01,
                (Slip("Llama 3 70B has 8 key and value heads, not 64.", value=lambda: 8 * 4096 * KV_70B / GB),),
            ),
            Part(
                "time",
                "s",
                _handoff,
                0.01,
                (
                    Slip("Llama 3 70B has 8 key and value heads, not 64.", value=lambda: _handoff(kv=8 * KV_70B)),
                    Slip("That is NVLink; the nodes are joined by a port of 50 GB/s.", value=lambda: _handoff(450e9)),
                ),
            ),
        ),
        derivation="Keys and values of a token: $2 \\cdot 80 \\cdot 8 \\cdot 128 \\cdot 2$ bytes. Times 4,096 tokens, "
        "over 50 GB/s.",
        bonus=True,
    ),
    Question(
        id="08-design-slo",
        kind="design",
        title="One replica of eight GPUs or two of four",
        section="8.16",
        parts=(
            Part(
                "requests that fit, one replica of 8",
                "requests",
                lambda: _fitting(8),
                0.0,
                (
                    Slip(
                        "Only 90 % of the memory is usable.",
                        value=lambda: _fitting(8, usable=1.0),
                    ),
                ),
            ),
            Part(
                "requests that fit, two replicas of 4",
                "requests",
                lambda: 2 * _fitting(4),
                0.0,
                (
                    Slip("Each replica stores all weights again.", value=lambda: 2 * _fitting(4, 0.5)),
                    Slip("Only 90 % of the memory is usable.", value=lambda: 2 * _fitting(4, usable=1.0)),
                    Slip("That is one replica of the two.", value=lambda: _fitting(4)),
                ),
            ),
            Part(
                "the shorter step, 200 requests",
                "ms",
                lambda: min(_step_70b(8, 200), _step_70b(4, 100)) / ms,
                0.02,
                (
                    Slip(
                        "That is the longer one: two replicas read the weights twice.",
                        value=lambda: _step_70b(4, 100) / ms,
                    ),
                    Slip("All 200 sequences bring their cache.", value=lambda: _step_70b(8, 1) / ms),
                ),
            ),
        ),
        derivation="Beside the weights, 141.1 GB, $0.9 \\cdot 80$ GB per GPU hold caches of $4096 \\cdot 327680$ bytes "
        "each: once in eight GPUs, or twice in four. A step reads the weights and the caches of its replica with the "
        "bandwidth of its GPUs: half the caches with half the bandwidth, but all of the weights.",
        bonus=True,
    ),
)
