"""Rounds of speculation, all at once against one by one: ``python -m benchmarks.speculation``.

The same model twice: in a plain loop over the drafted tokens, and on arrays. Prints both times, their ratio, and how
far the two mean numbers of tokens per round lie apart. Where acceptance is the same everywhere the loop is as short as
it can be written; where hard spots come together it is ``round_by_round``.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from benchmarks._rows import Row, arguments, finish
from rankzero.sim.speculation import Passages, Rounds, round_by_round, simulate

#: How many times as fast the arrays have to be.
LEAST_RATIO = 50.0
#: Runs on arrays, a seed each.
RUNS = 9

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


def distance(one: Rounds, many: Sequence[Rounds]) -> float:
    """How far the mean of one run lies from that of several others, in standard errors from the spread of these."""
    means = [rounds.tokens_per_round for rounds in many]
    error = statistics.stdev(means) * math.sqrt(1 + 1 / len(means))
    return (one.tokens_per_round - statistics.fmean(means)) / error


def rows(what: str, loop: str, fast: float, slow: float, apart: float) -> list[Row]:
    """Arrays beside the loop, and whether both simulate the same."""
    return [
        Row(
            f"{what}, on arrays",
            *(fast, "s", "the same model in a plain loop", slow),
            fair=f"As many tokens, processor time of one process; {loop}.",
            most=1 / LEAST_RATIO,
            goal="ratio",
        ),
        Row(
            f"{what}: distance of the two means",
            *(abs(apart), "standard errors"),
            fair=f"Both must simulate the same distribution; the error is from {RUNS} runs on arrays, a seed each.",
            most=6.0,
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=3_000_000, help="of the text (default 3,000,000)")
    options = parser.parse_args(argv)
    tokens, found = options.tokens, []
    for acceptance, draft_length in CASES:
        loop: Callable[..., Rounds] = round_by_round if isinstance(acceptance, Passages) else plain
        simulate(acceptance, draft_length, 1000)
        slow, ones = timed(partial(loop, acceptance, draft_length, tokens))
        laps = [timed(partial(simulate, acceptance, draft_length, tokens, seed)) for seed in range(RUNS)]
        fast = statistics.median(seconds for seconds, _ in laps)
        apart = distance(ones, [many for _, many in laps])
        print(f"{acceptance}, draft length {draft_length}: {ones.tokens_per_round:.4f} tokens per round")
        print(f"  one by one   {slow:8.3f} s of processor for {tokens:,} tokens")
        print(f"  all at once  {fast:8.4f} s")
        print(f"  ratio        {slow / fast:8.1f}    (at least {LEAST_RATIO:g})")
        print(f"  means apart  {apart:8.1f}    standard errors")
        if isinstance(acceptance, Passages):
            name, kind = "hard spots that come together", "the loop yields round after round"
        else:
            name, kind = f"acceptance {acceptance}", "the loop is as short as it can be written"
        found += rows(f"{tokens:,} tokens, {name}, {draft_length} drafts", kind, fast, slow, apart)
    return finish(found, options)


if __name__ == "__main__":
    sys.exit(main())
