"""The capstone: ``utilization``, MFU and HFU."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import TFLOP


def _run_rates(rng: Random) -> tuple[float, float, int, float]:
    peak = rng.choice((125, 275, 312, 989.4, 2250)) * TFLOP
    gpus, per_token = rng.randint(8, 25_000), float(f"{10 ** rng.uniform(9, 12.7):.4g}")
    return rng.uniform(0.05, 0.6) * gpus * peak / per_token, per_token, gpus, peak


def _nothing_again(rng: Random) -> Case:
    return Case(_run_rates(rng))


def _recomputed(rng: Random) -> Case:
    return Case(_run_rates(rng), {"recomputed_forward": rng.uniform(0.05, 0.9)})


def utilization_by_time(tokens_per_second, flops_per_token, gpus, peak, recomputed_forward=0.0):
    """HFU first, from the operations that the hardware carries out."""
    from solutions.ch15.flops import utilization

    utilization(tokens_per_second, flops_per_token, gpus, peak, recomputed_forward)
    each = tokens_per_second / gpus
    done = flops_per_token / 3 * (3 + recomputed_forward)
    return each * (flops_per_token / peak), each * (done / peak)


EXERCISE = Build(
    "cap flops.utilization",
    section="15.14",
    topic="MFU and HFU",
    bonus=True,
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
            "`peak` is the dense one already. You doubled it, to a peak with sparsity.",
            edit=("gpus * peak", "gpus * 2 * peak"),
        ),
        Slip(
            "The forward pass is a third of a step: recomputing all of it adds a third, not a whole.",
            edit=("recomputed_forward / 3", "recomputed_forward"),
        ),
        Slip("Divide by the peak of all GPUs.", edit=("gpus * peak", "peak")),
        Slip(
            "All of `flops_per_token` counts, that of the backward pass too.",
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
    rights=(
        Right("per GPU, HFU from what is carried out", program=utilization_by_time),
        Right(
            "divided one after the other",
            edits=(
                (
                    "tokens_per_second * flops_per_token / (gpus * peak)",
                    "tokens_per_second / peak / gpus * flops_per_token",
                ),
                ("mfu * (1 + recomputed_forward / 3)", "mfu + mfu * recomputed_forward / 3"),
            ),
        ),
    ),
    promises=(
        Promise(
            "HFU also those that are done twice: a forward pass is a third of a step",
            edit=("(1 + recomputed_forward / 3)", "(1 + recomputed_forward)"),
        ),
        Promise(
            "HFU also those that are done twice: a forward pass is a third of a step",
            edit=("(1 + recomputed_forward / 3)", "(4 / 3)"),
        ),
        Promise(
            "MFU counts the operations that the model needs",
            edit=("mfu, mfu * (1 + recomputed_forward / 3)", "(mfu * 3 / (3 + recomputed_forward), mfu)"),
        ),
    ),
)
