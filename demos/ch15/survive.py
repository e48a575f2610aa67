"""Training on real ranks that are killed and restarted: the final weights equal those of an undisturbed run.

python -m demos survive --ranks 4 --steps 200 --kill-every 60 --checkpoint-every 10
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch15.survive import CONFIG, Kill, survive
from rankzero.tiny import GPTConfig

SMALL = GPTConfig(layers=1, heads=2, head_dim=8, context=16)


def planned(steps: int, ranks: int, mean: int, every: int, seed: int = 0) -> list[Kill]:
    """Deaths of random ranks, on average ``mean`` steps apart; every third one while a checkpoint is written."""
    random, done = Random(seed), 0
    kills: list[Kill] = []
    while True:
        after, writing = int(random.expovariate(1 / mean)), len(kills) % 3 == 2
        made = -(-max(after, 1) // every) * every if writing else after
        if done + made >= steps:
            return kills
        kills.append(Kill(random.randrange(ranks), after, writing))
        done += made // every * every - (every if writing else 0)


def _picture(run, plain):
    from rankzero.figures import plots

    parts = ("useful", "checkpoint", "lost", "restart")
    runs = {"untouched": plain, "killed": run}
    groups = {name: {part: getattr(one, part) for part in parts} for name, one in runs.items()}
    alt = f"Seconds of two runs in four parts; goodput {plain.goodput:.0%} untouched and {run.goodput:.0%} killed."
    return plots.bars(groups, y="wall-clock (s)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(2, 8), default=4)
    options.add_argument("--steps", type=whole(1, 10_000), default=100)
    options.add_argument("--kill-every", type=whole(1, 10_000), default=30, help="steps between deaths, on average")
    options.add_argument("--checkpoint-every", type=whole(1, 10_000), default=10, help="steps")
    given = options.parse_args(argv)
    if given.kill_every < given.checkpoint_every:
        options.error(f"--kill-every must be at least --checkpoint-every, {given.checkpoint_every}")
    waste = part(given.code, "ch15.checkpointing", "checkpoint_waste")
    waste(1.0, 0.1, 10.0)
    ranks, steps, every, config = given.ranks, given.steps, given.checkpoint_every, CONFIG
    kills = planned(steps, ranks, given.kill_every, every)
    if given.quick:
        ranks, steps, every, config, kills = 2, 6, 2, SMALL, [Kill(1, 3)]
    plain = survive(steps, every, ranks=ranks, config=config)
    run = survive(steps, every, kills, ranks, config=config)
    deaths = max(1, len(run.deaths))
    stall, restart = run.checkpoint / run.checkpoints, run.restart / deaths
    between = (run.wall - run.restart) / deaths  # no death strikes during a restart: exp(R/M) becomes 1 + R/M
    formula = (1 - waste(run.useful / run.checkpoints, stall, between)) / (1 + restart / between)
    rows = []
    for name, one in (("untouched", plain), ("killed", run)):
        spent = (one.useful, one.checkpoint, one.lost, one.restart)
        rows.append((name, len(one.deaths), one.lost_steps, *spent, 100 * one.goodput))
    header = ("run", "deaths", "steps lost", "useful (s)", "saving (s)", "lost (s)", "restarts (s)", "goodput (%)")
    show(given, Table(header, rows), lambda: _picture(run, plain))
    print(f"goodput by the formula, with the measured stall, restart and rate of deaths: {formula:.1%}")
    print(*(f"death {number}: {death}" for number, death in enumerate(run.deaths, 1)), sep="\n")
    same = run.digest == plain.digest and run.losses == plain.losses
    return verdict(
        same, f"deaths: {len(run.deaths)}; weights and losses equal those of the undisturbed run, bit for bit"
    )


if __name__ == "__main__":
    sys.exit(main())
