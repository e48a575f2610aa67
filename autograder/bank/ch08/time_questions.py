"""Chapter 08: the questions about stages, steps and the roofline."""

from __future__ import annotations

from autograder.items import Choice, Order, Part, Question, Slip, lazily
from rankzero.facts.units import GB, TB, ms

serving = lazily("solutions.ch08.serving")
models = lazily("rankzero.facts.models")

#: An H100: dense bf16 FLOP/s and bytes/s.
PEAK, BANDWIDTH = 989.4e12, 3.35e12
#: Keys and values of one token in bf16: of Llama 3 8B, Llama 2 7B, Llama 3 70B.
KV_8B, KV_7B, KV_70B = 131_072, 524_288, 327_680


def _prefill(prompt: int = 2048, layers: int = 32) -> float:
    """Seconds, Llama 3 8B on an H100."""
    n = models.LLAMA3_8B.parameters
    return serving.prefill_time(n, 2 * n, prompt, PEAK, BANDWIDTH, layers, 4096)


def _decode(batch: int) -> float:
    """Seconds of a step at 2,048 tokens each, Llama 3 8B on an H100."""
    n = models.LLAMA3_8B.parameters
    return serving.decode_step_time(n, 2 * n, KV_8B, [2048] * batch, PEAK, BANDWIDTH)


def _ridge() -> float:
    n = models.LLAMA3_8B.parameters
    return serving.critical_batch_size(n, 2 * n, KV_8B, 0, PEAK, BANDWIDTH)


def _limit(kv: int) -> float:
    """The context at which one more sequence adds as much reading as computing."""
    return 2 * models.LLAMA3_8B.parameters * BANDWIDTH / (PEAK * kv)


def _crossover(square: int = 2) -> float:
    """Tokens at which ``square * L d s^2`` is 2 N s."""
    return 2 * models.LLAMA3_8B.parameters / (square * 32 * 4096)


def _whole_requests() -> tuple[float, float]:
    """Bytes of one full request, and bytes that the weights leave: 32 layers of width 8,192 on 80 GB."""
    weights = 2 * 12 * 32 * 8192**2
    return 2 * 2 * 32 * 8192 * 32_768, 80 * GB - weights


STAGES: tuple[Question | Choice | Order, ...] = (
    Question(
        id="08-kv-exercise",
        kind="derive",
        title="Beside the weights",
        section="8.1",
        parts=(
            Part(
                "full requests",
                "requests",
                lambda: _whole_requests()[1] // _whole_requests()[0],
                0.0,
                (
                    Slip("The weights take their memory first.", value=lambda: 80 * GB // _whole_requests()[0]),
                    Slip("Not even one: keys and values are two, of two bytes a number; do not round up.", value=1),
                ),
            ),
        ),
        derivation="Keys and values of a token: $2 \\cdot 32 \\cdot 8192 \\cdot 2$ bytes, one MiB; of a full request "
        "$32768$ times that. The weights take $2 \\cdot 12 \\cdot 32 \\cdot 8192^2$ bytes. Divide what is left of 80 "
        "GB by a request, and round down.",
    ),
    Order(
        id="08-order-of-stages",
        kind="trace",
        title="The life of a request",
        section="8.2",
        steps=("API adapter", "tokenizer", "scheduler", "model runner", "detokenizer", "stream to the client"),
        derivation="The scheduler admits by the number of prompt tokens, so the tokenizer comes before it.",
    ),
    Question(
        id="08-decode-steps",
        kind="derive",
        title="Steps after prefill",
        section="8.3",
        parts=(
            Part(
                "decode steps",
                "steps",
                lambda: 50 - 1,
                0.0,
                (
                    Slip("Prefill already gave the first token.", value=50),
                    Slip("No step is needed for an end that never comes.", value=51),
                ),
            ),
        ),
        derivation="The logits of the prompt's last token give output token 1. Each further token takes one step.",
    ),
)

ROOFLINE: tuple[Question, ...] = (
    Question(
        id="08-prefill-8b",
        kind="derive",
        title="Prefill of 2,048 tokens",
        section="8.4",
        parts=(
            Part(
                "time",
                "s",
                _prefill,
                0.02,
                (
                    Slip("That is one token, not 2,048.", value=lambda: 2 * models.LLAMA3_8B.parameters / PEAK),
                    Slip(
                        "That is unmasked attention: a causal mask leaves half of the scores.",
                        value=lambda: 2 * _prefill() - _prefill(layers=0),
                    ),
                    Slip("That leaves attention out.", value=lambda: _prefill(layers=0)),
                    Slip("Reading the weights is the faster of the two jobs here.", value=lambda: _prefill(0)),
                    Slip(
                        "Computing and reading overlap: the slower one counts, not their sum.",
                        value=lambda: _prefill() + _prefill(0),
                    ),
                ),
            ),
        ),
        derivation="$(2 N s + 2 L d s^2) / F$ with $N = 8.03 \\cdot 10^9$, $s = 2048$, $L = 32$, $d = 4096$, "
        "$F = 989.4 \\cdot 10^{12}$; reading the weights takes less.",
    ),
    Question(
        id="08-attention-crossover",
        kind="derive",
        title="Where attention costs as much as the matrices",
        section="8.4",
        parts=(
            Part(
                "prompt",
                "tokens",
                _crossover,
                0.02,
                (Slip("That counts the masked half, too.", value=lambda: _crossover(4)),),
            ),
        ),
        derivation="$2 L d s^2 = 2 N s$ at $s = N / (L d)$.",
    ),
    Question(
        id="08-floor-70b",
        kind="derive",
        title="The floor of a decode step",
        section="8.4",
        parts=(
            Part(
                "step time",
                "s",
                lambda: 140 * GB / (2 * 3.35 * TB),
                0.01,
                (
                    Slip(
                        "One H100 cannot hold 140 GB, and two read side by side.", value=lambda: 140 * GB / (3.35 * TB)
                    ),
                    Slip(
                        "That is half: four GPUs, or one byte for each parameter.",
                        value=lambda: 140 * GB / (4 * 3.35 * TB),
                    ),
                ),
            ),
        ),
        derivation="Every weight is read once per step, half of them by each GPU: "
        "$140\\,\\mathrm{GB} / (2 \\cdot 3.35\\,\\mathrm{TB/s})$.",
    ),
    Question(
        id="08-ridge",
        kind="derive",
        title="The ridge without a cache",
        section="8.4",
        parts=(
            Part(
                "batch",
                "sequences",
                _ridge,
                0.01,
                (
                    Slip("A parameter takes two operations per token.", value=lambda: 2 * _ridge()),
                    Slip(
                        "Two bytes per parameter cancel the two operations: they count once.",
                        value=lambda: _ridge() / 2,
                    ),
                ),
            ),
        ),
        derivation="$2 N B / F = W / BW$ with $W = 2 N$: $B = F / BW$.",
    ),
    Question(
        id="08-never-compute-bound",
        kind="derive",
        title="Memory-bound at every batch",
        section="8.4",
        parts=(
            Part(
                "context",
                "tokens",
                lambda: _limit(KV_8B),
                0.01,
                (
                    Slip(
                        "That cache has as many key and value heads as query heads; Llama 3 8B has 8.",
                        value=lambda: _limit(4 * KV_8B) / 1.0,
                    ),
                    Slip("That is the ridge, a batch; a context is asked for.", value=_ridge),
                    Slip("A parameter takes two operations per token.", value=lambda: _limit(KV_8B) / 2),
                ),
            ),
        ),
        derivation="One more sequence adds $2N/F$ of computing and $\\mathrm{kv} \\cdot c / BW$ of reading. They are "
        "equal at $c = 2 N \\cdot BW / (F \\cdot \\mathrm{kv})$; from there on reading grows at least as fast.",
    ),
    Question(
        id="08-batch-cost",
        kind="derive",
        title="What 256 sequences cost",
        section="8.4",
        parts=(
            Part(
                "step time, batch 256 over batch 1",
                "",
                lambda: _decode(256) / _decode(1),
                0.02,
                (
                    Slip("Only the weights are shared; every sequence brings its cache.", value=1),
                    Slip("The weights are read once for all of them.", value=256),
                ),
            ),
        ),
        derivation="Both are bound by reading: $(W + 256 \\cdot 2048\\,\\mathrm{kv}) / (W + 2048\\,\\mathrm{kv})$, "
        "with $W = 16.06$ GB and $\\mathrm{kv} = 131072$ bytes.",
    ),
)


def _handoff(bandwidth: float = 50e9, kv: int = KV_70B) -> float:
    """Seconds."""
    return 4096 * kv / bandwidth


def _step_70b(gpus: int, requests: int) -> float:
    """Seconds of a step of one replica, Llama 3 70B in bf16 at 4,096 tokens."""
    n = models.LLAMA3_70B.parameters
    return serving.decode_step_time(n, 2 * n, KV_70B, [4096] * requests, gpus * PEAK, gpus * BANDWIDTH)


def _fitting(gpus: int, share: float = 1.0, usable: float = 0.9) -> int:
    """Requests of 4,096 tokens beside ``share`` of the weights, with the ``usable`` part of 80 GB per GPU."""
    room = usable * 80 * GB * gpus - share * 2 * models.LLAMA3_70B.parameters
    return int(room // (4096 * KV_70B))


DESIGN: tuple[Question, ...] = (
    Question(
        id="08-handoff",
        kind="design",
        title="Handing a prompt over",
        section="8.11",
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
    ),
    Question(
        id="08-design-slo",
        kind="design",
        title="One replica of eight GPUs or two of four",
        section="8.11",
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
    ),
)

ITEMS = (*STAGES, *ROOFLINE, *DESIGN)
