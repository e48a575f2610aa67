"""Wrong programs for ``dynamic_loss_scale``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def every_interval_of_the_run(
    overflows, init_scale=65536.0, growth_interval=2000, growth_factor=2.0, backoff_factor=0.5, min_scale=0.0
):
    if (
        not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
        or not 0 <= min_scale <= init_scale
    ):
        raise ValueError("out of range")
    scale = init_scale
    for step, overflow in enumerate(overflows, 1):
        if overflow:
            scale = max(scale * backoff_factor, min_scale)
        elif step % growth_interval == 0 and scale * growth_factor <= 3.4028234663852886e38:
            scale *= growth_factor
    return scale


def no_float32_cap(
    overflows, init_scale=65536.0, growth_interval=2000, growth_factor=2.0, backoff_factor=0.5, min_scale=0.0
):
    if (
        not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
        or not 0 <= min_scale <= init_scale
    ):
        raise ValueError("out of range")
    scale, clean = init_scale, 0
    for overflow in overflows:
        if overflow:
            scale, clean = max(scale * backoff_factor, min_scale), 0
            continue
        clean += 1
        if clean == growth_interval:
            scale, clean = scale * growth_factor, 0
    return scale


DYNAMIC_LOSS_SCALE = (
    Slip(
        "An overflow sets the count of clean steps back to 0; yours counts on.",
        edit=(
            "scale, clean_steps = max(scale * backoff_factor, min_scale), 0",
            "scale = max(scale * backoff_factor, min_scale)",
        ),
    ),
    Slip(
        "Growth sets the count of clean steps back to 0; yours grows at every step from then on.",
        edits=(
            (("            clean_steps = 0\n            if scale"), "            if scale"),
            ("clean_steps == growth_interval", "clean_steps >= growth_interval"),
        ),
    ),
    Slip(
        "The scale grows at the step that completes the interval; yours grows one step late.",
        edit=("clean_steps == growth_interval", "clean_steps > growth_interval"),
    ),
    Slip(
        "What counts is clean steps in a row; yours grows at every interval-th step of the run.",
        every_interval_of_the_run,
    ),
    Slip(
        "The scale is no power of two in general: `//` cuts it down to an integer (3 becomes 1).",
        edit=("scale * backoff_factor", "scale // (1 / backoff_factor)"),
    ),
    Slip(
        "The floor holds at every overflow, not only at the start.",
        edit=("max(scale * backoff_factor, min_scale)", "scale * backoff_factor"),
    ),
    Slip("The scale of a real run is a float32: do not grow beyond its largest finite number.", no_float32_cap),
    Slip(
        "Every overflow backs off, also when the step before has overflowed.",
        edits=(
            ("scale, clean_steps = float(init_scale), 0", "scale, clean_steps, before = float(init_scale), 0, False"),
            (
                "scale, clean_steps = max(scale * backoff_factor, min_scale), 0\n            continue",
                (
                    "scale, clean_steps = scale if before else max(scale * backoff_factor, min_scale), 0\n"
                    "            before = True\n"
                    "            continue\n"
                    "        before = False"
                ),
            ),
        ),
    ),
)
