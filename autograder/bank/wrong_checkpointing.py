"""Wrong programs for ``optimal_checkpoint_interval``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def no_factor_two(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def mtbf_in_hours(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    mtbf = mtbf / 3600
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def minutes(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method] / 60


def without_minus(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def x_without_two(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    y = checkpoint_time / mtbf
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(y) / 3 + y / 9) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def young_with_minus(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf) - checkpoint_time
    daly = (young + checkpoint_time) * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def no_guard(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def guard_at_mtbf(checkpoint_time, mtbf, method="daly"):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if 2 * x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


def method_ignored(checkpoint_time, mtbf, method="daly"):
    from math import sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    young = sqrt(2 * checkpoint_time * mtbf)
    return young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf


def always_young(checkpoint_time, mtbf, method="daly"):
    from math import sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    return sqrt(2 * checkpoint_time * mtbf)


def other_branch(checkpoint_time, mtbf, method="daly"):
    from math import log1p, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    minus = 2 * x + 2 * sqrt(x)
    for _ in range(100):
        minus -= (minus - log1p(minus) - 2 * x) * (1 + minus) / minus
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    return {"young": young, "daly": daly, "exact": -mtbf * minus}[method]


def first_order(checkpoint_time, mtbf, method="daly"):
    from math import sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = young * (1 + sqrt(x) / 3 + x / 9) - checkpoint_time if x < 1 else mtbf
    exact = young
    return {"young": young, "daly": daly, "exact": exact}[method]


def restart_inside(checkpoint_time, mtbf, method="daly", restart_time=0.0):
    from math import expm1, sqrt

    if not (0 < checkpoint_time < 1e300 and 0 < mtbf < 1e300 and method in ("young", "daly", "exact")):
        raise ValueError("out of range")
    x = checkpoint_time / (2 * mtbf)
    period = 2 * x + 1
    for _ in range(100):
        period -= (period + expm1(-period) - 2 * x) / -expm1(-period)
    young = sqrt(2 * checkpoint_time * mtbf)
    daly = sqrt(2 * checkpoint_time * (mtbf + restart_time)) - checkpoint_time if x < 1 else mtbf
    exact = mtbf * -expm1(-period)
    return {"young": young, "daly": daly, "exact": exact}[method]


OPTIMAL_CHECKPOINT_INTERVAL = (
    Slip("Young's 2 is missing under the root: your interval is 0.71 of it.", no_factor_two),
    Slip("One unit for both: seconds with an MTBF in hours make Young's interval 60 times too small.", mtbf_in_hours),
    Slip("The result comes in the unit of the arguments, seconds; you return minutes.", minutes),
    Slip(
        "Daly's root is the period from start to start; subtract the checkpoint to get the compute between.",
        without_minus,
    ),
    Slip("Daly's x is C/(2M), not C/M.", x_without_two),
    Slip("Young's formula has no `- C`; only Daly's has.", young_with_minus),
    Slip("Daly's series ends at C = 2M: from there on the interval is M.", no_guard),
    Slip("Daly's guard is C < 2M, not C < M: between the two the series still holds.", guard_at_mtbf),
    Slip("`method` is ignored: Daly's formula answers whatever is asked.", method_ignored),
    Slip("Young answers for every method: his formula is the first order of the other two.", always_young),
    Slip("That is the other branch of Lambert's W, W-1, and its interval is negative. Take W0.", other_branch),
    Slip("The first-order waste C/t + t/(2M) has Young's minimum; the exact wall-clock has exponentials.", first_order),
    Slip(
        "`sqrt(2 C (M + R)) - C` is Daly's first-order form, another formula; restarts do not move the optimum.",
        restart_inside,
    ),
)
