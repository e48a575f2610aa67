"""Messages whose two ends do not agree, and buffers used too early: run for real, with what came of them.

python -m demos mismatch --case dtype
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch

from demos.common import Table, demo, parser, show, verdict
from experiments.ch02.mismatches import MISMATCHES, OBSERVED_WITH, observe


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--case", choices=(*MISMATCHES, "all"), default="all")
    arguments = options.parse_args(argv)
    rows, known = [], True
    for name in MISMATCHES if arguments.case == "all" else (arguments.case,):
        print(f"{name}: {MISMATCHES[name].program.__doc__}")
        outcome = observe(name, timeout=0.7 if arguments.quick else 3.0)
        known &= outcome.is_of(MISMATCHES[name])
        rows.append((name, MISMATCHES[name].title, str(outcome)))
    show(arguments, Table(("case", "fault", "what came of it"), rows))
    return verdict(known, f"on torch {torch.__version__} as it was observed with {OBSERVED_WITH}")


if __name__ == "__main__":
    sys.exit(main())
