"""Section 8.4, The roofline of serving: its questions."""

from __future__ import annotations

from autograder.bank.ch08.quantities import BANDWIDTH, KV_8B, PEAK
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import GB, TB

models = lazily("rankzero.facts.models")
serving = lazily("solutions.ch08.serving")


def _prefill(prompt: int = 2048, layers: int = 32) -> float:
    """Seconds, Llama 3 8B on an H100."""
    n = models.LLAMA3_8B.parameters
    return serving.prefill_time(n, 2 * n, prompt, PEAK, BANDWIDTH, layers, 4096)


def _decode(batch: int) -> float:
    """Seconds of a step at 2,048 tokens each, Llama 3 8B on an H100."""
    n = models.LLAMA3_8B.parameters
    return serving.pass_time(batch, [2048] * batch, n, 2 * n, KV_8B, PEAK, BANDWIDTH)


def _ridge() -> float:
    n = models.LLAMA3_8B.parameters
    return serving.critical_batch_size(n, 2 * n, PEAK, BANDWIDTH)


def _crossover(square: int = 2) -> float:
    """Tokens at which ``square * L d s^2`` is 2 N s."""
    return 2 * models.LLAMA3_8B.parameters / (square * 32 * 4096)


QUESTIONS = (
    Question(
        id="08-prefill-8b",
        kind="derive",
        title="Prefill of 2,048 tokens",
        section="8.4",
        ask="time",
        unit="s",
        answer=_prefill,
        tolerance=0.02,
        slips=(
            Slip("That is one token, not 2,048.", value=lambda: 2 * models.LLAMA3_8B.parameters / PEAK),
            Slip(
                "That is unmasked attention: a causal mask leaves half of the scores.",
                value=lambda: 2 * _prefill() - _prefill(layers=0),
            ),
            Slip("That leaves attention out.", value=lambda: _prefill(layers=0)),
            Slip("Reading the weights is the faster of the two jobs here.", value=lambda: _prefill(0)),
            Slip(
                "The weights are read while the matrices multiply: the slower one counts, not their sum.",
                value=lambda: _prefill() + _prefill(0),
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
        ask="prompt",
        unit="tokens",
        answer=_crossover,
        tolerance=0.02,
        slips=(Slip("That counts the masked half, too.", value=lambda: _crossover(4)),),
        derivation="$2 L d s^2 = 2 N s$ at $s = N / (L d)$.",
    ),
    Question(
        id="08-floor-70b",
        kind="derive",
        title="The floor of a decode step",
        section="8.4",
        ask="step time",
        unit="s",
        answer=lambda: 140 * GB / (2 * 3.35 * TB),
        tolerance=0.01,
        slips=(
            Slip("One H100 cannot hold 140 GB, and two read side by side.", value=lambda: 140 * GB / (3.35 * TB)),
            Slip(
                "That is half: four GPUs, or one byte for each parameter.",
                value=lambda: 140 * GB / (4 * 3.35 * TB),
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
        ask="batch",
        unit="sequences",
        answer=_ridge,
        tolerance=0.01,
        slips=(
            Slip("A parameter takes two operations per token.", value=lambda: 2 * _ridge()),
            Slip(
                "Two bytes per parameter cancel the two operations: they count once.",
                value=lambda: _ridge() / 2,
            ),
        ),
        derivation="$2 N B / F = W / BW$ with $W = 2 N$: $B = F / BW$.",
    ),
    Question(
        id="08-batch-cost",
        kind="derive",
        title="What 256 sequences cost",
        section="8.4",
        ask="step time, batch 256 over batch 1",
        unit="",
        answer=lambda: _decode(256) / _decode(1),
        tolerance=0.02,
        slips=(
            Slip("Only the weights are shared; every sequence brings its cache.", value=1),
            Slip("The weights are read once for all of them.", value=256),
        ),
        derivation="With 256 tokens the weights are read longer than the matrices multiply, and the caches are added: "
        "$(W + 256 \\cdot 2048\\,\\mathrm{kv}) / (W + 2048\\,\\mathrm{kv})$, "
        "with $W = 16.06$ GB and $\\mathrm{kv} = 131072$ bytes.",
    ),
)
