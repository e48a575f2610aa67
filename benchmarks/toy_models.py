"""The models that chapters 12 to 14 start from: ``python benchmarks/toy_models.py``.

Trains reference and reward model of seed 0 anew, for some seconds. Prints how many of the reference's sentences end,
what the judge says of them and how often the reward model agrees, then the same for the stored ones. With ``--store``
the new ones take their place.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence

import torch

from benchmarks.ddp_trace import processor
from experiments.ch12 import toy_models
from rankzero.grammar.toy_language import EOS


def main(argv: Sequence[str] | None = None) -> int:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", action="store_true", help="write the weights where the pages read them")
    options = parser.parse_args(argv)
    model = toy_models.trained(0, toy_models.STEPS)
    score = toy_models.trained_scorer(model, 0, toy_models.REWARD_STEPS)
    if options.store:
        made_on = f"{processor()}, Python {platform.python_version()}, torch {torch.__version__}"
        toy_models.store(model, score, made_on=made_on)
        print(f"stored in {toy_models.STORED.name}")
    kept = toy_models.reference()
    for name, one, marks in (("trained now", model, score), ("stored", kept, toy_models.scorer(kept))):
        tokens = toy_models.samples(one, 500, seed=11)
        ended, mark = (tokens == EOS).any(1).float().mean(), toy_models.judged(tokens).mean()
        agreed = toy_models.pair_accuracy(one, marks)
        print(f"{name:<11} {ended:.1%} of 500 sentences end, the judge's mean is {mark:.2f}, agreed {agreed:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
