"""Chapter 8: ``pass_time``, the bound of any pass."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.machines import A100, H100, LLAMA, machine, model
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

_KV = (32_768, 131_072, 524_288, 2_000_000)


def _pass(rng: Random, tokens: int, contexts: list[int], kv: int | None = None) -> Case:
    return Case((tokens, contexts, *model(rng), rng.choice(_KV) if kv is None else kv, *machine(rng)))


def _decode(rng: Random) -> Case:
    contexts = [rng.randint(100, 32_768) for _ in range(rng.randint(3, 30))]
    return _pass(rng, len(contexts), contexts)


def _large(rng: Random) -> Case:
    batch = rng.randint(900, 1100)
    return _pass(rng, batch, [rng.randint(200, 400)] * batch)


def _mixed(rng: Random) -> Case:
    contexts = [rng.randint(100, 8000) for _ in range(rng.randint(3, 30))]
    return _pass(rng, len(contexts) + rng.randint(1500, 4000), [*contexts, rng.randint(0, 4000)])


def _prompt(rng: Random) -> Case:
    return _pass(rng, rng.randint(1500, 8000), rng.choice(([], [0])))


def _no_pass(rng: Random) -> list[Case]:
    return [_pass(rng, 0, []), _pass(rng, 0, [], 0), _pass(rng, 1, [0]), _pass(rng, rng.randint(2, 9), [])]


EXERCISE = Build(
    "08 serving.pass_time",
    section="8.3",
    topic="bound of a pass",
    cases=(
        Case((1, [2048], *LLAMA, *H100)),
        Case((2048, [0], *LLAMA, *H100)),
        Case((64, [2048] * 64, *LLAMA, *H100)),
        Case((512, [128] * 512, *LLAMA, *H100)),
        Case((512 + 32, [2048] * 32 + [512], *LLAMA, *H100)),
        Case((3, [100, 5000, 32_000], *LLAMA, *A100)),
        Case((0, [], *LLAMA, *H100)),
    ),
    groups=(
        Group("answers", _decode, 5, "Every request brings its own keys and values; the weights are read once."),
        Group(
            "large batches",
            _large,
            4,
            "The matrices multiply longer than the weights are read; the caches come on top.",
        ),
        Group("prompt and answers", _mixed, 4, "All tokens go through the matrices together; each cache is read."),
        Group("prompts", _prompt, 3, "A new prompt has no cache, and many tokens."),
        listed("no cache, no tokens", _no_pass, "Without tokens there is no pass."),
    ),
    slips=(
        Slip(
            "That is one roofline for everything. The caches are read by another kernel: their time is added.",
            edit=(
                "max(multiply, read) + kv_bytes_per_token * sum(contexts) / bandwidth",
                "max(multiply, read + kv_bytes_per_token * sum(contexts) / bandwidth)",
            ),
        ),
        Slip(
            "The weights are read while the matrices multiply: of these two the slower one counts.",
            edit=("max(multiply, read) +", "multiply + read +"),
        ),
        Slip(
            "The cached keys and values are read too, in every pass.",
            edit=(" + kv_bytes_per_token * sum(contexts) / bandwidth", ""),
        ),
        Slip(
            "Every request reads its own cache: only the weights are shared.",
            edit=("sum(contexts)", "max(contexts, default=0)"),
        ),
        Slip(
            "All tokens of the pass multiply, those of a prompt, too.",
            edit=("2 * parameters * tokens / peak", "2 * parameters * max(1, len(contexts)) / peak"),
        ),
        Slip(
            "Cached tokens are not computed again: only the tokens of this pass multiply.",
            edit=("2 * parameters * tokens / peak", "2 * parameters * (tokens + sum(contexts)) / peak"),
        ),
        Slip(
            "A parameter takes two operations for each token: a product and a sum.",
            edit=("2 * parameters * tokens / peak", "parameters * tokens / peak"),
        ),
        Slip(
            "All tokens share one reading of the weights.",
            edit=("read = weight_bytes / bandwidth", "read = weight_bytes * tokens / bandwidth"),
        ),
        Slip(
            "A short pass still reads all weights: take the maximum with W / BW.",
            edit=("max(multiply, read) +", "multiply +"),
        ),
        Slip("Without tokens there is no pass, and nothing is read.", edit=("if not tokens:\n        return 0.0", "")),
    ),
    rights=(
        Right(
            "every cache by itself",
            edit=(
                "kv_bytes_per_token * sum(contexts) / bandwidth",
                "sum(kv_bytes_per_token * one / bandwidth for one in contexts)",
            ),
        ),
        Right(
            "compared as bytes",
            edit=(
                "max(multiply, read) + kv_bytes_per_token * sum(contexts) / bandwidth",
                "(max(2 * parameters * (bandwidth / peak) * tokens, weight_bytes) + sum(contexts) * kv_bytes_per_token)"
                " / bandwidth",
            ),
        ),
    ),
    promises=(
        Promise("Without tokens: 0.0.", edit=("    if not tokens:\n        return 0.0\n", "")),
        Promise(
            "the weights are read once for all tokens", edit=("read = weight_bytes /", "read = weight_bytes * tokens /")
        ),
        Promise("each request's cached keys and values are read", edit=("sum(contexts)", "max(contexts, default=0)")),
        Promise("the slower of the two", edit=("max(multiply, read) +", "multiply + read +")),
        Promise(
            "that time is added",
            edit=(
                "max(multiply, read) + kv_bytes_per_token * sum(contexts) / bandwidth",
                "max(multiply, read + kv_bytes_per_token * sum(contexts) / bandwidth)",
            ),
        ),
    ),
)
