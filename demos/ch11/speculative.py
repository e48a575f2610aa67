"""Speculative decoding with a tiny target and a tiny draft: what it gains, and a test of its output distribution.

python -m demos speculative --k 4 --temperature 1.0 --samples 4000 --seed 0
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch11 import speculative_runs as runs
from experiments.ch11.wrong_samplers import WRONG
from rankzero.tiny import ByteTokenizer, bundled_text

#: Below this p-value a sampler is called wrong.
THRESHOLD = 0.001


def picture(rows: Sequence[tuple]):
    """Tokens per pass against the draft length, predicted and measured."""
    from rankzero.figures import plots

    predicted, measured = ([(row[0], row[column]) for row in rows] for column in (1, 2))
    alt = f"Tokens of a target pass by draft length, measured up to {max(row[2] for row in rows):.2f}."
    return plots.curves({"predicted": predicted}, {"measured": measured}, x="k", y="tokens per pass", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--k", type=whole(1, 8), default=4, help="the longest draft")
    options.add_argument("--temperature", type=number(0.1, 2), default=1.0)
    options.add_argument("--samples", type=whole(200, 100_000), default=4000, help="continuations for the test")
    options.add_argument("--seed", type=whole(0, 10**6), default=0)
    options.add_argument(
        "--wrong", choices=sorted(WRONG), help="run a wrong sampler, with k = 1: the test must find it"
    )
    options.add_argument("--trace", action="store_true", help="print a round, token by token")
    asked = options.parse_args(argv)
    step = WRONG[asked.wrong] if asked.wrong else part(asked.code, "ch11.speculative", "speculative_step")
    expected = part(asked.code, "ch11.speculative", "expected_tokens")
    pair = replace(runs.tiny_pair(8, 20) if asked.quick else runs.tiny_pair(), temperature=asked.temperature)
    prompt, starts = ByteTokenizer().encode("Alice was "), range(2 if asked.quick else 8)
    texts = [ByteTokenizer().encode(bundled_text()[5000 * start :][:32]) for start in starts]
    law, alpha = runs.two_token_law(pair.target, prompt, asked.temperature), runs.acceptance(pair)
    longest, samples = (1 if asked.wrong or asked.quick else asked.k), (1000 if asked.quick else asked.samples)
    rows, right = [], True
    for row in runs.traced_round(pair, prompt, asked.k, asked.seed) if asked.trace else ():
        odds = " ".join(f"{name} {row[name]:.3f} " for name in "qpu" if name in row)
        print(f"{odds:<27}{row['verdict']:<9} {ByteTokenizer().decode([row['written']])!r}")
    for k in range(1, longest + 1):
        found = runs.together([runs.generate(pair, text, 60, k, asked.seed, step) for text in texts])
        test = runs.chi_square(runs.continuations(pair, prompt, samples, 2, k, asked.seed, step), law)
        means, passes = (expected(alpha, k), found.tokens_per_round), (found.draft_passes, found.target_passes)
        rows.append((k, *means, *passes, 1e3 * found.seconds / len(found.tokens), test.statistic, test.p_value))
        right &= (test.p_value < THRESHOLD) == bool(asked.wrong)
    print(f"acceptance {alpha:.3f} at temperature {asked.temperature:g}")
    header = (
        "k",
        "predicted tokens",
        "measured tokens",
        "draft passes",
        "target passes",
        "ms/token",
        "chi2",
        "p-value",
    )
    show(asked, Table(header, rows), lambda: picture(rows))
    return verdict(
        right, "the test finds the wrong sampler" if asked.wrong else "the output distribution is the target's"
    )


if __name__ == "__main__":
    sys.exit(main())
