"""What it takes to serve a model: prefill, decode step, requests in flight and replicas, or why it does not fit.

In a mixture of experts a token computes with the experts that it visits, and every pass is taken to read all of them.

python -m demos serving_cost --model LLAMA3_70B --gpu H100_SXM --tp 8 --rate 500 --prompt 100 --output 50
python -m demos serving_cost --parameters 34e9 --tp 2
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, parser, part, show, verdict, whole
from demos.typed_model import PUBLISHED, ModelChoice
from experiments.ch08.deployments import Deployment
from rankzero.facts import hardware
from rankzero.facts.units import GB, ms

MODEL = ModelChoice({name: model for name, model in PUBLISHED.items() if not name.startswith("GPT")}, "LLAMA3_70B")
GPUS = [name for name, value in vars(hardware).items() if isinstance(value, hardware.Gpu)]

#: The share of the memory that weights and caches may fill.
USABLE = 0.9


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    MODEL.add_to(options)
    options.add_argument("--gpu", choices=GPUS, default="H100_SXM")
    options.add_argument("--tp", type=whole(1, 72), default=8, help="GPUs of one replica")
    options.add_argument("--rate", type=amount, default=500.0, help="requests per second")
    options.add_argument("--prompt", type=whole(1, 131_072), default=100, help="tokens")
    options.add_argument("--output", type=whole(1, 131_072), default=50, help="tokens")
    options.add_argument(
        "--slots", type=whole(1, 4096), default=64, help="sequences that one replica runs at the same time"
    )
    asked = options.parse_args(argv)
    made = Deployment(MODEL.of(options, asked), getattr(hardware, asked.gpu), asked.tp)
    context = asked.prompt + asked.output
    needed, room = made.weight_bytes + asked.slots * context * made.kv_bytes_per_token, USABLE * asked.tp
    if needed > room * made.gpu.memory:
        options.error(
            f"{made.model.name} does not fit: {made.weight_bytes / GB:.1f} GB of weights and {asked.slots} caches of "
            f"{context} tokens take {needed / GB:.1f} GB, {USABLE:.0%} of {asked.tp} GPUs are "
            f"{room * made.gpu.memory / GB:.1f} GB"
        )
    pass_time, replicas = (part(asked.code, "ch08.serving", name) for name in ("pass_time", "replicas_needed"))
    sizes = made.model.active_parameters, made.weight_bytes, made.kv_bytes_per_token, made.peak, made.bandwidth
    first = pass_time(asked.prompt, [0], *sizes)
    full = [asked.prompt + asked.output / 2] * asked.slots
    step = pass_time(asked.slots, full, *sizes)
    inside = asked.rate * (first + (asked.output - 1) * step)
    count = replicas(asked.rate, first, step, asked.output, asked.slots)
    rows = [
        ("prefill (ms)", first / ms),
        (f"decode step of {asked.slots} (ms)", step / ms),
        ("end to end (ms)", (first + (asked.output - 1) * step) / ms),
        ("in flight", inside),
        ("replicas", count),
        ("GPUs", count * asked.tp),
        ("memory of a replica (GB)", needed / GB),
    ]
    show(asked, Table(("what", "value"), rows))
    print("bounds of a pass, without communication, queueing and the FLOP of attention: real servers need more")
    return verdict(count * asked.slots >= inside * (1 - 1e-6), "the replicas hold all requests in flight")


if __name__ == "__main__":
    sys.exit(main())
