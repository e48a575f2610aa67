"""What the grader's cases catch: ``python -m benchmarks.catches``.

The slips of every exercise of plain Python, each a wrong program that people write, graded against the public cases and
the hidden ones of one key; and every small change (mutant) to the references of five exercises. A mutant that no case
catches must be one of :data:`EQUIVALENT`: the same result, or one as near, by another way.

``make mutants`` tries all exercises, ``make luck`` right programs in other formulations with 200 keys; both take hours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from autograder import bank
from autograder.maintenance import verifying
from autograder.running.exam import Exam
from benchmarks._rows import Row, arguments, finish
from tools import mutants

#: By exercise, lines of its reference with changes to them that no case can notice, each with the reason.
EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "03-ring-all-reduce-time": {},
    "05-zero-memory": {},
    "05-dynamic-loss-scale": {},
    "05-loss-scaler": {
        (
            "if self._scale * self._growth_factor <= FLOAT32_MAX:",
            "self._scale * self._growth_factor < FLOAT32_MAX",
        ): "they differ only if a scale lands on the largest float32"
    },
    "cap-optimal-checkpoint-interval": {
        ("if ratio < 1e-6:", "if False:"): "for tiny ratios the iteration is still as near as the tolerance asks",
        ("if ratio < 1e-6:", "ratio <= 1e-06"): "at the limit both ways agree",
        ("if ratio < 1e-6:", "2e-06"): "between the two limits both ways agree",
        **{
            ("period = ratio + min(1.0, math.sqrt(2 * ratio))", guess): "another first guess, still right of the root"
            for guess in ("max", "2.0", "3")
        },
        (
            "closer = period - (period + math.expm1(-period) - ratio) / -math.expm1(-period)",
            "(period + math.expm1(-period) - ratio) * -math.expm1(-period)",
        ): "shorter steps to the same root",
    },
}


def changed(survivor: str) -> tuple[str, str]:
    """A surviving mutant: the line of the reference without its comment, and what stands in it instead."""
    where, _, change = survivor.partition("\n")
    statement = where.split(": ", 1)[1].partition("  #")[0]
    return statement.strip(), change.rpartition("->")[2].strip()


def rows() -> list[Row]:
    """Slips and mutants, and those that no case catches."""
    plain = [item for item in bank.builds() if item.grade in mutants.PLAIN]
    slips, escaped = 0, 0
    with Exam(plain, b"benchmark") as exam:
        for item in plain:
            slips += len(item.slips)
            escaped += len(verifying.slips(exam, item))
    tried, without = 0, 0
    survivors: list[str] = []
    for name, reasons in EQUIVALENT.items():
        count, left = mutants.survivors(bank.find(name))
        tried += count
        survivors += [f"{name}: {changed(line)[1]}: {reasons.get(changed(line), 'no reason')}" for line in left]
        without += sum(changed(line) not in reasons for line in left)
    key = "One key; each slip is the reference with one thing wrong."
    return [
        Row(
            f"slips that are not caught, or told as another mistake, of {len(plain)} exercises",
            escaped,
            "",
            "all slips",
            slips,
            key,
            most=0,
        ),
        Row(
            f"mutants that no case catches, of {len(EQUIVALENT)} exercises",
            *(len(survivors), "", "all mutants", tried),
            fair="Every operator, comparison, constant and condition of the reference, changed one at a time. "
            + "Survivors: "
            + "; ".join(survivors)
            + ".",
        ),
        Row("of these, without a reason", without, fair="Each must be the same function, or one as near.", most=0),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Grade, and print."""
    options = arguments(__doc__).parse_args(argv)
    found = rows()
    for row in found:
        print(f"{row.what}: {row.ours:g}")
    return finish(found, options)


if __name__ == "__main__":
    sys.exit(main())
