"""Wrong programs for ``LossScaler``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

LOSS_SCALER = (
    Slip(
        "A loaded count beyond the interval must not make the scale grow: it grows when the count equals the interval.",
        edit=("self._growth_tracker == self._growth_interval", "self._growth_tracker >= self._growth_interval"),
    ),
    Slip(
        "The state has to hold the count of clean steps: without it a resumed run grows late.",
        edits=(
            ('            "_growth_tracker": self._growth_tracker,\n', ""),
            (
                'self._scale, self._growth_tracker = float(state["scale"]), int(state["_growth_tracker"])',
                'self._scale, self._growth_tracker = float(state["scale"]), 0',
            ),
        ),
    ),
    Slip(
        "Unscaling divides by the scale; yours multiplies.", edit=("gradient / self._scale", "gradient * self._scale")
    ),
    Slip(
        "Only inf and nan are overflows; yours calls a large finite gradient one.",
        edit=(
            "not all(map(math.isfinite, gradients))",
            "not all(abs(gradient / self._scale) <= 65504 for gradient in gradients)",
        ),
    ),
    Slip(
        "Look for inf and nan in the gradients that come in: under a scale below 1 a quotient can overflow by itself.",
        edit=(
            "not all(map(math.isfinite, gradients))",
            "not all(math.isfinite(gradient / self._scale) for gradient in gradients)",
        ),
    ),
    Slip(
        "nan is an overflow too, and it compares unequal to everything.",
        edit=("not all(map(math.isfinite, gradients))", "any(map(math.isinf, gradients))"),
    ),
    Slip(
        "`unscale` only looks; the scale changes in `update`, once per step.",
        edit=(
            "return [gradient / self._scale for gradient in gradients], not all(map(math.isfinite, gradients))",
            "unscaled, found_inf = [gradient / self._scale for gradient in gradients], not "
            "all(map(math.isfinite, gradients))\n"
            "        self.update(found_inf)\n"
            "        return unscaled, found_inf",
        ),
    ),
    Slip(
        "Two scalers share their state: keep it in the instance, not in the class.",
        edits=(
            ("    def __init__(", "    _state: dict[str, float] = {}\n\n    def __init__("),
            (
                "        self._scale = float(init_scale)",
                "        self.__dict__ = self._state\n        self._scale = float(init_scale)",
            ),
        ),
    ),
)
