"""Three estimators of the KL divergence: bias and variance, exact and sampled, and the gradients of six placements.

python -m demos kl_estimators --p 0.5,0.3,0.2 --q 0.4,0.4,0.2 --samples 100000
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch13.kl_table import sampled_moments
from solutions.ch13.kl import ESTIMATORS, PLACEMENTS


def law(text: str) -> tuple[float, ...]:
    """Two to 20 probabilities above 0 with commas between them."""
    try:
        values = tuple(float(piece) for piece in text.split(","))
    except ValueError:
        values = ()
    if not 2 <= len(values) <= 20 or not all(0 < value < 1 for value in values) or abs(sum(values) - 1) > 1e-6:
        raise argparse.ArgumentTypeError(f"must be 2 to 20 numbers above 0 that sum to 1, got {text}")
    return values


def picture(rows: Sequence[tuple]):
    """Exact and sampled variance of each estimator."""
    from rankzero.figures import plots

    groups = {row[0]: {"exact": row[3], "sampled": row[5]} for row in rows}
    alt = "Variance of each estimator: " + ", ".join(f"{row[0]} {row[3]:.3g}" for row in rows) + "."
    return plots.bars(groups, y="variance (nats²)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--p", type=law, default=(0.5, 0.3, 0.2), help="the policy, from which samples are drawn")
    options.add_argument("--q", type=law, default=(0.4, 0.4, 0.2), help="the reference")
    options.add_argument("--samples", type=whole(1000, 10**7), default=100_000)
    asked = options.parse_args(argv)
    if len(asked.p) != len(asked.q):
        options.error(f"--q must have {len(asked.p)} numbers as --p, got {len(asked.q)}")
    moments = part(asked.code, "ch13.kl", "estimator_moments")
    gradient = part(asked.code, "ch13.kl", "expected_kl_gradient")
    samples = min(asked.samples, 20_000) if asked.quick else asked.samples
    drawn = sampled_moments(asked.p, asked.q, samples)
    kl = math.fsum(p * math.log(p / q) for p, q in zip(asked.p, asked.q, strict=True))
    rows, right = [], True
    for name in ESTIMATORS:
        mean, variance = moments(asked.p, asked.q, name)
        right &= abs(drawn[name][0] - mean) <= 6 * math.sqrt(variance / samples) + 1e-12
        rows.append((name, mean, round(mean - kl, 14) + 0.0, variance, *drawn[name]))
    print(f"KL(p||q) = {kl:.6g} nats; {samples:,} samples")
    header = ("estimator", "mean", "bias", "variance", "sampled mean", "sampled variance")
    show(asked, Table(header, rows), lambda: picture(rows))
    logits = [[math.log(share) for share in row] for row in (asked.p, asked.q)]
    print("\nexpected gradient by the logits of p:")
    for place in PLACEMENTS:
        for name in ESTIMATORS:
            found = ", ".join(f"{value + 0.0:8.5f}" for value in gradient(*logits, name, place))
            print(f"{name} in the {place:<6}  ({found})")
    return verdict(right, "the samples agree with the enumeration")


if __name__ == "__main__":
    sys.exit(main())
