"""The capstone: FLOP of a run, and utilization."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import TFLOP

# --- training_flops


def _phases(rng: Random, count: int) -> list[tuple[float, int]]:
    lengths = rng.sample((512, 2048, 4096, 8192, 32_768, 131_072, 1_000_000), count)
    return [(float(f"{10 ** rng.uniform(9, 13.3):.4g}"), length) for length in lengths]


def _trained(rng: Random, causal: bool | None = None, count: int | None = None) -> Case:
    parameters = float(f"{10 ** rng.uniform(6, 12):.4g}")
    causal = rng.random() < 0.5 if causal is None else causal
    return Case(
        (parameters, _phases(rng, count or rng.randint(2, 4)), rng.randint(2, 200), rng.randint(64, 20_000), causal)
    )


def _long_runs(rng: Random) -> list[Case]:
    """Short and long sequences in like amounts, so that attention counts."""
    cases = []
    for causal in (True, False) * 2:
        tokens = float(rng.randint(1, 900)) * 1e9
        phases = [(tokens, 2048), (2 * tokens, 131_072)]
        cases.append(Case((float(rng.randint(10, 900)) * 1e8, phases, rng.randint(20, 90), 4096), {"causal": causal}))
    return cases


def _plain_run(rng: Random) -> Case:
    return Case((float(f"{10 ** rng.uniform(6, 13):.4g}"), _phases(rng, rng.randint(1, 3))))


def _half_a_shape(rng: Random) -> list[Case]:
    """Layers without a width, a width without layers."""
    return [Case(_plain_run(rng).args, {"layers": 48}), Case(_plain_run(rng).args, {"width": 4096}), _plain_run(rng)]


FLOPS = Build(
    id="cap-training-flops",
    module="flops",
    function="training_flops",
    grade="call",
    section="15.1",
    topic="FLOP of a run",
    cases=(
        Case((174.6e9, [(300e9, 2048)])),  # GPT-3 prints 3.14e23
        Case((403_752_042_496, [(15.6e12, 8192)])),  # Llama 3.1 405B: the budget is 3.8e25
        Case((403_752_042_496, [(15.6e12, 8192)], 126, 16_384)),
        Case((403_752_042_496, [(15.6e12, 8192)], 126, 16_384, True)),
        Case((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384)),
        Case((403_752_042_496, [(14.8e12, 8192), (0.8e12, 131_072)], 126, 16_384), {"causal": True}),
        Case((1e9, [])),
    ),
    groups=(
        Group(
            "phases with attention",
            _trained,
            8,
            "Each phase has its own sequence length; count token by token.",
            _long_runs,
        ),
        listed("without attention", _half_a_shape, "Without layers or width only the parameters count."),
    ),
    slips=(
        Slip(
            "For one token, attention grows with the length of its sequence. The square is for a whole sequence.",
            edit=("width * sequence)", "width * sequence**2)"),
        ),
        Slip(
            "That is the forward pass alone. The backward pass costs twice as much.",
            edit=("6 * parameters + (6 if causal else 12)", "2 * parameters + (2 if causal else 4)"),
        ),
        Slip(
            "The parameters are right; attention has a backward pass, too.",
            edit=("(6 if causal else 12)", "(2 if causal else 4)"),
        ),
        Slip(
            "Attention is two products, scores and weighted values: you count one.",
            edit=("(6 if causal else 12)", "(3 if causal else 6)"),
        ),
        Slip(
            "You use one mean length for all tokens. Count each phase with its own length.",
            edits=(
                (
                    "    total = 0.0\n    for tokens, sequence in phases:",
                    "    total, phases = 0.0, list(phases)\n"
                    "    rows = sum(tokens / sequence for tokens, sequence in phases)\n"
                    "    for tokens, sequence in phases:",
                ),
                ("layers * width * sequence", "layers * width * sum(count for count, _ in phases) / (rows or 1)"),
            ),
        ),
        Slip("`causal` is ignored: it halves the attention.", edit=("(6 if causal else 12)", "12")),
    ),
)

# --- utilization


def _run_rates(rng: Random) -> tuple[float, float, int, float]:
    peak = rng.choice((125, 275, 312, 989.4, 2250)) * TFLOP
    gpus, per_token = rng.randint(8, 25_000), float(f"{10 ** rng.uniform(9, 12.7):.4g}")
    return rng.uniform(0.05, 0.6) * gpus * peak / per_token, per_token, gpus, peak


def _nothing_again(rng: Random) -> Case:
    return Case(_run_rates(rng))


def _recomputed(rng: Random) -> Case:
    return Case(_run_rates(rng), {"recomputed_forward": rng.uniform(0.05, 0.9)})


UTILIZATION = Build(
    id="cap-utilization",
    module="flops",
    function="utilization",
    grade="call",
    section="15.14",
    bonus=True,
    topic="MFU and HFU",
    cases=(
        Case((238_300, 3.27563e12, 6144, 275e12)),  # PaLM 540B prints 46.2 %
        Case((238_300, 3.27563e12, 6144, 275e12, 1.0)),
        Case((2_691_283.84, 6 * 405_853_388_800, 16_384, 989.4e12)),  # Llama 3.1 405B, stage B: 400 TFLOP/s per GPU
        Case((0, 1e12, 8, 312e12, 0.5)),
    ),
    groups=(
        Group("nothing recomputed", _nothing_again, 4, "Without recomputation the two are equal."),
        Group("some recomputed", _recomputed, 4, "A forward pass is a third of a step; only HFU counts it again."),
    ),
    slips=(
        Slip(
            "`peak` is the dense one already. You halved it, as if it were a peak with sparsity.",
            edit=("gpus * peak", "gpus * 2 * peak"),
        ),
        Slip(
            "The forward pass is a third of a step: recomputing all of it adds a third, not a whole.",
            edit=("recomputed_forward / 3", "recomputed_forward"),
        ),
        Slip("Divide by the peak of all GPUs.", edit=("gpus * peak", "peak")),
        Slip(
            "`flops_per_token` holds forward and backward already.",
            edit=("tokens_per_second * flops_per_token", "tokens_per_second * flops_per_token / 3"),
        ),
        Slip(
            "HFU counts the part that is recomputed, not always the whole forward pass.",
            edit=("mfu * (1 + recomputed_forward / 3)", "mfu * 4 / 3"),
        ),
        Slip(
            "MFU does not fall with `recomputed_forward`: the tokens per second already reflect it.",
            edit=("mfu, mfu * (1 + recomputed_forward / 3)", "(mfu * 3 / (3 + recomputed_forward), mfu)"),
        ),
    ),
)

ITEMS = (FLOPS, UTILIZATION)
