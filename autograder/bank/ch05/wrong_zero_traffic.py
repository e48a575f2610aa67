"""Wrong programs for ``zero_traffic``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

ZERO_TRAFFIC = (
    Slip(
        "Stages 1 and 2 scatter the reduced gradients; then each rank's updated weights must be gathered.",
        edit=("gathered = weight_bytes\n", "gathered = 0.0\n"),
    ),
    Slip(
        "Optimizer states never travel: it is the updated weights that are gathered.",
        edit=("gathered = weight_bytes\n", "gathered = 12.0\n"),
    ),
    Slip(
        "A gather is half of an all-reduce: stage 3 sends two gathers of weights and one reduce-scatter.",
        edit=("micro_steps * weight_bytes", "micro_steps * 2 * weight_bytes"),
    ),
    Slip(
        "A rank's own slice does not travel: each collective moves (N-1)/N of the tensor.",
        edit=("(ranks - 1) / ranks * params", "params"),
    ),
    Slip(
        "Stages 2 and 3 keep a slice of the gradients, so they reduce in every micro-step; yours reduces once.",
        edits=(("micro_steps if stage >= 2 else 1", "1"), ("micro_steps * weight_bytes", "weight_bytes")),
    ),
    Slip(
        "Stages 0 and 1 accumulate whole gradients and reduce once; yours communicates in every micro-step.",
        edits=(
            ("micro_steps if stage >= 2 else 1", "micro_steps"),
            ("gathered = gradient_bytes", "gathered = micro_steps * gradient_bytes"),
            ("gathered = weight_bytes\n", "gathered = micro_steps * weight_bytes\n"),
        ),
    ),
    Slip(
        "Without resharding the weights stay gathered: one gather in a micro-step, not two.",
        edit=("(2 if reshard else 1)", "2"),
    ),
)
