"""Wrong programs for ``LossScaler``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class GrowsBeyond:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        from math import isfinite

        return [g / self.scale for g in gradients], not all(map(isfinite, gradients))

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker >= self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)


class ForgetsCount:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        from math import isfinite

        return [g / self.scale for g in gradients], not all(map(isfinite, gradients))

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)
        self.growth_tracker = 0


class Multiplies:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        from math import isfinite

        return [g * self.scale for g in gradients], not all(map(isfinite, gradients))

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)


class TestsThreshold:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        unscaled = [g / self.scale for g in gradients]
        return unscaled, not all(abs(g) <= 65504 for g in unscaled)

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)


class MissesNan:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        return [g / self.scale for g in gradients], any(abs(g) == float("inf") for g in gradients)

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)


class UpdatesInUnscale:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
        ):
            raise ValueError("out of range")
        self.scale, self.growth_tracker = float(init_scale), 0
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval, self.min_scale = growth_interval, min_scale

    def scale_loss(self, loss):
        return loss * self.scale

    def unscale(self, gradients):
        from math import isfinite

        unscaled, found_inf = [g / self.scale for g in gradients], not all(map(isfinite, gradients))
        self.update(found_inf)
        return unscaled, found_inf

    def update(self, found_inf):
        if found_inf:
            self.scale, self.growth_tracker = max(self.scale * self.backoff_factor, self.min_scale), 0
            return self.scale
        self.growth_tracker += 1
        if self.growth_tracker == self.growth_interval:
            self.growth_tracker = 0
            if self.scale * self.growth_factor <= 3.4028234663852886e38:
                self.scale *= self.growth_factor
        return self.scale

    def state_dict(self):
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "min_scale")
        return {name: getattr(self, name) for name in names} | {"_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name.lstrip("_"), value)


class SharedState:
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, min_scale=0.0):
        if (
            not (0 < init_scale < 1e300 and growth_interval >= 1 and growth_factor > 1 and 0 < backoff_factor < 1)
            or not 0 <= min_scale <= init_scale
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
        for name, value in state.items():
            setattr(SharedState, name.lstrip("_"), value)


LOSS_SCALER = (
    Slip(
        "The scale grows when the count equals the interval; with `>=`, a loaded count beyond it grows at once.",
        GrowsBeyond,
    ),
    Slip("The state must hold the count of clean steps: without it a resumed run grows late.", ForgetsCount),
    Slip("Unscaling divides by the scale; yours multiplies.", Multiplies),
    Slip("Only inf and nan are overflows; yours calls a large finite gradient one.", TestsThreshold),
    Slip("nan is an overflow too, and it compares unequal to everything.", MissesNan),
    Slip("`unscale` only looks; the scale changes in `update`, once per step.", UpdatesInUnscale),
    Slip("Two scalers share their state: keep it in the instance, not in the class.", SharedState),
)
