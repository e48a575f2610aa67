"""Prefill time by prompt length and decode time by batch size: the small model on this machine.

python -m demos prefill_decode --prompts 16,64,256,1024 --batches 1,2,4,8,16,32,64
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.ch05.gradient_sync import wholes
from demos.common import Table, demo, parser, part, show, verdict
from experiments.ch08.serving_runs import decode_seconds, prefill_seconds, timed_model
from rankzero.facts.units import ms

#: Cached tokens of every sequence in a decode step.
CONTEXT = 64


def _picture(prefill: dict[int, float], decode: dict[int, float], shape: dict[str, list[tuple[float, float]]]):
    from rankzero.figures import plots

    measured = {
        "prefill, against the prompt": [(float(size), time / ms) for size, time in prefill.items()],
        "decode step, against the batch": [(float(size), time / ms) for size, time in decode.items()],
    }
    longest, largest = max(prefill), max(decode)
    alt = (
        f"Prefill of {longest} tokens takes {prefill[longest] / ms:.3g} ms, a decode step of {largest} sequences "
        f"{decode[largest] / ms:.3g} ms; the lines are the shape of the roofline."
    )
    return plots.curves(shape, measured, x="tokens in the pass", y="time (ms)", log="xy", alt=alt)


def roofline(code: str, decode: dict[int, float], prefill: dict[int, float]) -> dict[str, list[tuple[float, float]]]:
    """Both shapes: the peak from the longest prefill, the bandwidth from the smallest decode step."""
    model, longest = timed_model(), max(prefill)
    config, weights = model.config, sum(parameter.nbytes for parameter in model.parameters())
    kv = 2 * 4 * config.layers * config.kv_heads * config.head_dim
    pass_time = part(code, "ch08.serving", "pass_time")
    n, least = model.matmul_parameters, min(decode)
    peak = pass_time(longest, [0], n, weights, kv, 1.0, 1e30) / prefill[longest]
    bandwidth = (weights + kv * CONTEXT * least) / decode[least]
    sizes = (n, weights, kv, peak, bandwidth)
    first = [(float(s), pass_time(s, [0], *sizes) / ms) for s in prefill]
    steps = [(float(b), pass_time(b, [CONTEXT] * b, *sizes) / ms) for b in decode]
    return {"prefill, against the prompt": first, "decode step, against the batch": steps}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--prompts", type=wholes(1, 1024), default=[16, 64, 256, 1024], metavar="S,S")
    options.add_argument("--batches", type=wholes(1, 256), default=[1, 2, 4, 8, 16, 32, 64], metavar="B,B")
    asked = options.parse_args(argv)
    prompts, batches = ([16, 1024], [1, 64]) if asked.quick else (sorted(asked.prompts), sorted(asked.batches))
    part(asked.code, "ch08.serving", "pass_time")(
        1, [0], 1.0, 1.0, 1.0, 1.0, 1.0
    )  # a part that is not written ends it here
    prefill = {size: prefill_seconds(size, repeats=1 if asked.quick else 5) for size in prompts}
    decode = {size: decode_seconds(size, CONTEXT) for size in batches}
    rows = [("prefill", size, time / ms, time / ms / size) for size, time in prefill.items()]
    rows += [("decode", size, time / ms, time / ms / size) for size, time in decode.items()]
    header = ("pass", "tokens", "time (ms)", "per token (ms)")
    show(asked, Table(header, rows), lambda: _picture(prefill, decode, roofline(asked.code, decode, prefill)))
    grown = decode[batches[-1]] / decode[batches[0]] < batches[-1] / batches[0] or len(batches) == 1
    longer = prefill[prompts[-1]] > prefill[prompts[0]] or len(prompts) == 1
    return verdict(grown and longer, "a decode step grows less than its batch, and a longer prompt takes longer")


if __name__ == "__main__":
    sys.exit(main())
