"""Section 9.15, Waste in numbers: its questions."""

from __future__ import annotations

from functools import partial

from autograder.items import Part, Question, Slip, lazily

kv = lazily("solutions.ch09.kv_cache")


QUESTIONS = (
    Question(
        id="09-reservation",
        kind="derive",
        title="Reserved and not used",
        section="9.15",
        ask="wasted share",
        unit="",
        answer=lambda: 1 - (1024 + 2048 + 1024) / (3 * 32_768),
        tolerance=0.005,
        slips=(
            Slip("Each of the three reserves its own 32,768.", value=1 - 4 / 32),
            Slip("That is the share that is used.", value=lambda: (1024 + 2048 + 1024) / (3 * 32_768)),
        ),
        derivation="One minus used over reserved: $1{,}024 + 2{,}048 + 1{,}024$ of $3 \\cdot 32{,}768$.",
        bonus=True,
    ),
    Question(
        id="09-four-fleets",
        kind="derive",
        title="Four fleets without paging",
        section="9.15",
        parts=tuple(
            Part(
                f"mean {mean:,}, longest {longest:,}",
                "",
                partial(float.__truediv__, float(mean), float(longest)),
                slips=(
                    Slip("One number for all fleets is no measurement: divide the mean by the longest.", value=0.5),
                    Slip("That is the share that is wasted.", value=1 - mean / longest),
                ),
            )
            for mean, longest in ((512, 8192), (2048, 8192), (4096, 32_768), (8192, 131_072))
        ),
        derivation="Each request reserves the longest length and uses the mean: the used share is mean over longest.",
        bonus=True,
    ),
    Question(
        id="09-block-256",
        kind="derive",
        title="Blocks of 256",
        section="9.15",
        ask="mean waste of a sequence",
        unit="tokens",
        answer=lambda: kv.paged_waste(range(1, 257), 256)[0] / 256,
        tolerance=0.001,
        slips=(
            Slip("That is the most that a sequence wastes.", value=255),
            Slip("The waste is 0, 1, ... 255: its mean is half of 255.", value=128),
        ),
        derivation="A sequence leaves 0, 1, ..., $b - 1$ places empty, each as often: the mean is $(b - 1)/2$.",
        bonus=True,
    ),
)
