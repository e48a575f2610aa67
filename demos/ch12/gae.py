"""Advantages of one episode: its TD errors, and the advantages that each lambda makes of them.

python -m demos gae --rewards 0,0,0,1 --values .5,.5,.5,.5 --gamma .99 --lambdas 0,.5,.95,1 --end terminal
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from demos.common import Table, demo, number, parser, part, show, verdict


def numbers(low: float, high: float, most: int = 50) -> Callable[[str], tuple[float, ...]]:
    """An argparse type: one to ``most`` numbers from ``low`` to ``high``, with commas between them."""

    def convert(text: str) -> tuple[float, ...]:
        found = tuple(number(low, high)(piece) for piece in text.split(","))
        if len(found) > most:
            raise argparse.ArgumentTypeError(f"must be at most {most} numbers, got {len(found)}")
        return found

    return convert


def picture(deltas: Sequence[float], by_lambda: dict[float, list[float]]):
    """TD errors above, advantages below."""
    from rankzero import figures

    return figures.rl.advantages(deltas, by_lambda)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--rewards", type=numbers(-1e6, 1e6), default=(0, 0, 0, 1), help="of the steps")
    options.add_argument("--values", type=numbers(-1e6, 1e6), default=(0.5,) * 4, help="of the states of the steps")
    options.add_argument("--gamma", type=number(0, 1), default=0.99, help="discount")
    options.add_argument("--lambdas", type=numbers(0, 1, 8), default=(0, 0.5, 0.95, 1))
    options.add_argument("--end", choices=("terminal", "cut"), default="terminal", help="of the last step")
    options.add_argument("--after", type=number(-1e6, 1e6), default=0.5, help="value of the state after a cut")
    asked = options.parse_args(argv)
    rewards, values, count = asked.rewards, asked.values, len(asked.rewards)
    if len(values) != count:
        options.error(f"--values must hold {count} numbers, as --rewards does, got {len(values)}")
    gae, returns = part(asked.code, "ch12.rl", "gae"), part(asked.code, "ch12.rl", "discounted_returns")
    over, none = [*[False] * (count - 1), True], [False] * count
    flags = (over, none) if asked.end == "terminal" else (none, over)
    buffer = (rewards, values, [*values[1:], asked.after], *flags, asked.gamma)
    by_lambda = {trace: gae(*buffer, trace) for trace in asked.lambdas}
    deltas = gae(*buffer, 0.0)
    rows = [
        (step, rewards[step], values[step], deltas[step], *(found[step] for found in by_lambda.values()))
        for step in range(count)
    ]
    header = ("step", "reward", "V", "TD error", *(f"lambda {trace:g}" for trace in by_lambda))
    show(asked, Table(header, rows), lambda: picture(deltas, by_lambda))
    whole = returns(rewards, asked.gamma, asked.after if asked.end == "cut" else 0.0)
    gaps = [a - (g - v) for a, g, v in zip(gae(*buffer, 1.0), whole, values, strict=True)]
    return verdict(
        all(abs(gap) < 1e-9 * max(1, *map(abs, whole)) for gap in gaps), "lambda 1 is the return minus the value"
    )


if __name__ == "__main__":
    sys.exit(main())
