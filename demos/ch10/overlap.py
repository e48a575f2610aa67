"""An engine of two threads, sequential and overlapped: the small GPT computes while the scheduler plans ahead.

python -m demos overlap --steps 50 --mode both
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.facts.units import ms

MODES = {"sequential": (False,), "overlap": (True,), "both": (False, True)}


def _picture(runs):
    from rankzero import figures

    names = {False: "in turn", True: "overlapped"}
    rows = {names[run.overlap]: {"CPU": run.cpu[:16], "device": run.device[:8]} for run in runs}
    return figures.serving.timelines(rows)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--steps", type=whole(1, 150), default=50, help="tokens of each answer")
    options.add_argument("--streams", type=whole(1, 64), default=12)
    options.add_argument("--mode", choices=MODES, default="both")
    options.add_argument("--eos", help="a character that ends an answer")
    asked = options.parse_args(argv)
    if asked.eos is not None and len(asked.eos.encode()) != 1:
        options.error(f"--eos must be one ASCII character, got {asked.eos!r}")
    from experiments.ch10 import overlap_runs

    steps, streams = (6, 3) if asked.quick else (asked.steps, asked.streams)
    model = overlap_runs.small_model(10 if asked.quick else 50)
    scheduler = part(asked.code, "ch10.scheduler", "Scheduler")
    futures = part(asked.code, "ch10.future_map", "FutureMap")
    predicted = part(asked.code, "ch10.scheduling", "overlap_time")
    prompts, eos = overlap_runs.prompts(streams), ord(asked.eos) if asked.eos else None
    modes = (False, True) if asked.quick else MODES[asked.mode]
    runs = [overlap_runs.overlap_run(side, prompts, steps, eos, model, scheduler, futures) for side in modes]
    rows = []
    for run in runs:
        parts = [run.mean(name) for name in ("schedule", "compute", "process")]
        said = predicted(run.steps, *parts, run.overlap) / ms
        name = "overlapped" if run.overlap else "in turn"
        rows.append((name, run.steps, run.seconds / ms, said, *(own / ms for own in parts), run.ended, run.wasted))
    header = ("mode", "steps", "time (ms)", "by the model (ms)", "schedule (ms)", "compute (ms)", "process (ms)")
    show(asked, Table((*header, "ended early", "tokens wasted"), rows), lambda: _picture(runs))
    print(f"load of the machine {runs[-1].load:.1f}; cores are shared, so the gain may vanish: it is not checked")
    same = len({run.texts for run in runs}) == 1
    waste = all(run.wasted <= run.ended * run.overlap for run in runs)
    return verdict(same and waste, "all texts are the same, and each early end wastes one token at most")


if __name__ == "__main__":
    sys.exit(main())
