"""What the docstrings of chapter 5 promise, and edits of the references that break each promise."""

from __future__ import annotations

from typing import Any

from solutions.ch05.precision import LossScaler
from tools.clauses import Clause


def with_a_live_state(*args: Any, **kwargs: Any):
    """A scaler that hands out its own state."""

    class Live(LossScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._state: dict[str, float] = {}

        def state_dict(self) -> dict[str, float]:
            self._state.update(super().state_dict())
            return self._state

        def update(self, found_inf: bool) -> float:
            scale = super().update(found_inf)
            self.state_dict()
            return scale

    return Live(*args, **kwargs)


CLAUSES = {
    "05-assign-buckets": (
        Clause(
            "closes as soon as it holds at least its limit: it may hold more",
            edits=(("if held >= limit:", "if held + size > limit:"),),
        ),
        Clause(
            "What is left over at the end forms the last bucket",
            edits=(("    return buckets\n", "    return buckets if held >= limit else buckets[:-1]\n"),),
        ),
        Clause(
            "The last one holds for all later buckets",
            edits=(("limits[min(len(buckets), len(limits) - 1)]", "limits[len(buckets) % len(limits)]"),),
        ),
        Clause(
            "none when there is no gradient",
            edits=(("    return buckets\n", "    return buckets or [[]]\n"),),
        ),
    ),
    "05-exposed-communication": (
        Clause(
            "The buckets go over one stream, one after another",
            edits=(("free = max(ready, free) + sending", "free = max(free, ready + sending)"),),
        ),
        Clause("0 without buckets", edits=(("    ready = free = 0.0\n", "    ready = free = 0.0 / len(compute)\n"),)),
    ),
    "05-accumulated-step-time": (
        Clause("of the optimizer, once", edits=(("+ update_time", "+ micro_steps * update_time"),)),
        Clause(
            "else once, at the end",
            edits=(("(micro_steps if sync_every else 1)", "micro_steps"),),
        ),
    ),
    "05-scaled-learning-rate": (
        Clause(
            "The other rules do not use it",
            edits=(
                ('    if rule == "linear":\n', '    if rule == "linear" and noise_scale is None:\n'),
                ('    if rule == "sqrt":\n', '    if rule == "sqrt" and noise_scale is None:\n'),
            ),
        ),
        Clause(
            "that passes through ``base`` at ``base_batch``",
            edits=(("base * (1 + noise_scale / base_batch)", "base"),),
        ),
    ),
    "05-learning-rate-at": (
        Clause(
            "later steps keep it",
            edits=(("    if step >= total:\n", "    if step == total:\n"),),
        ),
        Clause(
            "it may lie beyond ``total``",
            edits=(("    if step >= total:\n", "    assert step <= total\n    if step == total:\n"),),
        ),
        Clause(
            "from 0 (no warm-up)",
            edits=(("    if step <= warmup:\n", "    if step <= warmup or not warmup:\n"),),
        ),
    ),
    "05-gradient-noise-scale": (
        Clause(
            "inf where the estimate of ``G`` is not positive",
            edits=(("if signal > 0 else math.inf", "if signal else math.inf"),),
        ),
        Clause("``max(S, 0) / G`` in rows", edits=(("max(noise, 0.0)", "noise"),)),
    ),
    "05-state-bytes": (
        Clause(
            "and, where there is one, the fp32 master copy of the weights",
            edits=(("moments + (4.0 if copy else 0.0)", "moments"),),
        ),
        Clause(
            "whether an fp32 copy is kept besides the weights",
            edits=(("copy = weights < 4 if master is None else master", "copy = weights < 4 and master is not False"),),
        ),
        Clause(
            "None is the type of the weights",
            edits=(("NUMBER_BYTES[gradient or compute]", 'NUMBER_BYTES[gradient or "bf16"]'),),
        ),
    ),
    "05-zero-memory": (
        Clause(
            "one rank holds everything, whatever the stage",
            edits=(
                ("weight_bytes / (ranks if stage >= 3 else 1)", "weight_bytes / (max(ranks, 2) if stage >= 3 else 1)"),
            ),
        ),
        Clause(
            "12 is Adam in fp32: master copy of the weight, first moment and second moment, 4 bytes each.",
            edits=(("optimizer_bytes: float = 12.0", "optimizer_bytes: float = 8.0"),),
        ),
        Clause(
            "nothing rounded or padded",
            edits=(("return float(params *", "return float(-(-params // ranks) * ranks *"),),
        ),
    ),
    "05-zero-traffic": (
        Clause(
            "optimizer states never travel",
            edits=(("        gathered = weight_bytes\n", "        gathered = weight_bytes + 12.0\n"),),
        ),
        Clause(
            "stages 2 and 3 keep only a slice, so they reduce in every micro-step",
            edits=(("micro_steps if stage >= 2 else 1", "micro_steps if stage >= 3 else 1"),),
        ),
        Clause(
            "and stage 3 gathers in every micro-step too",
            edits=(("gathered = micro_steps * weight_bytes", "gathered = weight_bytes"),),
        ),
        Clause(
            "The other stages do not use it",
            edits=(("        gathered = weight_bytes\n", "        gathered = weight_bytes * (1 if reshard else 2)\n"),),
        ),
        Clause(
            "Stages 0 and 1 accumulate whole gradients and reduce once",
            edits=(("micro_steps if stage >= 2 else 1", "micro_steps"),),
        ),
    ),
    "05-min-ranks": (
        Clause(
            "States that fill the memory exactly fit",
            edits=(
                ("math.ceil((everything - kept) / room * (1 - _SLACK))", "math.floor((everything - kept) / room) + 1"),
            ),
        ),
        Clause(
            "sums that differ by less than one part in 1e12 count as equal",
            edits=(("_SLACK = 1e-12", "_SLACK = 0.0"),),
        ),
        Clause("None when no number is enough", edits=(("        return None\n", "        return 1\n"),)),
        Clause(
            "the rest alone fills the memory, no number is enough",
            edits=(("if room <= memory * _SLACK:", "if room < 0:"), ("/ room *", "/ (room or 1e-9) *")),
        ),
    ),
    "05-round-to-format": (
        Clause(
            "nan stays nan",
            edits=(
                (
                    "    if math.isnan(value) or value == 0:\n        return float(value)\n",
                    "    if math.isnan(value) or value == 0:\n        return value if value == 0 else 0.0\n",
                ),
            ),
        ),
        Clause(
            "zeros keep their sign",
            edits=(("        return float(value)\n", "        return value + 0.0\n"),),
        ),
        Clause(
            "what is rounded beyond it becomes inf",
            edits=(("beyond = math.inf if infinities else largest", "beyond = largest"),),
        ),
        Clause(
            "the largest exponent holds numbers too, all but the one with a full mantissa (nan)",
            edits=(("largest = (2 - 2.0 ** (1 - mantissa_bits)) *", "largest = (2 - 2.0 ** -mantissa_bits) *"),),
        ),
        Clause(
            "anything larger, inf included, becomes that number",
            edits=(("        return math.copysign(beyond, value)\n", "        return value\n"),),
        ),
        Clause(
            "of two that are equally near, the even one",
            edits=(("round(abs(value) / step)", "math.floor(abs(value) / step + 0.5)"),),
        ),
    ),
    "05-dynamic-loss-scale": (
        Clause(
            "one flag per step, true when a gradient was inf or nan",
            why="it says what the flags mean, and the function sees no gradient",
        ),
        Clause(
            "any iterable, walked through once",
            edits=(("for overflow in overflows:", "for overflow in [*overflows][: len([*overflows])]:"),),
        ),
        Clause(
            "but not below ``min_scale``",
            edits=(("max(scale * backoff_factor, min_scale)", "scale * backoff_factor"),),
        ),
        Clause(
            "it stays where that would be more than the largest finite float32",
            edits=(
                (
                    "            if scale * growth_factor <= FLOAT32_MAX:\n                scale *= growth_factor\n",
                    "            scale = min(scale * growth_factor, FLOAT32_MAX)\n",
                ),
            ),
        ),
        Clause(
            "``init_scale`` when there is no step",
            edits=(("    return scale\n", "    return scale if overflows else 0.0\n"),),
        ),
        Clause(
            "It need not be a power of two",
            edits=(
                (
                    "scale, clean_steps = float(init_scale), 0",
                    "scale, clean_steps = 2.0 ** round(math.log2(init_scale)), 0",
                ),
            ),
        ),
    ),
    "05-loss-scaler": (
        Clause(
            "for inf and nan (:meth:`unscale`), clips, takes the optimizer's step or skips it",
            why="it tells the order in which a training loop calls the methods",
        ),
        Clause(
            "The gradients divided by the scale, and whether one of those passed in is inf or nan",
            edits=(
                ("map(math.isfinite, gradients)", "math.isfinite(gradient / self._scale) for gradient in gradients"),
            ),
        ),
        Clause(
            "changes no state",
            edits=(
                (
                    "        return [gradient / self._scale for gradient in gradients],",
                    "        self._growth_tracker *= all(map(math.isfinite, gradients))\n"
                    "        return [gradient / self._scale for gradient in gradients],",
                ),
            ),
        ),
        Clause("in a new dict, which later calls leave as it is", program=with_a_live_state),
        Clause(
            "Returns the new scale",
            edits=(
                (
                    "self._min_scale), 0\n            return self._scale\n",
                    "self._min_scale), 0\n            return None\n",
                ),
            ),
        ),
        Clause(
            "a count that was loaded and is already beyond the interval never makes it grow",
            edits=(
                (
                    "if self._growth_tracker == self._growth_interval:",
                    "if self._growth_tracker >= self._growth_interval:",
                ),
            ),
        ),
        Clause(
            "until an overflow sets it back to 0",
            edits=(
                (
                    "max(self._scale * self._backoff_factor, self._min_scale), 0\n",
                    "max(self._scale * self._backoff_factor, self._min_scale), max(0, self._growth_tracker - 5)\n",
                ),
            ),
        ),
        Clause(
            "one without ``min_scale`` keeps the present floor",
            edits=(('state.get("min_scale", self._min_scale)', 'state.get("min_scale", 0.0)'),),
        ),
        Clause("Everything that a resumed run needs", edits=(('            "min_scale": self._min_scale,\n', ""),)),
    ),
    "05-delayed-sgd": (
        Clause(
            "until the first delayed gradient arrives, the gradient at the start is used",
            edits=(("path[max(0, step - delay)]", "path[max(0, step - delay)] * (step >= delay)"),),
        ),
        Clause("0 is plain SGD", edits=(("path[max(0, step - delay)]", "path[max(0, step - max(1, delay))]"),)),
    ),
    "05-synchronize-gradients": (
        Clause(
            "One that is named twice is reduced once.",
            edits=(("for parameter in dict.fromkeys(parameters) if", "for parameter in parameters if"),),
        ),
        Clause(
            "One that needs no gradient is left alone.",
            edits=(("dict.fromkeys(parameters) if parameter.requires_grad]", "dict.fromkeys(parameters)]"),),
        ),
        Clause(
            "One whose ``grad`` is None on this rank travels as zeros",
            edits=(("        if not ranks:\n", "        if ranks < dist.get_world_size(group):\n"),),
        ),
        Clause(
            "on every rank travels all the same, but stays None",
            edits=(("            parameter.grad = None\n", "            continue\n"),),
        ),
        Clause(
            "A ``grad`` keeps its storage",
            edits=(
                (
                    "    return parameter.grad.mul_(share) if share else parameter.grad.zero_()\n",
                    "    grad = parameter.grad\n"
                    "    parameter.grad = grad * share if share else torch.zeros_like(grad)\n"
                    "    return parameter.grad\n",
                ),
            ),
        ),
        Clause(
            "A rank without rows adds nothing, whatever its gradients hold.",
            edits=(("parameter.grad.mul_(share) if share else parameter.grad.zero_()", "parameter.grad.mul_(share)"),),
        ),
        Clause(
            "so from the last parameter to the first",
            edits=(("_trainable(parameters)[::-1]", "_trainable(parameters)"),),
        ),
    ),
    "05-sharded-adam-w": (
        Clause(
            "Each rank keeps an fp32 master copy",
            edits=(
                (
                    "        mine = self.master.to(self.parameters[0].dtype)\n",
                    "        mine = self.master.to(self.parameters[0].dtype)\n        self.master.copy_(mine)\n",
                ),
            ),
        ),
        Clause(
            "The states never travel.",
            edits=(
                (
                    "        _fill(self.parameters, weights)\n",
                    "        _fill(self.parameters, weights)\n"
                    "        dist.all_reduce(self.first.clone(), group=self.group)\n",
                ),
            ),
        ),
        Clause(
            "Bytes of master copy and moments on this rank",
            edits=(("self.first.nbytes + self.second.nbytes", "self.first.nbytes"),),
        ),
        Clause(
            "also where it is None on every rank: that weight decays too",
            edits=(
                (
                    "        _fill(self.parameters, weights)\n",
                    "        old = [p.detach().clone() for p in self.parameters]\n"
                    "        _fill(self.parameters, weights)\n"
                    "        for p, weight in zip(self.parameters, old):\n"
                    "            p.data = weight if p.grad is None else p.data\n",
                ),
            ),
        ),
        Clause(
            "apart from the gradient",
            edits=(
                ("        self.master.mul_(1 - self.lr * self.weight_decay)\n", ""),
                (
                    "        self.steps += 1\n",
                    "        self.steps += 1\n        gradient = gradient + self.weight_decay * self.master\n",
                ),
            ),
        ),
    ),
    "05-reduce-to-slice": (
        Clause("added to what it has kept", edits=(("mine if kept is None else kept + mine", "mine"),)),
        Clause("slice of the mean of all ranks' gradients", edits=(("    mine /= ranks\n", ""),)),
    ),
    "05-gather-parameter": (
        Clause(
            "it is padded and goes through one reduce-scatter",
            edits=(
                (
                    "(0, ranks * ctx.length - gradient.numel()))",
                    "(0, ranks * ctx.length - gradient.numel()), value=1.0)",
                ),
            ),
        ),
        Clause(
            "slice of the *mean* over the ranks",
            edits=(("return mine / ranks, None, None", "return mine, None, None"),),
        ),
        Clause(
            "the padding at the end is cut off",
            edits=(
                ("return whole[:numel]", "return whole"),
                ("torch.nn.functional.pad(gradient, (0, ranks * ctx.length - gradient.numel()))", "gradient"),
            ),
        ),
    ),
}
