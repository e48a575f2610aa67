"""The capstone: ``run_bill``, the bill."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Right, Slip
from rankzero.facts.units import day


def _billed(rng: Random) -> Case:
    seconds = rng.randint(3600, 10_000_000)
    price, power = rng.choice((0.8, 2, 3.5)), rng.choice((0.4, 0.7, 1.2))
    return Case((rng.randint(8, 25_000), seconds, price, power, rng.uniform(1.05, 1.6), rng.choice((0.05, 0.08, 0.2))))


def _nothing_billed(rng: Random) -> Case:
    free = rng.choice(((0, 2, 0.7, 1, 0.05), (3600.0, 0, 0.7, 1, 0.05), (7200.0, 2, 0, 1.2, 0.05)))
    return Case((rng.randint(1, 64), *free))


EXERCISE = Build(
    "cap run_sheet.run_bill",
    section="15.24",
    topic="the bill",
    bonus=True,
    cases=(
        Case((16_384, 77 * day, 2, 0.7, 1, 0.05)),
        Case((1, 30.84e6 * 3600, 2, 1.3, 1.1, 0.05)),  # the GPU-hours of Llama 3.1 405B's model card; power is assumed
        Case((512, 30 * day, 2, 0.7, 1.1, 0.08)),
    ),
    groups=(
        Group("bills", _billed, 5, "GPU-hours of all GPUs; kWh of the building."),
        Group("nothing to pay", _nothing_billed, 3, "Time, price and power may be 0."),
    ),
    slips=(
        Slip("`kw_per_gpu` is in kilowatts already.", edit=("gpu_hours * kw_per_gpu", "gpu_hours * kw_per_gpu / 1000")),
        Slip(
            "The building draws more than its computers: multiply by the PUE.",
            edit=("kwh = gpu_hours * kw_per_gpu * pue", "kwh = gpu_hours * kw_per_gpu / pue"),
        ),
        Slip(
            "The PUE is missing: the building draws more than its computers.",
            edit=("gpu_hours * kw_per_gpu * pue", "gpu_hours * kw_per_gpu"),
        ),
        Slip("GPU-hours are those of all GPUs.", edit=("gpus * seconds", "seconds")),
        Slip(
            "Who rents has paid the electricity with the rent: do not add it to the dollars.",
            edits=(
                ("return {", "power = kwh * price_per_kwh\n    return {"),
                ("gpu_hours * price_per_gpu_hour", "gpu_hours * price_per_gpu_hour + power"),
            ),
        ),
    ),
    rights=(
        Right(
            "per GPU",
            edits=(
                ("gpu_hours = gpus * seconds / 3600", "gpu_hours = seconds / 3600 * gpus"),
                ("kwh = gpu_hours * kw_per_gpu * pue", "kwh = pue * kw_per_gpu * seconds * gpus / 3600"),
            ),
        ),
        Right(
            "per second",
            edits=(
                ('"dollars": gpu_hours * price_per_gpu_hour', '"dollars": price_per_gpu_hour / 3600 * gpus * seconds'),
                (
                    '"electricity_dollars": kwh * price_per_kwh',
                    '"electricity_dollars": price_per_kwh * kw_per_gpu * pue * gpu_hours',
                ),
            ),
        ),
    ),
)
