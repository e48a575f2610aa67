"""Wrong programs for the closed forms of checkpointing: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

CHECKPOINT_WASTE = (
    Slip(
        "C/t + t/(2M) + R/M is the first order: it can pass 1, and a share cannot.",
        edit=(
            "    try:\n",
            "    return checkpoint_time / interval + interval / (2 * mtbf) + restart_time / mtbf\n    try:\n",
        ),
    ),
    Slip(
        "That is the writing alone: work is lost and done again, too.",
        edit=("    try:\n", "    return checkpoint_time / (interval + checkpoint_time)\n    try:\n"),
    ),
    Slip(
        "A failure loses half an interval on average, not a whole one.",
        edit=(
            "    try:\n",
            "    overhead = checkpoint_time / interval + (interval + checkpoint_time + restart_time) / mtbf\n"
            "    return overhead / (1 + overhead)\n"
            "    try:\n",
        ),
    ),
    Slip(
        "That is the overhead, idle over useful; the waste is idle over all.",
        edit=("return 1 - 1 / max(1.0, wall)", "return wall - 1"),
    ),
    Slip(
        "A restart follows a failure, not every checkpoint.",
        edit=(
            "math.exp(restart_time / mtbf) * math.expm1((interval + checkpoint_time)",
            "math.expm1((interval + checkpoint_time + restart_time)",
        ),
    ),
    Slip(
        "Restarts are missing: they multiply the wall-clock by exp(R/M).",
        edit=("math.exp(restart_time / mtbf) * math.expm1", "math.expm1"),
    ),
    Slip(
        "A failure may strike during a checkpoint, too, so the exponent has t + C.",
        edit=(
            "(interval + checkpoint_time) / mtbf) * mtbf / interval",
            "interval / mtbf) * mtbf / interval + checkpoint_time / interval",
        ),
    ),
    Slip(
        "Where the exponential leaves the range of floats, the waste is 1.0.",
        edit=("    except OverflowError:\n        return 1.0", "    finally:\n        pass"),
    ),
)

CHECKPOINT_WRITE_TIME = (
    Slip(
        "Writers do not multiply the storage: all of them share it.",
        edit=(
            "min(writers * writer_bandwidth, storage_bandwidth)",
            "(writers * min(writer_bandwidth, storage_bandwidth))",
        ),
    ),
    Slip(
        "The slower of the two decides: min, not max.",
        edit=("return parameters * bytes_per_parameter / min", "return parameters * bytes_per_parameter / max"),
    ),
    Slip(
        "The storage is missing: it does not grow with the writers.",
        edit=("min(writers * writer_bandwidth, storage_bandwidth)", "(writers * writer_bandwidth)"),
    ),
    Slip("Writers work at the same time: their links add up.", edit=("writers * writer_bandwidth", "writer_bandwidth")),
    Slip(
        "`bytes_per_parameter` is all that is stored; gradients are not.",
        edit=("parameters * bytes_per_parameter", "parameters * (bytes_per_parameter + 2)"),
    ),
)

FAILURE_COST = (
    Slip(
        "A failure in the checkpoint loses the interval, too: the segment is t + C long.",
        edit=("mtbf * (1 - segment / math.expm1(segment))", "mtbf - interval / math.expm1(interval / mtbf)"),
    ),
    Slip(
        "Half a segment is the first order: failures strike early in a segment more often than late.",
        edit=("return (lost", "return ((interval + checkpoint_time) / 2"),
    ),
    Slip(
        "A failure loses half a segment on average, not a whole one.",
        edit=("return (lost", "return (interval + checkpoint_time"),
    ),
    Slip("The whole job waits: every GPU is paid for.", edit=("(lost + restart_time) * gpus", "(lost + restart_time)")),
    Slip(
        "What is lost began at the last checkpoint, not at the last failure.", edit=("return (lost", "return (mtbf / 2")
    ),
    Slip("The restart is missing.", edit=("(lost + restart_time) * gpus", "lost * gpus")),
)
