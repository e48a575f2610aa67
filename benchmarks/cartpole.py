"""PPO on CartPole, five seeds: ``python benchmarks/cartpole.py``.

Prints for each seed the mean return of the last 100 episodes of the training, that of 100 fresh ones, and the seconds
it took; exit status 1 if fewer than four of five reach 475 in the former. With ``--store`` it runs the ablations
and the curves of REINFORCE instead (some minutes) and writes them where the pages read them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import torch

from experiments.ch12 import ppo_training_runs, reinforce_runs
from solutions.ch12.cartpole_runs import SOLVED, mean_return, networks
from solutions.ch12.ppo_runs import train_cartpole


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=100_000, help="of each run (default 100,000)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (default 5)")
    parser.add_argument("--store", action="store_true", help="run ablations and curves of REINFORCE and write them")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    if options.store:
        ppo_training_runs.store(ppo_training_runs.ablations())
        reinforce_runs.store(reinforce_runs.curves())
        print(f"stored in {ppo_training_runs.STORED.name} and {reinforce_runs.STORED.name}")
        return 0
    solved = 0
    for seed in range(options.seeds):
        policy, value = networks(seed)
        start = time.perf_counter()
        returns = train_cartpole(policy, value, options.steps, seed)
        seconds, last = time.perf_counter() - start, returns[-100:]
        mean = sum(last) / len(last)
        solved += mean >= SOLVED
        print(
            f"seed {seed}: {len(returns)} episodes, last 100 average {mean:.1f}, "
            f"100 fresh ones {mean_return(policy):.1f}, {seconds:.1f} s",
            flush=True,
        )
    print(f"{solved} of {options.seeds} reach {SOLVED:g} in the last 100 episodes    (at least four of five)")
    return int(solved < 0.8 * options.seeds)


if __name__ == "__main__":
    sys.exit(main())
