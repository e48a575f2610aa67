"""What tensor parallelism costs a model: bytes and seconds per step against compute, and which rank holds which heads.

Ranks beyond a node of eight reduce inside each node first, then each sends its share by its own network port. The
data-parallel column is an all-reduce of the bf16 gradients of a rank's shard, once per step.

python -m demos tp_cost --model "Llama 3 70B" --sequence 4096 --bandwidth 450e9
python -m demos tp_cost --parameters 34e9
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from demos.typed_model import ModelChoice
from rankzero.facts.hardware import GPUS
from rankzero.facts.models import MODELS
from rankzero.facts.units import GB, ms
from solutions.ch03.collective_cost import traffic
from solutions.ch04.spanning_groups import group_bandwidth

MODEL = ModelChoice({model.name: model for model in MODELS}, "Llama 3 70B")
NODE = 8  # GPUs
DEVICES = {gpu.name.partition(" ")[0]: gpu for gpu in GPUS}
RATE = number(1, 1e15)


def _picture(rows: Sequence[tuple]):
    from rankzero.figures import plots

    groups = {f"t = {row[0]}": {"tensor parallel": row[2], "data parallel": row[3]} for row in rows}
    alt = f"GB sent by a rank in a step: {', '.join(f'{row[2] + row[3]:.3g} at t = {row[0]}' for row in rows)}."
    return plots.bars(groups, y="sent by a rank in a step (GB)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    MODEL.add_to(options)
    options.add_argument("--gpu", choices=DEVICES, default="H100")
    options.add_argument("--mfu", type=whole(1, 100), default=50, help="percentage of the peak that is achieved")
    options.add_argument("--bandwidth", type=RATE, default=450e9, help="bytes/s of a GPU, one direction")
    options.add_argument("--port", type=RATE, default=50e9, help="bytes/s of a GPU to other nodes, one direction")
    options.add_argument("--sequence", type=whole(1, 10**6), default=4096)
    options.add_argument("--batch", type=whole(1, 1024), default=1)
    options.add_argument("--replicas", type=whole(1, 10**5), default=8, help="data-parallel ranks")
    options.add_argument("--sp", action="store_true", help="sequence parallelism, inputs gathered again")
    arguments = options.parse_args(argv)
    model, tokens = MODEL.of(options, arguments), arguments.sequence * arguments.batch
    sent = part(arguments.code, "ch06.activations", "tensor_parallel_traffic")
    partition = part(arguments.code, "ch06.heads", "head_partition")
    rate, h = arguments.mfu / 100 * DEVICES[arguments.gpu].peak_bf16, model.hidden
    rows, right = [], True
    for t in (1, 2, 4, 8, 16):
        try:
            heads, kv_heads, replicas = partition(model.heads, model.kv_heads, t, 0)
        except ValueError:
            continue
        layer = sent(arguments.sequence, arguments.batch, h, t, sequence_parallel=arguments.sp)
        gradients = traffic("all_reduce", 2 * model.parameters / t, arguments.replicas, 0)[0]
        bandwidth = group_bandwidth(t, min(t, NODE), arguments.bandwidth, arguments.port)
        seconds = model.layers * layer / bandwidth
        share = layer / bandwidth / (72 * tokens * h**2 / t / rate)
        units = 10 if arguments.sp else 8
        right &= abs(share - units / 4 * (t - 1) * rate / (9 * h * bandwidth)) <= 1e-9 * max(share, 1)
        held = f"{len(heads)} and {len(kv_heads)}" + (f", on {replicas} ranks" if replicas > 1 else "")
        rows.append((t, held, model.layers * layer / GB, gradients / GB, seconds / ms, 100 * share))
    header = ("t", "query and KV heads", "sent, tensor (GB)", "sent, data (GB)", "tensor (ms)", "of 72 s b h^2 / t (%)")
    show(arguments, Table(header, rows), lambda: _picture(rows))
    return verdict(right, "the share depends neither on batch nor on sequence: it is that of the closed form")


if __name__ == "__main__":
    sys.exit(main())
