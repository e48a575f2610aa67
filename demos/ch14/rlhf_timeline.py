"""An RLHF iteration on all GPUs in turn, or on two pools side by side: who works when, and which split is best.

python -m demos rlhf_timeline --gpus 100 --generate 6000 --train 3500 --tail 100 --mode async
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from solutions.ch14.rlhf_profile import asynchronous_time, synchronous_time

Work = tuple[float, float, float]


def spans(mode: str, gpus: int, split: int, work: Work, iterations: int = 3):
    """Rows of a chart: what each GPU or pool does over a few iterations, and when the last one ends."""
    generate, train, tail = work
    if mode == "sync":
        writing, whole = max(generate / gpus, tail), synchronous_time(gpus, *work)
        starts = [whole * number for number in range(iterations)]
        both = [("generate", start, start + writing) for start in starts]
        both += [("train", start + writing, start + whole) for start in starts]
        return {f"all {gpus}": sorted(both, key=lambda one: one[1])}
    step = asynchronous_time(gpus, *work, rollout_gpus=split)
    starts = [step * number for number in range(iterations)]
    writing, training = max(generate / split, tail), train / (gpus - split)
    return {
        f"{split} GPUs": [("generate", start, start + writing) for start in starts],
        f"{gpus - split} GPUs": [("train", start + step, start + step + training) for start in starts],
    }


def picture(rows):
    from rankzero import figures

    return figures.serving.timelines(rows)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--gpus", type=whole(2, 10_000), default=100)
    options.add_argument("--generate", type=number(0, 1e9), default=6000.0, help="GPU-seconds")
    options.add_argument("--train", type=number(0, 1e9), default=3500.0, help="GPU-seconds")
    options.add_argument("--tail", type=number(0, 1e6), default=100.0, help="seconds of the longest response")
    options.add_argument("--mode", choices=("sync", "async"), default="async", help="what the picture shows")
    options.add_argument("--split", type=whole(1, 9_999), help="GPUs that generate; by default the best split")
    asked = options.parse_args(argv)
    if asked.split is not None and asked.split >= asked.gpus:
        options.error(f"--split must leave a GPU for training: below {asked.gpus}, got {asked.split}")
    work = asked.generate, asked.train, asked.tail
    place = part(asked.code, "ch14.rlhf_schedule", "best_placement")
    times = {split: asynchronous_time(asked.gpus, *work, rollout_gpus=split) for split in range(1, asked.gpus)}
    best = min(times, key=lambda split: (times[split], split))
    split = asked.split or best
    together, pools = synchronous_time(asked.gpus, *work), times[split]
    shown = sorted({split, best, asked.gpus // 2, *range(1, asked.gpus, max(1, asked.gpus // 8))})
    rows = [("in turn", asked.gpus, asked.gpus, together, 1.0)]
    rows += [("two pools", g, asked.gpus - g, times[g], together / times[g] if times[g] else 1.0) for g in shown]
    header = ("placement", "rollout GPUs", "training GPUs", "iteration (s)", "times as fast")
    show(asked, Table(header, rows), lambda: picture({asked.mode: spans(asked.mode, asked.gpus, split, work)}))
    print(f"best split {best} and {asked.gpus - best}: {times[best]:.4g} s; in turn {together:.4g} s")
    print(f"shown: {asked.mode}, {together if asked.mode == 'sync' else pools:.4g} s an iteration")
    found = place(asked.gpus, *work)
    return verdict(found.iteration_time == min(together, times[best]), "the search finds the fastest of all")


if __name__ == "__main__":
    sys.exit(main())
