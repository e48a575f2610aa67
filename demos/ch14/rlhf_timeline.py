"""An RLHF iteration on all GPUs in turn, or on two pools side by side: who works when, and which split is best.

Two pools work with a barrier (the rollout pool is one batch ahead, and waits for the longest response of each batch) or
without: then an iteration may be shorter than that response, which is trained on some versions later.

python -m demos rlhf_timeline --gpus 100 --generate 6000 --train 3500 --tail 100 --mode continuous
python -m demos rlhf_timeline --gpus 256 --generate 1717 --floor 43.1 --train 6053 --tail 0
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch14.pool_spans import BARRIER, CONTINUOUS, MODES, TURNS, spans
from solutions.ch14.rlhf_profile import asynchronous_time, synchronous_time


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
    options.add_argument("--floor", type=number(0, 1e6), default=0.0, help="seconds that more GPUs do not shorten")
    options.add_argument("--mode", choices=MODES, default=CONTINUOUS, help="what the picture shows")
    options.add_argument("--split", type=whole(1, 9_999), help="GPUs that generate; by default the best split")
    asked = options.parse_args(argv)
    if asked.split is not None and asked.split >= asked.gpus:
        options.error(f"--split must leave a GPU for training: below {asked.gpus}, got {asked.split}")
    work = asked.generate, asked.train, asked.tail
    place = part(asked.code, "ch14.rlhf_schedule", "best_placement")
    together = synchronous_time(asked.gpus, *work, asked.floor)
    rows = [("in turn", asked.gpus, asked.gpus, together, 1.0)]
    print(f"in turn: {together:.4g} s")
    shown, right = together, True
    chosen = {TURNS: asked.gpus}
    for mode in (BARRIER, CONTINUOUS):
        waits = mode == BARRIER
        times = {g: asynchronous_time(asked.gpus, *work, g, waits, asked.floor) for g in range(1, asked.gpus)}
        best = min(times, key=lambda g: (times[g], g))
        chosen[mode] = split = asked.split or best
        some = sorted({split, best, asked.gpus // 2, *range(1, asked.gpus, max(1, asked.gpus // 8))})
        rows += [(mode, g, asked.gpus - g, times[g], together / times[g] if times[g] else 1.0) for g in some]
        print(f"two pools, {mode}: best split {best} and {asked.gpus - best}, {times[best]:.4g} s")
        shown = times[split] if asked.mode == mode else shown
        found = place(asked.gpus, *work, generate_floor=asked.floor, barrier=waits)
        right = right and found.iteration_time == min(together, times[best])
    header = ("placement", "rollout GPUs", "training GPUs", "iteration (s)", "times as fast")
    drawn = spans(asked.mode, asked.gpus, chosen[asked.mode], work, asked.floor)
    show(asked, Table(header, rows), lambda: picture({asked.mode: drawn}))
    print(f"shown: {asked.mode}, {shown:.4g} s an iteration")
    return verdict(right, "the search finds the fastest of all, with a barrier and without")


if __name__ == "__main__":
    sys.exit(main())
