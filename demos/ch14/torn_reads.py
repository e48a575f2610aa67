"""A writer and a reader, two processes, on the same shared memory: how often is a read of two versions?

python -m demos torn_reads --mode all --seconds 2
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict
from experiments.ch14 import torn_runs

HEADER = ("mode", "reads", "torn", "retried", "backward", "versions written")


def right(run: torn_runs.Race) -> bool:
    """One buffer is torn; no rule that says otherwise may be."""
    return run.torn > 0 if run.mode == "single" else run.torn == run.backward == 0


def picture(races: Sequence[torn_runs.Race]):
    """The first 40 ms: who was in which slot when."""
    from rankzero import serving_figures

    return serving_figures.timelines({run.mode: torn_runs.rows(run, 0.04) for run in races})


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--mode", choices=(*torn_runs.MODES, "all"), default="all")
    options.add_argument("--seconds", type=number(0.1, 60), default=2.0, help="of each run")
    asked = options.parse_args(argv)
    slots_class = part(asked.code, "ch14.weight_slots", "WeightSlots")
    modes = tuple(torn_runs.MODES) if asked.mode == "all" else (asked.mode,)
    seconds = min(asked.seconds, 0.5) if asked.quick else asked.seconds
    races = [torn_runs.race(mode, seconds, slots_class=slots_class) for mode in modes]
    rows = [(run.mode, run.reads, run.torn, run.count("retried"), run.backward, run.versions) for run in races]
    show(asked, Table(HEADER, rows), lambda: picture(races))
    return verdict(all(map(right, races)), "reads are torn where nothing forbids it, and nowhere else")


if __name__ == "__main__":
    sys.exit(main())
