"""Rewards of one response, token by token: the price of leaving the reference, and the score on the last token.

python -m demos token_rewards --score 0.5 --beta 0.02 --log-probs=-1.2,-0.8,-1.3 --reference=-1,-1,-1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict
from experiments.ch13.explorers import ACTOR, REFERENCE


def log_probabilities(text: str) -> tuple[float, ...]:
    """One to 64 log-probabilities with commas between them."""
    values = tuple(number(-100, 0)(piece) for piece in text.split(","))
    if len(values) > 64:
        raise argparse.ArgumentTypeError(f"at most 64 log-probabilities, got {len(values)}")
    return values


def picture(rows: Sequence[tuple]):
    """The reward of each token."""
    from rankzero.figures import plots

    rewards = {str(row[0]): {"reward": row[5]} for row in rows}
    alt = f"Rewards of {len(rows)} tokens; the last one has the score and {rows[-1][5]:.4g}."
    return plots.bars(rewards, y="reward", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--score", type=number(-1e6, 1e6), default=0.5, help="of the whole response")
    options.add_argument("--beta", type=number(0, 1e3), default=0.02, help="price of a nat")
    options.add_argument("--log-probs", type=log_probabilities, default=ACTOR, help="of the tokens, under the actor")
    options.add_argument("--reference", type=log_probabilities, default=None, help="under the reference; -1 each")
    asked = options.parse_args(argv)
    known = asked.reference or REFERENCE[:1] * len(asked.log_probs)
    if len(known) != len(asked.log_probs):
        options.error(f"--reference must have {len(asked.log_probs)} numbers as --log-probs, got {len(known)}")
    estimate, pay = part(asked.code, "ch13.kl", "kl_estimates"), part(asked.code, "ch13.rlhf", "token_rewards")
    import torch

    each = [estimate(a, b) for a, b in zip(asked.log_probs, known, strict=True)]
    actor, reference = (torch.tensor([row], dtype=torch.float64) for row in (asked.log_probs, known))
    scores = torch.tensor([asked.score], dtype=torch.float64)
    rewards = pay(scores, actor, reference, torch.ones_like(actor), asked.beta)[0].tolist()
    rows = [
        (index, a, b, one.k1, one.k3, reward)
        for index, (a, b, one, reward) in enumerate(zip(asked.log_probs, known, each, rewards, strict=True))
    ]
    show(asked, Table(("token", "log pi", "log ref", "k1", "k3", "reward"), rows), lambda: picture(rows))
    k1, k3 = sum(one.k1 for one in each), sum(one.k3 for one in each)
    print(f"sums: k1 {k1:.6g} nats, k3 {k3:.6g} nats, reward {sum(rewards):.6g}")
    price = asked.beta * k1
    print("a sum of k1 below 0 is a bonus" if price < 0 else f"the price lowers the reward by {price:.6g}")
    wanted = asked.score - asked.beta * k1
    return verdict(abs(sum(rewards) - wanted) <= 1e-9 * (1 + abs(wanted)), "the sum is score - beta * sum of k1")


if __name__ == "__main__":
    sys.exit(main())
