"""Chapter 1: ``minimum_ranks``, memory of a training run."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB

#: Memories of devices, bytes.
MEMORIES = (16, 24, 32, 40, 48, 80, 96, 141, 180, 192)


def _large(rng: Random) -> Case:
    """Whole parameters and bytes: the quotient is exact where it is whole, by any way of computing it."""
    return Case((float(rng.randint(10**11, 2 * 10**12)), rng.choice(MEMORIES) * GB))


def _other_bytes(rng: Random) -> Case:
    parameters, memory = float(rng.randint(10**10, 10**12)), rng.choice(MEMORIES) * GB
    return Case((parameters, memory, rng.choice((3, 4.5, 6, 8, 18, 20))))


def _reserved(rng: Random) -> Case:
    """A reserve that asks for a further device even where it is counted once."""
    while True:
        memory, parameters = rng.choice(MEMORIES), float(rng.randint(10**11, 10**12))
        reserve = rng.randint(memory // 4, memory // 2)
        if 16 * parameters // (memory * GB) < (16 * parameters + reserve * GB) // (memory * GB):
            return Case((parameters, memory * GB), {"reserve": reserve * GB})


def _exact(rng: Random) -> Case:
    """A whole number of full devices."""
    memory = rng.choice(MEMORIES) * GB
    return Case((rng.randint(1, 64) * memory / 16, memory))


def _small(rng: Random) -> list[Case]:
    return [Case((0, 80 * GB)), Case((0.0, 16 * GB, 4)), Case((float(rng.randint(1, 10**9)), 80 * GB))]


def fewest_by_fractions(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    free = Fraction(memory) - Fraction(reserve)
    return max(1, math.ceil(Fraction(parameters) * Fraction(bytes_per_parameter) / free))


EXERCISE = Build(
    "01 scale.minimum_ranks",
    section="1.17",
    topic="memory of a training run",
    bonus=True,
    cases=(
        Case((175e9, 80 * GB)),  # 2.8 TB
        Case((70e9, 80 * GB)),
        Case((7e9, 80 * GB)),
        Case((405_853_388_800, 80 * GB)),  # Llama 3.1 405B
        Case((70_553_706_496, 80 * GB), {"reserve": 20 * GB}),
        Case((70e9, 80 * GB, 12)),
    ),
    groups=(
        Group("mixed-precision Adam", _large, 5, "Count all the states, in bytes, and round up."),
        Group("other bytes", _other_bytes, 3, "The bytes for each parameter may be given, also as a fraction."),
        Group("with a reserve", _reserved, 4, "The reserve stays free on every device."),
        Group("full devices", _exact, 4, "States that fill their devices to the last byte need no further one."),
        listed("small models", _small, "A small model, or none, takes one device."),
    ),
    slips=(
        Slip(
            "Rounded down: the last bytes need a device too.",
            edit=(
                "math.ceil(parameters * bytes_per_parameter / (memory - reserve))",
                "int(parameters * bytes_per_parameter // (memory - reserve))",
            ),
        ),
        Slip(
            "One device too many where the states fill their devices exactly: use a ceiling.",
            edit=(
                "max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))",
                "int(parameters * bytes_per_parameter / (memory - reserve)) + 1",
            ),
        ),
        Slip(
            "The weights alone were counted: gradients and optimizer states are seven times as much.",
            edit=("bytes_per_parameter: float = 16.0", "bytes_per_parameter: float = 2.0"),
        ),
        Slip(
            "The fp32 copy of the weights was forgotten: 16 bytes, not 12.",
            edit=("bytes_per_parameter: float = 16.0", "bytes_per_parameter: float = 12.0"),
        ),
        Slip(
            "The memory was read in GiB: it is in bytes already.",
            edit=("memory - reserve", "(memory - reserve) / 1e9 * 2**30"),
        ),
        Slip("The reserve was not used: it stays free on every device.", edit=("memory - reserve", "memory")),
        Slip(
            "The reserve was counted once: it stays free on every device.",
            edits=(
                ("parameters * bytes_per_parameter", "(parameters * bytes_per_parameter + reserve)"),
                ("memory - reserve", "memory"),
            ),
        ),
        Slip(
            "No device for a model of no parameters: at least one is there.",
            edit=(
                "max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))",
                "math.ceil(parameters * bytes_per_parameter / (memory - reserve))",
            ),
        ),
    ),
    rights=(
        Right("whole numbers", program=fewest_by_fractions),
        Right(
            "floor of the negative",
            edit=(
                "math.ceil(parameters * bytes_per_parameter / (memory - reserve))",
                "int(-(-parameters * bytes_per_parameter // (memory - reserve)))",
            ),
        ),
        Right(
            "parameters that a device holds",
            edit=(
                "parameters * bytes_per_parameter / (memory - reserve)",
                "parameters / ((memory - reserve) / bytes_per_parameter)",
            ),
        ),
    ),
    promises=(
        Promise("0 parameters need one device", edit=("max(1, ", "max(0, ")),
        Promise(
            "16 is mixed-precision Adam",
            edit=("bytes_per_parameter: float = 16.0", "bytes_per_parameter: float = 12.0"),
        ),
        Promise("bytes that stay free on each device", edit=("(memory - reserve)", "memory")),
    ),
)
