"""Wrong programs for ``LossScaler``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class SharedState:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if not (0 < init_scale < 1e300 and type(growth_interval) is int and growth_interval >= 1) or not (
            1 < growth_factor < 1e300 and 0 < backoff_factor < 1 and 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        SharedState.scale, SharedState.growth_tracker = float(init_scale), 0
        SharedState.growth_factor, SharedState.backoff_factor = growth_factor, backoff_factor
        SharedState.growth_interval, SharedState.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        from math import isfinite

        return [g / self.scale for g in gradients], not all(map(isfinite, gradients))

    def update(self, found_inf):
        if found_inf:
            SharedState.scale, SharedState.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        SharedState.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            SharedState.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                SharedState.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval")
        if type(state["_growth_tracker"]) is not int or state["_growth_tracker"] < 0:
            raise ValueError("out of range")
        SharedState(*(state[name] for name in names), state.get("min_scale", self.min_scale))
        SharedState.growth_tracker = state["_growth_tracker"]


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
                'scale, interval, tracker = state["scale"], state["growth_interval"], state["_growth_tracker"]',
                'scale, interval, tracker = state["scale"], state["growth_interval"], 0',
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
            (
                "unscaled, found_inf = [gradient / self._scale for gradient in gradients], not "
                "all(map(math.isfinite, gradients))\n"
                "        self.update(found_inf)\n"
                "        return unscaled, found_inf"
            ),
        ),
    ),
    Slip("Two scalers share their state: keep it in the instance, not in the class.", SharedState),
)
