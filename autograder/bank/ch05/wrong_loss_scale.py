"""Wrong programs for ``dynamic_loss_scale``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

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
            ("            clean_steps = 0\n            if scale", "            if scale"),
            ("clean_steps == growth_interval", "clean_steps >= growth_interval"),
        ),
    ),
    Slip(
        "The scale grows at the step that completes the interval; yours grows one step late.",
        edit=("clean_steps == growth_interval", "clean_steps > growth_interval"),
    ),
    Slip(
        "What counts is clean steps in a row; yours grows at every interval-th step of the run.",
        edits=(
            ("for overflow in overflows:", "for step, overflow in enumerate(overflows, 1):"),
            ("if clean_steps == growth_interval:", "if step % growth_interval == 0:"),
        ),
    ),
    Slip(
        "The scale is no power of two in general: `//` cuts it down to an integer (3 becomes 1).",
        edit=("scale * backoff_factor", "scale // (1 / backoff_factor)"),
    ),
    Slip(
        "The floor holds at every overflow, not only at the start.",
        edit=("max(scale * backoff_factor, min_scale)", "scale * backoff_factor"),
    ),
    Slip(
        "The scale of a real run is a float32: do not grow beyond its largest finite number.",
        edit=("            if scale * growth_factor <= FLOAT32_MAX:\n                scale *=", "            scale *="),
    ),
    Slip(
        "Every overflow backs off, also when the step before has overflowed.",
        edits=(
            ("scale, clean_steps = float(init_scale), 0", "scale, clean_steps, before = float(init_scale), 0, False"),
            (
                "scale, clean_steps = max(scale * backoff_factor, min_scale), 0\n            continue",
                "scale, clean_steps = scale if before else max(scale * backoff_factor, min_scale), 0\n"
                "            before = True\n"
                "            continue\n"
                "        before = False",
            ),
        ),
    ),
)
