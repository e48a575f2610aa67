"""Further right programs for the items of chapter 5."""

from __future__ import annotations

import math
from fractions import Fraction

from tools.luck import Right


def waits_on_a_heap_of_ends(compute, communication):
    """The end of each transfer as a maximum over the buckets from which the stream never idles."""
    total = math.fsum(compute)
    ends = [math.fsum(compute[: first + 1]) + math.fsum(communication[first:]) - total for first in range(len(compute))]
    return max([0.0, *ends])


def rounded_in_fractions(value, exponent_bits, mantissa_bits, infinities=True):
    """The grid in exact arithmetic."""
    if value != value or value == 0:
        return value
    bias = 2 ** (exponent_bits - 1) - 1
    full = 2**mantissa_bits
    largest = Fraction(2 * full - 1, full) * 2**bias if infinities else Fraction(2 * full - 2, full) * 2 ** (bias + 1)
    beyond = math.inf if infinities else float(largest)
    if math.isinf(value):
        return math.copysign(beyond, value)
    exact, exponent = Fraction(abs(value)), 1 - bias
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - mantissa_bits)
    size = round(exact / step) * step
    return math.copysign(float(size) if size <= largest else beyond, value)


def path_by_recursion(curvature, learning_rate, delay, steps, start=1.0):
    """The same path as factors of the start, multiplied at the end."""
    rate, factors = curvature * learning_rate, [1.0]
    while len(factors) <= steps:
        late = factors[max(0, len(factors) - 1 - delay)]
        factors.append(factors[-1] - rate * late)
    return [factor * start for factor in factors]


def rate_by_the_rule_alone(base, base_batch, batch, rule, noise_scale=None):
    """The noise scale is not looked at unless the rule is ``noise``."""
    used = [base, base_batch, batch]
    if rule == "noise" and noise_scale is not None:
        used.append(noise_scale)
    if rule == "noise":
        largest = base * (1 + noise_scale / base_batch)
        return largest / (1 + noise_scale / batch)
    return base * (batch / base_batch) ** (1 if rule == "linear" else 0.5)


def ranks_by_doubling(params, stage, memory, other=0.0, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    """The definition: the first number of ranks whose sum fits, found by halving."""
    sizes = (weight_bytes, gradient_bytes, optimizer_bytes)

    def total(ranks):
        parts = (size if stage < first else size / ranks for size, first in zip(sizes, (3, 2, 1), strict=True))
        return other + params * sum(parts)

    def fits(size):
        return size <= memory * (1 + 1e-12)

    if fits(total(1)):
        return 1
    kept = total(math.inf)
    if stage == 0 or kept >= memory * (1 - 1e-12):
        return None
    above = 2
    while not fits(total(above)):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if fits(total(middle)) else (middle, above)
    return above


RIGHT = {
    "05-min-ranks": (
        Right("by the definition", program=ranks_by_doubling),
        Right("one part after the other", edits=(("room = memory - other - kept", "room = memory - kept - other"),)),
    ),
    "05-sharded-adam-w": (
        Right(
            "gradients divided before they are summed",
            edits=(
                (
                    "list(_flat(zeros, self.ranks).chunk(self.ranks))",
                    "list((_flat(zeros, self.ranks) / self.ranks).chunk(self.ranks))",
                ),
                ("self._update(gradient / self.ranks)", "self._update(gradient)"),
            ),
        ),
        Right(
            "double precision inside",
            edits=(
                (
                    "(self.first, self.second), self.betas, strict=True))",
                    "(self.first.double(), self.second.double()), self.betas, strict=True))",
                ),
            ),
        ),
        Right(
            "bias correction in the step size",
            edits=(
                (
                    "self.master.sub_(self.lr * mean / (square.sqrt() + self.eps))",
                    "rate = self.lr / (1 - self.betas[0] ** self.steps)\n"
                    "        root = self.second.sqrt() / (1 - self.betas[1] ** self.steps) ** 0.5\n"
                    "        self.master.addcdiv_(self.first, root.add_(self.eps), value=-rate)",
                ),
            ),
        ),
    ),
    "05-exposed-communication": (
        Right("from every bucket on without a pause", program=waits_on_a_heap_of_ends),
        Right(
            "idle time of the stream",
            edits=(
                ("    ready = free = 0.0\n", "    ready = free = idle = 0.0\n"),
                (
                    "        free = max(ready, free) + sending\n    return max(0.0, free - ready)\n",
                    "        idle += max(0.0, ready - free)\n        free = max(ready, free) + sending\n"
                    "    return max(0.0, idle + sum(communication) - sum(compute))\n",
                ),
            ),
        ),
    ),
    "05-accumulated-step-time": (
        Right(
            "one addition after another",
            edits=(
                (
                    "    return micro_steps * micro_time"
                    " + (micro_steps if sync_every else 1) * sync_time + update_time",
                    "    total = update_time\n    for step in range(micro_steps):\n        total += micro_time\n"
                    "        if sync_every or not step:\n            total += sync_time\n    return total",
                ),
            ),
        ),
        Right(
            "factored out",
            edits=(
                (
                    "    return micro_steps * micro_time"
                    " + (micro_steps if sync_every else 1) * sync_time + update_time",
                    "    if sync_every:\n        return update_time + micro_steps * (micro_time + sync_time)\n"
                    "    return update_time + sync_time + micro_time * micro_steps",
                ),
            ),
        ),
    ),
    "05-debug-loss": (
        Right(
            "shares of the tokens",
            edits=(
                (
                    "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                    "sum(count / sum(tokens) * loss for loss, count in zip(losses, tokens, strict=True))",
                ),
            ),
        ),
        Right(
            "summed exactly",
            edits=(
                (
                    "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                    "math.fsum(map(lambda a, b: a * b, reversed(losses), reversed(tokens))) / math.fsum(tokens)",
                ),
            ),
        ),
    ),
    "05-scaled-learning-rate": (
        Right("checks what a rule uses", program=rate_by_the_rule_alone),
        Right(
            "the ratio first, the harmonic form of the curve",
            edits=(
                ("return base * batch / base_batch", "return batch / base_batch * base"),
                ("base * math.sqrt(batch / base_batch)", "base * batch**0.5 / base_batch**0.5"),
                (
                    "base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                    "base * (batch / base_batch) * ((base_batch + noise_scale) / (batch + noise_scale))",
                ),
            ),
        ),
        Right(
            "the maximum of the curve",
            edits=(
                ("return base * batch / base_batch", "return base / (base_batch / batch)"),
                ("base * math.sqrt(batch / base_batch)", "base / math.sqrt(base_batch / batch)"),
                (
                    "return base * (1 + noise_scale / base_batch) / (1 + noise_scale / batch)",
                    "most = base + base * noise_scale / base_batch\n    return most / (1 + noise_scale / batch)",
                ),
            ),
        ),
    ),
    "05-learning-rate-at": (
        Right(
            "the square of a cosine",
            edits=(
                ("return peak * step / warmup", "return step / warmup * peak"),
                (
                    "(peak - minimum) * (1 + math.cos(math.pi * progress)) / 2",
                    "(peak - minimum) * math.cos(math.pi / 2 * progress) ** 2",
                ),
            ),
        ),
        Right(
            "a mean of peak and minimum",
            edits=(
                (
                    "    return minimum + (peak - minimum) * (1 + math.cos(math.pi * progress)) / 2\n",
                    "    wave = math.sin(math.pi * (0.5 - progress))\n"
                    "    return peak * (0.5 + 0.5 * wave) + minimum * (0.5 - 0.5 * wave)\n",
                ),
            ),
        ),
    ),
    "05-gradient-noise-scale": (
        Right(
            "products in place of reciprocals",
            edits=(
                (
                    "(small_norm_squared - large_norm_squared) / (1 / small_batch - 1 / large_batch)",
                    "small_batch * large_batch * (small_norm_squared - large_norm_squared)"
                    " / (large_batch - small_batch)",
                ),
            ),
        ),
        Right(
            "the signal from the noise",
            edits=(
                (
                    "    signal = (large_batch * large_norm_squared - small_batch * small_norm_squared)"
                    " / (large_batch - small_batch)\n",
                    "",
                ),
                (
                    "    return max(noise, 0.0) / signal if",
                    "    share = small_batch / (large_batch - small_batch)\n"
                    "    signal = large_norm_squared + share * (large_norm_squared - small_norm_squared)\n"
                    "    return max(noise, 0.0) / signal if",
                ),
            ),
        ),
    ),
    "05-state-bytes": (
        Right(
            "summed from the other end",
            edits=(("moments + (4.0 if copy else 0.0)", "(4.0 if copy else 0.0) + moments"),),
        ),
        Right("halves of bytes", edits=(("moments + (4.0 if copy else 0.0)", "(moments * 2 + 8 * bool(copy)) / 2"),)),
    ),
    "05-zero-memory": (
        Right(
            "each part in bytes",
            edits=(
                (
                    "float(params * (weights + gradients + optimizer))",
                    "float(optimizer * params + gradients * params + weights * params)",
                ),
            ),
        ),
        Right(
            "sliced and kept apart",
            edits=(
                (
                    "    return float(params * (weights + gradients + optimizer))\n",
                    "    sizes = (optimizer_bytes, gradient_bytes, weight_bytes)\n"
                    "    return params * sum(sizes[:stage]) / ranks + params * float(sum(sizes[stage:]))\n",
                ),
            ),
        ),
    ),
    "05-zero-traffic": (
        Right(
            "one share less",
            edits=(
                (
                    "float((ranks - 1) / ranks * params * (reductions * gradient_bytes + gathered))",
                    "float(params * (reductions * gradient_bytes + gathered) * (1 - 1 / ranks))",
                ),
            ),
        ),
        Right(
            "each collective in bytes",
            edits=(
                (
                    "float((ranks - 1) / ranks * params * (reductions * gradient_bytes + gathered))",
                    "float(sum(params * size * (ranks - 1) / ranks"
                    " for size in (*[gradient_bytes] * reductions, gathered)))",
                ),
            ),
        ),
    ),
    "05-debug-stage": (
        Right(
            "each part in bytes",
            edits=(
                (
                    "params * (weights + gradients + optimizer)",
                    "optimizer * params + gradients * params + weights * params",
                ),
            ),
        ),
        Right(
            "sliced bytes and whole ones",
            edits=(
                (
                    "    return params * (weights + gradients + optimizer)\n",
                    "    cut = (0, 12, 14, 16)[stage]\n    return params * cut / ranks + params * (16 - cut)\n",
                ),
            ),
        ),
    ),
    "05-round-to-format": (
        Right("in fractions", program=rounded_in_fractions),
        Right(
            "by the exponent of a logarithm's neighbour",
            edits=(
                (
                    "    size = round(abs(value) / step) * step  # Python's round takes the even one of two\n",
                    "    whole, rest = divmod(abs(value), step)\n"
                    "    up = rest > step / 2 or (rest == step / 2 and whole % 2 == 1)\n"
                    "    size = math.ldexp(whole + up, exponent - mantissa_bits)\n",
                ),
            ),
        ),
    ),
    "05-dynamic-loss-scale": (
        Right(
            "clean steps counted down",
            edits=(
                ("scale, clean_steps = float(init_scale), 0", "scale, clean_steps = init_scale * 1.0, growth_interval"),
                (
                    "max(scale * backoff_factor, min_scale), 0",
                    "max(backoff_factor * scale, min_scale), growth_interval",
                ),
                ("        clean_steps += 1\n", "        clean_steps -= 1\n"),
                ("if clean_steps == growth_interval:", "if not clean_steps:"),
                ("            clean_steps = 0\n", "            clean_steps = growth_interval\n"),
            ),
        ),
        Right(
            "division by the reciprocals",
            edits=(
                ("max(scale * backoff_factor, min_scale)", "max(scale / (1 / backoff_factor), min_scale)"),
                ("                scale *= growth_factor\n", "                scale = scale / (1 / growth_factor)\n"),
            ),
        ),
    ),
    "05-loss-scaler": (
        Right(
            "multiplies by the reciprocal",
            edits=(
                ("gradient / self._scale for gradient", "gradient * (1 / self._scale) for gradient"),
                ("max(self._scale * self._backoff_factor,", "max(self._scale / (1 / self._backoff_factor),"),
            ),
        ),
        Right(
            "grows by division",
            edits=(
                ("return loss * self._scale", "return loss / (1 / self._scale)"),
                (
                    "                self._scale *= self._growth_factor\n",
                    "                self._scale = self._scale / (1 / self._growth_factor)\n",
                ),
            ),
        ),
    ),
    "05-debug-clip": (
        Right(
            "the norm of the scaled gradients",
            edits=(
                (
                    "    norm = math.sqrt(sum(gradient * gradient for gradient in true))\n",
                    "    norm = math.sqrt(sum(gradient**2 for gradient in gradients)) / scale\n",
                ),
            ),
        ),
        Right(
            "one factor, and hypot",
            edits=(
                (
                    "    norm = math.sqrt(sum(gradient * gradient for gradient in true))\n",
                    "    norm = math.hypot(*true)\n",
                ),
                ("[gradient * shrink for gradient in true]", "[gradient * (shrink / scale) for gradient in gradients]"),
            ),
        ),
    ),
    "05-debug-norm": (
        Right(
            "hypot",
            edits=(("math.sqrt(sum(norm * norm for norm in shard_norms))", "math.hypot(*shard_norms)"),),
        ),
        Right(
            "relative to the largest",
            edits=(
                (
                    "    return math.sqrt(sum(norm * norm for norm in shard_norms))\n",
                    "    most = max(shard_norms, default=0.0) or 1.0\n"
                    "    return most * sum((norm / most) ** 2 for norm in shard_norms) ** 0.5\n",
                ),
            ),
        ),
    ),
    "05-delayed-sgd": (
        Right("factors of the start", program=path_by_recursion),
        Right(
            "one rate, a running position",
            edits=(
                (
                    "path[-1] - learning_rate * curvature * path[max(0, step - delay)]",
                    "path[-1] - learning_rate * (curvature * path[max(0, step - delay)])",
                ),
            ),
        ),
    ),
    "05-synchronize-gradients": (
        Right(
            "sums of rows, divided at the end",
            edits=(
                ("_weighted(parameter, count / rows) for", "_weighted(parameter, count) for"),
                ("        _fill(members, flat)\n", "        _fill(members, flat / rows)\n"),
            ),
        ),
        Right(
            "in double precision, two divisions",
            edits=(
                (
                    "_weighted(parameter, count / rows) for",
                    "_weighted(parameter, count / dist.get_world_size(group)) for",
                ),
                (
                    "        _fill(members, flat)\n",
                    "        _fill(members, flat.double() * (dist.get_world_size(group) / rows))\n",
                ),
            ),
        ),
    ),
    "05-reduce-to-slice": (
        Right(
            "divided before the sum",
            edits=(
                ("list(padded.tensor_split(ranks))", "list((padded / ranks).tensor_split(ranks))"),
                ("    mine /= ranks\n", ""),
            ),
        ),
        Right(
            "the kept slice is part of the sum",
            edits=(
                ("    mine /= ranks\n", ""),
                (
                    "mine if kept is None else kept + mine",
                    "(mine if kept is None else mine.add_(kept, alpha=ranks)) * (1 / ranks)",
                ),
            ),
        ),
    ),
    "05-gather-parameter": (
        Right(
            "divided before the sum",
            edits=(
                (
                    "torch.nn.functional.pad(gradient, (0, ranks * ctx.length - gradient.numel()))",
                    "torch.nn.functional.pad(gradient / ranks, (0, ranks * ctx.length - gradient.numel()))",
                ),
                ("return mine / ranks, None, None", "return mine, None, None"),
            ),
        ),
        Right(
            "multiplied by the reciprocal",
            edits=(
                ("return whole[:numel]", "return whole[:numel].clone()"),
                ("return mine / ranks, None, None", "return mine.mul_(1.0 / ranks), None, None"),
            ),
        ),
    ),
}
