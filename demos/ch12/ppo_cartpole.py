"""PPO on CartPole: a table of the iterations, then 100 fresh episodes.

python -m demos ppo_cartpole --steps 100000 --seed 0 --epochs 20 --gae-lambda 0.8 --stop-at 495
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch12.ppo_training_runs import UNCLIPPED, Settings, training
from solutions.ch12.cartpole_runs import SOLVED, mean_return

HEADER = ("steps", "return", "explained variance", "KL", "outside", "clipped", "entropy")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--steps", type=whole(256, 10**7), default=100_000, help="steps of all environments together")
    options.add_argument("--seed", type=whole(0, 10**6), default=0)
    options.add_argument("--epochs", type=whole(1, 100), default=20, help="passes over the steps of an iteration")
    options.add_argument("--gae-lambda", type=number(0, 1), default=0.8)
    options.add_argument("--rate", type=number(1e-6, 1), default=1e-3, help="learning rate of Adam")
    options.add_argument("--no-clip", action="store_true", help="no clipping of the ratio")
    options.add_argument("--no-norm-limit", action="store_true", help="no limit on the norm of the gradients")
    options.add_argument(
        "--stop-at", type=number(1, 501), default=495.0, help="stop when 20 episodes average this; 501 never stops"
    )
    asked = options.parse_args(argv)
    settings = Settings(
        epochs=asked.epochs,
        gae_lambda=asked.gae_lambda,
        rate=asked.rate,
        clip=UNCLIPPED if asked.no_clip else 0.2,
        max_grad_norm=None if asked.no_norm_limit else 0.5,
    )
    gae, update = part(asked.code, "ch12.rl", "gae"), part(asked.code, "ch12.policy", "ppo_update")
    steps = min(asked.steps, 1024) if asked.quick else asked.steps
    run = training(asked.seed, settings, steps, asked.stop_at, gae, update)
    rows = [
        (
            row.steps,
            row.episode_return,
            row.explained_variance,
            row.approx_kl,
            row.outside_fraction,
            row.clipped_fraction,
            row.entropy,
        )
        for row in run.reports[:: max(1, len(run.reports) // 16)]
    ]

    def picture():
        from rankzero import figures

        return figures.rl.training(run.reports)

    show(asked, Table(HEADER, rows), picture)
    print(f"{run.steps:,} steps, {len(run.returns)} episodes, {run.seconds:.1f} s")
    if asked.quick:
        fresh = {report.first_outside for report in run.reports} == {0.0}
        return verdict(fresh, "in the first update of each iteration every ratio is 1")
    found = mean_return(run.policy)
    return verdict(found >= SOLVED, f"100 fresh episodes average {found:.1f}, at least {SOLVED:g}")


if __name__ == "__main__":
    sys.exit(main())
