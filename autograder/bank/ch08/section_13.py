"""Section 8.13, Long prompts and the ridge: its questions."""

from __future__ import annotations

from autograder.bank.ch08.quantities import BANDWIDTH, PEAK
from autograder.items import Question, Slip, lazily

models = lazily("rankzero.facts.models")
serving = lazily("solutions.ch08.serving")


def _prefill(prompt: int = 2048, layers: int = 32) -> float:
    """Seconds, Llama 3 8B on an H100."""
    n = models.LLAMA3_8B.parameters
    return serving.prefill_time(n, 2 * n, prompt, PEAK, BANDWIDTH, layers, 4096)


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
        section="8.13",
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
        bonus=True,
    ),
    Question(
        id="08-attention-crossover",
        kind="derive",
        title="Where attention costs as much as the matrices",
        section="8.13",
        ask="prompt",
        unit="tokens",
        answer=_crossover,
        tolerance=0.02,
        slips=(Slip("That counts the masked half, too.", value=lambda: _crossover(4)),),
        derivation="$2 L d s^2 = 2 N s$ at $s = N / (L d)$.",
        bonus=True,
    ),
    Question(
        id="08-ridge",
        kind="derive",
        title="The ridge without a cache",
        section="8.13",
        ask="pass",
        unit="tokens",
        answer=_ridge,
        tolerance=0.01,
        slips=(
            Slip("A parameter takes two operations per token.", value=lambda: 2 * _ridge()),
            Slip(
                "Two bytes per parameter cancel the two operations: they count once.",
                value=lambda: _ridge() / 2,
            ),
        ),
        derivation="$2 N n / F = W / BW$ with $W = 2 N$: $n = F / BW$.",
        bonus=True,
    ),
)
