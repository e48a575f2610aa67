"""Section 1.12, Shards, exactly: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

sharding = lazily("solutions.ch01.sharding")


def _visits(drop_last: bool = False) -> int:
    """Visits of one of 64 ranks to 50,000 samples."""
    return len(sharding.shard_indices(50_000, 64, 0, drop_last=drop_last))


def _accuracy_over_visits() -> float:
    """Samples 0 and 1 of 10 are right; 4 ranks, padded."""
    visits = [sample for rank in range(4) for sample in sharding.shard_indices(10, 4, rank)]
    return sum(sample in (0, 1) for sample in visits) / len(visits)


QUESTIONS = (
    Question(
        id="01-sampler-padding",
        kind="derive",
        title="Samples visited twice",
        section="1.12",
        bonus=True,
        ask="visited twice",
        unit="samples",
        answer=lambda: 64 * _visits() - 50_000,
        tolerance=0,
        slips=(
            Slip(
                "That many would be left out with drop_last.",
                value=lambda: 50_000 - 64 * _visits(drop_last=True),
            ),
            Slip("That is how many one rank visits.", value=_visits),
        ),
        derivation="Every rank makes $\\lceil 50000 / 64 \\rceil$ visits. What all of them make together, less "
        "the size of the data set, is repeated from the start of the order.",
    ),
    Question(
        id="01-eval-bias",
        kind="trace",
        title="Accuracy over padded shards",
        section="1.12",
        bonus=True,
        ask="accuracy over all visits, as a fraction",
        unit="",
        answer=_accuracy_over_visits,
        tolerance=0.015,  # 0.33 is right
        slips=(
            Slip(
                "That is in percent: a fraction of 1 is asked for.",
                value=lambda: 100 * _accuracy_over_visits(),
            ),
            Slip("That is how many visits are right: divide by all visits.", value=4),
            Slip(
                "That is the true accuracy: but samples 0 and 1 are visited twice.",
                value=lambda: sharding.debug_eval([1.0] * 2 + [0.0] * 8, 4),
            ),
            Slip("Each of the two counts twice, and the two repeats are visits too: 12, not 10.", value=lambda: 4 / 10),
        ),
        derivation="Four ranks make $\\lceil 10 / 4 \\rceil$ visits each, 12 together. The two that are repeated "
        "are the first two of the order, samples 0 and 1, which are the right ones: 4 right visits of 12.",
    ),
)
