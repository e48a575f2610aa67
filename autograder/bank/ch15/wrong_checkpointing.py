"""Wrong programs for ``optimal_checkpoint_interval``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

OPTIMAL_CHECKPOINT_INTERVAL = (
    Slip(
        "Young's 2 is missing under the root: your interval is 0.71 of it.",
        edits=(
            ("2 * checkpoint_time * mtbf)\n", "checkpoint_time * mtbf)\n"),
            ("2 * checkpoint_time * mtbf) * (1", "checkpoint_time * mtbf) * (1"),
        ),
    ),
    Slip(
        "One unit for both: seconds with an MTBF in hours make Young's interval 60 times too small.",
        edit=("method](checkpoint_time, mtbf)", "method](checkpoint_time, mtbf / 3600)"),
    ),
    Slip(
        "The result comes in the unit of the arguments, seconds; you return minutes.",
        edit=("method](checkpoint_time, mtbf)", "method](checkpoint_time, mtbf) / 60"),
    ),
    Slip(
        "Daly's root is the period from start to start; subtract the checkpoint to get the compute between.",
        edit=("x / 9) - checkpoint_time", "x / 9)"),
    ),
    Slip("Daly's x is C/(2M), not C/M.", edit=("x = checkpoint_time / (2 * mtbf)", "x = checkpoint_time / mtbf")),
    Slip(
        "Young's formula has no `- C`; only Daly's has.",
        edit=("2 * checkpoint_time * mtbf)\n", "2 * checkpoint_time * mtbf) - checkpoint_time\n"),
    ),
    Slip(
        "Daly's series ends at C = 2M: from there on the interval is M.",
        edit=("    if checkpoint_time >= 2 * mtbf:\n        return float(mtbf)\n", ""),
    ),
    Slip(
        "Daly's guard is C < 2M, not C < M: between the two the series still holds.",
        edit=("checkpoint_time >= 2 * mtbf", "checkpoint_time >= mtbf"),
    ),
    Slip("`method` is ignored: Daly's formula answers whatever is asked.", edit=("formulas[method](", "_daly(")),
    Slip(
        "Young answers for every method: his formula is the first order of the other two.",
        edit=("formulas[method](", "_young("),
    ),
    Slip(
        "That is the other branch of Lambert's W, W-1, and its interval is negative. Take W0.",
        edits=(
            (
                "    while True:\n"
                "        closer = period - (period + math.expm1(-period) - ratio) / -math.expm1(-period)\n"
                "        if not closer < period:\n"
                "            return -math.expm1(-period) * mtbf\n"
                "        period = closer",
                "    for _ in range(100):\n"
                "        period -= (period - math.log1p(period) - ratio) * (1 + period) / period\n"
                "    return -period * mtbf",
            ),
            ("min(1.0, math.sqrt(2 * ratio))", "math.sqrt(2 * ratio)"),
            (
                "    if ratio < 1e-6:  # the equation loses its digits to cancellation, where Daly's series is "
                "right to 1e-11\n"
                "        return _daly(checkpoint_time, mtbf)\n",
                "",
            ),
        ),
    ),
    Slip(
        "The first-order waste C/t + t/(2M) has Young's minimum; the exact wall-clock has exponentials.",
        edit=('"exact": _exact', '"exact": _young'),
    ),
    Slip(
        "`sqrt(2 C M) - C` breaks Daly's series off after its first term. (With M + R in place of M it is another "
        "formula of his; restarts do not move the optimum.)",
        edit=(" * (1 + math.sqrt(x) / 3 + x / 9) - checkpoint_time", " - checkpoint_time"),
    ),
)
