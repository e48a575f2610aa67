"""Memory of an RLHF job by phase: what a GPU holds, what is copied in and out; with --real, on real tensors.

python -m demos memory_timeline --model LLAMA3_70B --gpus 64 --algorithm ppo --rollout-tp 8 --kv 40 --offload optimizer
python -m demos memory_timeline --parameters 34e9 --gpus 32
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from demos.typed_model import PUBLISHED, ModelChoice
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.units import GB, MB
from solutions.ch14.rlhf_profile import DISCARDABLE, OFFLOADS, cycle, tenants

MODEL = ModelChoice(PUBLISHED, "LLAMA3_70B")
#: The ways to make room, by their names on the command line.
WAYS = dict(zip(("nothing", "rebuilt", "optimizer", "frozen", "all"), OFFLOADS, strict=True))


def picture(uses, phases, sizes, capacity=None):
    """The stacks, with what is copied between them."""
    from rankzero import figures

    return figures.placement.memory_phases(uses, phases, sizes, capacity)


def real(asked, timeline, offload: str) -> int:
    """Four small models in this process, one iteration after another."""
    from experiments.ch14.memory_runs import MemoryJob

    with MemoryJob(offload=offload) as job:
        samples = job.run(2)[3:]
        sizes = job.sizes() | {"activations": samples[-1].ledger["activations"]}
        uses = timeline(job.phases, sizes, DISCARDABLE)
    rows = [
        (use.name, use.resident / MB, sample.live / MB, "not told" if sample.process is None else sample.process / MB)
        for use, sample in zip(uses, samples, strict=True)
    ]
    header = ("phase", "timeline (MB)", "living tensors (MB)", "process (MB)")
    show(asked, Table(header, rows), lambda: picture(uses, job.phases, sizes))
    same = all(use.resident == sample.live for use, sample in zip(uses, samples, strict=True))
    return verdict(same, "the timeline is the sum of all live tensors, in every phase")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    MODEL.add_to(options)
    options.add_argument("--gpus", type=whole(1, 10**6), default=64)
    options.add_argument("--algorithm", choices=("ppo", "grpo"), default="ppo")
    options.add_argument("--rollout-tp", type=whole(1, 1024), default=8, help="GPUs that share one rollout copy")
    options.add_argument("--kv", type=number(0, 1000), default=40.0, help="GB of keys and values on a GPU")
    options.add_argument("--activations", type=number(0, 1000), default=12.0, help="GB on a GPU")
    options.add_argument("--offload", choices=WAYS, default="frozen", help="what is moved out while it is not used")
    options.add_argument("--real", action="store_true", help="real tensors instead: four models of ten million")
    asked = options.parse_args(argv)
    timeline = part(asked.code, "ch14.rlhf_schedule", "memory_timeline")
    if asked.real:
        return real(asked, timeline, WAYS[asked.offload])
    _, parameters = MODEL.count(options, asked)
    sizes = tenants(parameters, asked.gpus, asked.rollout_tp, asked.kv * GB, asked.activations * GB, asked.algorithm)
    phases = cycle(sizes, WAYS[asked.offload])
    uses = timeline(phases, sizes, DISCARDABLE)
    rows = [(use.name, use.resident / GB, use.loaded / GB, use.evicted / GB) for use in uses]
    capacity, peak = H100_SXM.memory, max(use.resident for use in uses)
    header = ("phase", "resident (GB)", "copied in (GB)", "copied out (GB)")
    show(asked, Table(header, rows), lambda: picture(uses, phases, sizes, capacity))
    moved = sum(use.loaded + use.evicted for use in uses)
    print(f"all at once {sum(sizes.values()) / GB:.1f} GB, peak {peak / GB:.1f} of {capacity / GB:g} GB, ", end="")
    print(f"{moved / (50 * GB):.2f} s of copies at 50 GB/s")
    back = sum(use.loaded for use in uses) - sum(use.evicted for use in uses)
    return verdict(abs(back) <= 1e-9 * sum(sizes.values()), "what is copied in was copied out")


if __name__ == "__main__":
    sys.exit(main())
