"""The pair of models that chapter 11 speculates with: ``python benchmarks/tiny_pair.py``.

Trains target and draft anew, for some seconds. Prints how likely a draft of theirs is accepted, then the same for the
stored ones. With ``--store`` the new ones take their place.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence

import torch

from benchmarks.ddp_trace import processor
from experiments.ch11 import speculative_runs


def main(argv: Sequence[str] | None = None) -> int:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", action="store_true", help="write the weights where the pages read them")
    options = parser.parse_args(argv)
    target = speculative_runs.trained(speculative_runs.TARGET, speculative_runs.STEPS, 0)
    draft = speculative_runs.trained(speculative_runs.DRAFT, speculative_runs.DRAFT_STEPS, 1)
    pair = speculative_runs.Pair(target, draft)
    if options.store:
        made_on = f"{processor()}, Python {platform.python_version()}, torch {torch.__version__}"
        speculative_runs.store(pair, made_on=made_on)
        print(f"stored in {speculative_runs.STORED.name}")
    for name, one in (("trained now", pair), ("stored", speculative_runs.stored_pair())):
        print(f"{name:<11} {speculative_runs.acceptance(one):.1%} of the drafts are accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
