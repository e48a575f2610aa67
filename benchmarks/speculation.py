"""Rounds of speculation, all at once against one by one: ``python benchmarks/speculation.py``.

The same model twice: in a plain loop over the drafted tokens, and on arrays. Prints both times, their ratio, and how
far the two mean numbers of tokens per round lie apart. Where acceptance is the same everywhere the loop is as short as
it can be written; where hard spots come together it is ``round_by_round``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from rankzero.sim.speculation import Passages, Rounds, round_by_round, simulate

#: How many times as fast the arrays have to be.
LEAST_RATIO = 50.0

#: Acceptance and draft length.
CASES: list[tuple[float | Passages, int]] = [
    (0.8, 5),
    (0.9, 8),
    (Passages(easy=0.95, hard=0.6, share=0.3, length=20), 5),
]


def plain(acceptance: float, draft_length: int, tokens: int) -> Rounds:
    """The rounds of ``tokens`` tokens, one after the other."""
    draw, counts, done = Random(0).random, [0] * (draft_length + 1), 0
    while done < tokens:
        accepted = 0
        while accepted < draft_length and draw() < acceptance:
            accepted += 1
        counts[accepted] += 1
        done += accepted + 1
    return Rounds(tuple(counts))


def timed(action: Callable[[], Rounds]) -> tuple[float, Rounds]:
    """Processor seconds of this process, and the result: other programs on the machine do not count."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def error(rounds: Rounds) -> float:
    """Standard error of the mean of tokens per round, were the rounds independent."""
    mean = rounds.tokens_per_round
    spread = sum(count * (number + 1 - mean) ** 2 for number, count in enumerate(rounds.counts)) / rounds.rounds
    return math.sqrt(spread / rounds.rounds)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tokens", type=int, default=3_000_000, help="of the text (default 3,000,000)")
    tokens = parser.parse_args(argv).tokens
    missed = False
    for acceptance, draft_length in CASES:
        loop: Callable[..., Rounds] = round_by_round if isinstance(acceptance, Passages) else plain
        simulate(acceptance, draft_length, 1000)
        slow, ones = timed(partial(loop, acceptance, draft_length, tokens))
        laps = [timed(partial(simulate, acceptance, draft_length, tokens, seed)) for seed in range(5)]
        fast, many = sorted(laps, key=lambda lap: lap[0])[2]
        apart = (ones.tokens_per_round - many.tokens_per_round) / math.hypot(error(ones), error(many))
        print(f"{acceptance}, draft length {draft_length}: {many.tokens_per_round:.4f} tokens per round")
        print(f"  one by one   {slow:8.3f} s of processor for {tokens:,} tokens")
        print(f"  all at once  {fast:8.4f} s")
        print(f"  ratio        {slow / fast:8.1f}    (at least {LEAST_RATIO:g})")
        print(f"  means apart  {apart:8.1f}    standard errors")
        missed |= slow < LEAST_RATIO * fast or abs(apart) > 6
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
