"""All placements of an RLHF job that fit, colocated and in every pair of pools, with their times and bytes.

python -m demos placement --model LLAMA3_70B --gpus 64 --tail 90
python -m demos placement --parameters 34e9 --gpus 64
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from demos.typed_model import PUBLISHED, ModelChoice
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.units import GB
from solutions.ch13.rlhf_memory import rlhf_bytes
from solutions.ch14.rlhf_profile import asynchronous_time, synchronous_time

MODEL = ModelChoice(PUBLISHED, "LLAMA3_70B")


def picture(rows, tail: float):
    """The time against the GPUs that generate."""
    from rankzero.figures import plots

    curves: dict[str, list[tuple[float, float]]] = {}
    for kind, rollout, _, seconds, *_ in rows:
        curves.setdefault(kind, []).append((rollout, seconds))
    best = f"the best takes {rows[0][3]:.4g} s" if rows else "nothing fits"
    alt = f"Iterations of {len(rows)} placements with a tail of {tail:g} s; {best}."
    shown = {kind: sorted(points) for kind, points in curves.items()}
    return plots.curves(shown, shown, x="GPUs that generate", y="iteration (s)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    MODEL.add_to(options)
    options.add_argument("--gpus", type=whole(1, 4096), default=64)
    options.add_argument("--algorithm", choices=("ppo", "grpo"), default="ppo")
    options.add_argument("--rollout-tp", type=whole(1, 64), default=8, help="GPUs that share one rollout copy")
    options.add_argument("--generate", type=number(0, 1e9), default=3840.0, help="GPU-seconds")
    options.add_argument("--train", type=number(0, 1e9), default=3840.0, help="GPU-seconds")
    options.add_argument("--tail", type=number(0, 1e6), default=90.0, help="seconds of the longest response")
    options.add_argument("--floor", type=number(0, 1e6), default=0.0, help="seconds that more GPUs do not shorten")
    options.add_argument("--barrier", action="store_true", help="the rollout pool waits for all responses of a batch")
    options.add_argument("--reserve", type=number(0, 80), default=20.0, help="GB to keep free on every GPU")
    asked = options.parse_args(argv)
    (_, parameters), gpus, tp = MODEL.count(options, asked), asked.gpus, asked.rollout_tp
    states, copy = rlhf_bytes(asked.algorithm, parameters)["total"], 2 * parameters / tp
    work, room = (asked.generate, asked.train, asked.tail), H100_SXM.memory - asked.reserve * GB
    rows = []
    if gpus % tp == 0 and states / gpus + copy <= room:
        both = (states / gpus + copy) / GB
        rows.append(("colocated", gpus, gpus, synchronous_time(gpus, *work, asked.floor), both, both))
    for pool in range(tp, gpus, tp):
        if states / (gpus - pool) <= room and copy <= room:
            seconds = asynchronous_time(gpus, *work, pool, asked.barrier, asked.floor)
            rows.append(("two pools", pool, gpus - pool, seconds, copy / GB, states / (gpus - pool) / GB))
    rows.sort(key=lambda row: row[3])
    found = part(asked.code, "ch14.rlhf_schedule", "best_placement")(
        gpus, *work, states, 2 * parameters, tp, H100_SXM.memory, asked.reserve * GB, asked.floor, asked.barrier
    )
    header = ("placement", "rollout GPUs", "training GPUs", "iteration (s)", "GB, rollout", "GB, training")
    if not rows:
        said = f"{states / gpus / GB:.1f} GB of states and {copy / GB:.1f} GB of the copy on each GPU"
        print(f"nothing fits or divides by TP {tp}: {said}")
    show(asked, Table(header, rows), lambda: picture(rows, asked.tail))
    if found is None or not rows:
        return verdict(found is None and not rows, "the search finds nothing either")
    best = ("colocated" if found.kind == "colocated" else "two pools", found.rollout_gpus)
    return verdict(
        best == rows[0][:2] and found.iteration_time == rows[0][3], "the search finds the first row of this table"
    )


if __name__ == "__main__":
    sys.exit(main())
