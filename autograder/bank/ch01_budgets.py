"""Chapter 01: how large a model a budget trains, and how many devices hold it, two build items.

Wrong programs are complete in themselves.
"""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.units import GB

# --- compute_optimal


def slip_six_forgotten(flops, tokens_per_parameter=20.0):
    if not flops > 0 or not tokens_per_parameter > 0:
        raise ValueError("out of range")
    parameters = (flops / tokens_per_parameter) ** 0.5
    return parameters, tokens_per_parameter * parameters


def slip_no_root(flops, tokens_per_parameter=20.0):
    if not flops > 0 or not tokens_per_parameter > 0:
        raise ValueError("out of range")
    parameters = flops / (6 * tokens_per_parameter)
    return parameters, tokens_per_parameter * parameters


def slip_tokens_first(flops, tokens_per_parameter=20.0):
    if not flops > 0 or not tokens_per_parameter > 0:
        raise ValueError("out of range")
    parameters = (flops / (6 * tokens_per_parameter)) ** 0.5
    return tokens_per_parameter * parameters, parameters


def slip_always_20(flops, tokens_per_parameter=20.0):
    if not flops > 0 or not tokens_per_parameter > 0:
        raise ValueError("out of range")
    parameters = (flops / 120) ** 0.5
    return parameters, 20 * parameters


def slip_unchecked_budget(flops, tokens_per_parameter=20.0):
    parameters = abs(flops / (6 * tokens_per_parameter)) ** 0.5
    return parameters, tokens_per_parameter * parameters


def _budget(rng: Random) -> Case:
    return Case((10 ** rng.uniform(18, 27),))


def _ratio(rng: Random) -> Case:
    return Case((10 ** rng.uniform(18, 27), rng.choice((1, 2, 5, 40, 100.0, 1875, 10 ** rng.uniform(0, 1.2)))))


def _impossible_budget(rng: Random) -> list[Case]:
    flops = 10 ** rng.uniform(18, 27)
    budgets = [invalid(-flops), invalid(0.0), invalid(float("nan"))]
    return [*budgets, invalid(-flops, -20.0), invalid(flops, 0), invalid(flops, -rng.uniform(1, 100))]


COMPUTE_OPTIMAL = Build(
    id="01-compute-optimal",
    module="scale",
    function="compute_optimal",
    grade="call",
    section="1.2",
    topic="compute-optimal training",
    bonus=True,
    cases=(
        Case((5.76e23,)),  # the budget of Gopher and Chinchilla; the latter has 70 billion parameters
        Case((5.88e23,)),
        Case((1e21,)),
        Case((3.8e25, 40)),
        invalid(0.0),
    ),
    groups=(
        Group("budgets", _budget, 5, "A budget buys parameters and tokens, and both grow with its root."),
        Group("other ratios", _ratio, 5, "The ratio of tokens to parameters may be given."),
        Group(
            "bad input",
            lambda rng: rng.choice(_impossible_budget(rng)),
            6,
            "Bad input must raise ValueError: a budget or a ratio that is not positive or is nan.",
            _impossible_budget,
        ),
    ),
    slips=(
        Slip("The 6 FLOP for each parameter and token were left out.", slip_six_forgotten),
        Slip("The root is missing: with D = r N, the budget is 6 r times N squared.", slip_no_root),
        Slip("Tokens came first: the answer is parameters, then tokens.", slip_tokens_first),
        Slip("The ratio that was given was not used.", slip_always_20),
        Slip("Impossible arguments were accepted: a budget or a ratio not positive, or nan.", slip_unchecked_budget),
    ),
)


# --- minimum_ranks


def slip_floor(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, int(parameters * bytes_per_parameter // (memory - reserve)))


def slip_one_more(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return int(parameters * bytes_per_parameter / (memory - reserve)) + 1


def slip_weights_only(parameters, memory, bytes_per_parameter=2.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))


def slip_no_master(parameters, memory, bytes_per_parameter=12.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))


def slip_gib(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, math.ceil(parameters * bytes_per_parameter / ((memory - reserve) / 1e9 * 2**30)))


def slip_no_reserve(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, math.ceil(parameters * bytes_per_parameter / memory))


def slip_reserve_once(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return max(1, math.ceil((parameters * bytes_per_parameter + reserve) / memory))


def slip_zero_devices(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    import math

    if parameters < 0 or not 0 <= reserve < memory or bytes_per_parameter <= 0:
        raise ValueError("out of range")
    return math.ceil(parameters * bytes_per_parameter / (memory - reserve))


def slip_unchecked_memory(parameters, memory, bytes_per_parameter=16.0, reserve=0.0):
    import math

    return max(1, math.ceil(parameters * bytes_per_parameter / (memory - reserve)))


#: Memories of devices, bytes.
MEMORIES = (16, 24, 32, 40, 48, 80, 96, 141, 180, 192)


def _large(rng: Random) -> Case:
    """Whole parameters and bytes: the quotient is exact where it is whole, by any way of computing it."""
    return Case((float(rng.randint(10**11, 2 * 10**12)), rng.choice(MEMORIES) * GB))


def _other_bytes(rng: Random) -> Case:
    parameters, memory = float(rng.randint(10**10, 10**12)), rng.choice(MEMORIES) * GB
    return Case((parameters, memory, rng.choice((3, 4.5, 6, 8, 18, 20))))


def _reserved(rng: Random) -> Case:
    memory = rng.choice(MEMORIES)
    parameters = float(rng.randint(10**11, 10**12))
    return Case((parameters, memory * GB), {"reserve": rng.randint(memory // 4, memory // 2) * GB})


def _exact(rng: Random) -> Case:
    """A whole number of full devices."""
    memory = rng.choice(MEMORIES) * GB
    return Case((rng.randint(1, 64) * memory / 16, memory))


def _small(rng: Random) -> list[Case]:
    return [Case((0, 80 * GB)), Case((0.0, 16 * GB, 4)), Case((float(rng.randint(1, 10**9)), 80 * GB))]


def _impossible_memory(rng: Random) -> list[Case]:
    parameters = float(rng.randint(10**9, 10**12))
    return [
        invalid(-parameters, 80 * GB),
        invalid(parameters, 80 * GB, reserve=80 * GB),
        invalid(parameters, 80 * GB, reserve=rng.randint(81, 200) * GB),
        invalid(parameters, 80 * GB, reserve=-1 * GB),
        invalid(parameters, -80 * GB),
        invalid(parameters, float("inf")),
        invalid(parameters, 80 * GB, -16.0),
        invalid(parameters, 80 * GB, 0),
    ]


MINIMUM_RANKS = Build(
    id="01-minimum-ranks",
    module="scale",
    function="minimum_ranks",
    grade="call",
    section="1.3",
    topic="memory of a training run",
    cases=(
        Case((175e9, 80 * GB)),  # 2.8 TB
        Case((70e9, 80 * GB)),
        Case((7e9, 80 * GB)),
        Case((405_853_388_800, 80 * GB)),  # Llama 3.1 405B
        Case((70_553_706_496, 80 * GB), {"reserve": 20 * GB}),
        Case((70e9, 80 * GB, 12)),
        invalid(7e9, 80 * GB, reserve=80 * GB),
    ),
    groups=(
        Group("mixed-precision Adam", _large, 5, "Count all the states, in bytes, and round up."),
        Group("other bytes", _other_bytes, 3, "The bytes for each parameter may be given, also as a fraction."),
        Group("with a reserve", _reserved, 4, "The reserve stays free on every device."),
        Group("full devices", _exact, 4, "States that fill their devices to the last byte need no further one."),
        Group(
            "small models", lambda rng: rng.choice(_small(rng)), 3, "A small model, or none, takes one device.", _small
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_impossible_memory(rng)),
            8,
            "Bad input must raise ValueError: sizes negative or not finite, a reserve that leaves nothing.",
            _impossible_memory,
        ),
    ),
    slips=(
        Slip("Rounded down: the last bytes need a device too.", slip_floor),
        Slip("One device too many where the states fill their devices exactly: use a ceiling.", slip_one_more),
        Slip(
            "The weights alone were counted: gradients and optimizer states are seven times as much.", slip_weights_only
        ),
        Slip("The fp32 copy of the weights was forgotten: 16 bytes, not 12.", slip_no_master),
        Slip("The memory was read in GiB: it is in bytes already.", slip_gib),
        Slip("The reserve was not used: it stays free on every device.", slip_no_reserve),
        Slip("The reserve was counted once: it stays free on every device.", slip_reserve_once),
        Slip("No device for a model of no parameters: at least one is there.", slip_zero_devices),
        Slip(
            "Impossible arguments were accepted: negative sizes, a reserve that leaves nothing.", slip_unchecked_memory
        ),
    ),
)

ITEMS = (COMPUTE_OPTIMAL, MINIMUM_RANKS)
