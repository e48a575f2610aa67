"""Chapter 08: the roofline of prefill and decode."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.words import A100, H100, LLAMA, machine, model
from autograder.items import Build, Case, Group, Slip

# --- prefill_time


def _prefill(rng: Random, least: int, most: int, attention: bool = True) -> Case:
    shape = (rng.randint(16, 128), rng.choice((1024, 4096, 8192, 18_432))) if attention else ()
    return Case((*model(rng, 8, 11.8), rng.randint(least, most), *machine(rng), *shape))


PREFILL = Build(
    id="08-prefill-time",
    module="serving",
    function="prefill_time",
    grade="call",
    section="8.4",
    topic="roofline of prefill",
    cases=(
        Case((*LLAMA[:2], 2048, *H100, 32, 4096)),
        Case((*LLAMA[:2], 16, *H100, 32, 4096)),
        Case((*LLAMA[:2], 131_072, *H100, 32, 4096)),
        Case((8.03e9, 16.06e9, 1024, *H100)),
        Case((70_553_706_496, 141_107_412_992, 4096, 8 * H100[0], 8 * H100[1], 80, 8192)),
        Case((*LLAMA[:2], 0, *A100)),
    ),
    groups=(
        Group(
            "prompts",
            lambda rng: _prefill(rng, 4096, 32_000),
            5,
            "2 N s for the matrices, 2 L d s² for causal attention.",
        ),
        Group(
            "short prompts",
            lambda rng: _prefill(rng, 1, 90),
            4,
            "However short the prompt, all weights are read once.",
            lambda rng: [Case((*model(rng), 0, *machine(rng), 32, 4096))],
        ),
        Group(
            "very long prompts", lambda rng: _prefill(rng, 60_000, 200_000), 3, "Attention grows with the square of s."
        ),
        Group(
            "without attention",
            lambda rng: _prefill(rng, 1, 8192, False),
            3,
            "Without layers, attention costs nothing.",
            lambda rng: [Case((*model(rng), 8192, *machine(rng)), one) for one in ({"layers": 32}, {"hidden": 4096})],
        ),
    ),
    slips=(
        Slip(
            "You also computed the masked half: causal attention forms half of the scores.",
            edit=("2 * layers", "4 * layers"),
        ),
        Slip("Attention grows with the square of the prompt.", edit=("prompt_tokens**2", "prompt_tokens")),
        Slip(
            "That is per token, not per prompt: every one of s tokens passes through all N parameters.",
            edit=("operations / peak", "(2 * parameters + 2 * layers * hidden * prompt_tokens) / peak"),
        ),
        Slip(
            "A short prompt still reads all weights: take the maximum with W / BW.",
            edit=("max(operations / peak, weight_bytes / bandwidth)", "operations / peak"),
        ),
        Slip(
            "Reading and computing overlap: the slower one counts, not their sum.",
            edit=("max(operations / peak, weight_bytes / bandwidth)", "operations / peak + weight_bytes / bandwidth"),
        ),
        Slip(
            "All tokens of the prompt share one reading of the weights.",
            edit=("weight_bytes / bandwidth", "weight_bytes * max(1, prompt_tokens) / bandwidth"),
        ),
    ),
)

# --- decode_step_time


def _decode(rng: Random, contexts: list[int], kv: float | None = None) -> Case:
    kv = rng.choice((32_768, 131_072, 524_288, 5_000_000)) if kv is None else kv
    return Case((*model(rng), kv, contexts, *machine(rng)))


def _mixed(rng: Random) -> Case:
    return _decode(rng, [rng.randint(100, 131_072) for _ in range(rng.randint(3, 30))])


def _many(rng: Random) -> Case:
    return _decode(rng, [rng.randint(0, 8)] * rng.randint(500, 600), rng.choice((0, 0, 1000)))


def _no_step(rng: Random) -> list[Case]:
    return [_decode(rng, []), _decode(rng, [], 0), _decode(rng, [0]), _decode(rng, [0] * rng.randint(2, 9))]


DECODE = Build(
    id="08-decode-step-time",
    module="serving",
    function="decode_step_time",
    grade="call",
    section="8.4",
    topic="roofline of decode",
    cases=(
        Case((*LLAMA, [2048], *H100)),
        Case((*LLAMA, [0], *H100)),
        Case((*LLAMA, [2048] * 32, *H100)),
        Case((*LLAMA, [2048] * 256, *H100)),
        Case((*LLAMA, [100, 5000, 32_000], *H100)),
        Case((*LLAMA, [128] * 512, *H100)),
        Case((*LLAMA, [], *H100)),
    ),
    groups=(
        Group("mixed contexts", _mixed, 5, "Every sequence brings its own keys and values; the weights are read once."),
        Group("large batches", _many, 4, "With short contexts a large batch computes longer than it reads."),
        Group("nothing cached, nobody there", lambda rng: _no_step(rng)[0], 4, "No sequence, no step.", _no_step),
    ),
    slips=(
        Slip(
            "Reading the weights is the floor of a step; each sequence adds cache, and its compute.",
            edit=(
                "max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "weight_bytes / bandwidth if contexts else 0.0",
            ),
        ),
        Slip(
            "The cached keys and values are read too, in every step.",
            edit=(
                "max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "max(2 * parameters * len(contexts) / peak, weight_bytes / bandwidth) if contexts else 0.0",
            ),
        ),
        Slip(
            "Every sequence reads its own cache: only the weights are shared.",
            edit=("kv_bytes_per_token * sum(contexts)", "kv_bytes_per_token * sum(contexts) / len(contexts)"),
        ),
        Slip(
            "Reading and computing overlap: the slower one counts, not their sum.",
            edit=(
                "max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "2 * parameters * len(contexts) / peak + read / bandwidth",
            ),
        ),
        Slip(
            "That reads padding: each sequence has a context of its own length.",
            edit=("kv_bytes_per_token * sum(contexts)", "kv_bytes_per_token * max(contexts) * len(contexts)"),
        ),
        Slip(
            "Every sequence computes: 2 N for each.",
            edit=(
                "max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "max(2 * parameters / peak, read / bandwidth) if contexts else 0.0",
            ),
        ),
        Slip(
            "Cached tokens are not computed again: a step computes one token of each.",
            edit=(
                "max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "max(2 * parameters * sum(contexts) / peak, read / bandwidth) if contexts else 0.0",
            ),
        ),
        Slip(
            "All sequences share one reading of the weights.",
            edit=("read = weight_bytes", "read = weight_bytes * len(contexts)"),
        ),
        Slip(
            "Without a sequence there is no step, and nothing is read.",
            edit=("if not contexts:\n        return 0.0", ""),
        ),
    ),
)

# --- critical_batch_size


def _ridge(rng: Random, least: float, most: float) -> Case:
    """A context that takes ``least`` to ``most`` of what lets reading win."""
    (parameters, weights), (peak, bandwidth) = model(rng), machine(rng)
    kv = rng.choice((32_768, 131_072, 524_288))
    context = rng.uniform(least, most) * 2 * parameters / peak * bandwidth / kv
    return Case((parameters, weights, float(kv), context, peak, bandwidth))


def _balanced(rng: Random) -> Case:
    """A sequence adds as much reading as computing; powers of two, so that every way of computing it is exact."""
    power = rng.randint(7, 10)
    return Case((2.0**33, 2.0**34, 2.0 ** (26 - power), 2**power, 2.0**49, 2.0**41))


def _no_cache(rng: Random) -> list[Case]:
    """Parameters of one byte and of four."""
    sizes = [(model(rng)[0], size) for size in (1, 4)]
    return [Case((parameters, size * parameters, 131_072.0, 0.0, *machine(rng))) for parameters, size in sizes]


CRITICAL = Build(
    id="08-critical-batch-size",
    module="serving",
    function="critical_batch_size",
    grade="call",
    section="8.4",
    topic="roofline of decode",
    cases=(
        Case((*LLAMA, 0, *H100)),
        Case((*LLAMA, 128, *H100)),
        Case((*LLAMA, 400, *H100)),
        Case((*LLAMA, 2048, *H100)),
        Case((*LLAMA, 0, *A100)),
    ),
    groups=(
        Group(
            "short contexts",
            lambda rng: _ridge(rng, 0.05, 0.9),
            6,
            "At this batch both terms of the decode step are equal.",
        ),
        Group(
            "long contexts",
            lambda rng: _ridge(rng, 1.05, 20),
            4,
            "Where reading always wins, or adds just as much, the answer is inf.",
            lambda rng: [_balanced(rng)],
        ),
        Group(
            "no context",
            lambda rng: _ridge(rng, 0, 0),
            3,
            "Without a cache, bytes of a parameter still matter.",
            _no_cache,
        ),
    ),
    slips=(
        Slip(
            "A negative batch means that reading wins at every batch: return inf.",
            edit=("weight_bytes / bandwidth / gain if gain > 0 else math.inf", "weight_bytes / bandwidth / gain"),
        ),
        Slip(
            "F / BW is the ridge for weights of two bytes; use the bytes that there are.",
            edit=("weight_bytes / bandwidth / gain", "2 * parameters / bandwidth / gain"),
        ),
        Slip(
            "More cache to read makes computing catch up later, not earlier.",
            edit=(
                "weight_bytes / bandwidth / gain if gain > 0 else math.inf",
                "weight_bytes / bandwidth / (2 * parameters / peak + kv_bytes_per_token * context / bandwidth)",
            ),
        ),
        Slip(
            "Every sequence brings its own cache to read.",
            edit=(
                "weight_bytes / bandwidth / gain if gain > 0 else math.inf",
                "weight_bytes / bandwidth / (2 * parameters / peak)",
            ),
        ),
        Slip("A parameter takes two operations: multiply and add.", edit=("2 * parameters", "parameters")),
        Slip(
            "The batch is not rounded here.",
            edit=("weight_bytes / bandwidth / gain", "math.ceil(weight_bytes / bandwidth / gain)"),
        ),
    ),
)

ITEMS: tuple[Build, ...] = (PREFILL, DECODE, CRITICAL)
