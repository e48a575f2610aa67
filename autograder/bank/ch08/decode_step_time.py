"""Chapter 8: ``decode_step_time``, roofline of decode."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.machines import H100, LLAMA, machine, model
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _decode(rng: Random, contexts: list[int], kv: float | None = None) -> Case:
    kv = rng.choice((32_768, 131_072, 524_288, 5_000_000)) if kv is None else kv
    return Case((*model(rng), kv, contexts, *machine(rng)))


def _mixed(rng: Random) -> Case:
    return _decode(rng, [rng.randint(100, 131_072) for _ in range(rng.randint(3, 30))])


def _many(rng: Random) -> Case:
    return _decode(rng, [rng.randint(0, 8)] * rng.randint(500, 600), rng.choice((0, 0, 1000)))


def _no_step(rng: Random) -> list[Case]:
    return [_decode(rng, []), _decode(rng, [], 0), _decode(rng, [0]), _decode(rng, [0] * rng.randint(2, 9))]


EXERCISE = Build(
    "08 serving.decode_step_time",
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
        listed("nothing cached, nobody there", _no_step, "No sequence, no step."),
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
    rights=(
        Right(
            "every sequence's reading added to that of the weights",
            edit=(
                "read / bandwidth)",
                "sum((kv_bytes_per_token * one / bandwidth for one in contexts), weight_bytes / bandwidth))",
            ),
        ),
        Right(
            "compared as bytes",
            edit=(
                "return max(2 * parameters * len(contexts) / peak, read / bandwidth)",
                "return max(len(contexts) * (bandwidth / peak) * 2 * parameters, read) / bandwidth",
            ),
        ),
    ),
    promises=(
        Promise("Without a sequence there is no step: 0.0.", edit=("    if not contexts:\n        return 0.0\n", "")),
        Promise(
            "The weights are read once for all of them",
            edit=("read = weight_bytes +", "read = weight_bytes * len(contexts) +"),
        ),
        Promise("the cached keys and values are read for each sequence", edit=("sum(contexts)", "max(contexts)")),
    ),
)
