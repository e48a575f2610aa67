"""Section 5.13, All of ZeRO in bytes: its questions."""

from __future__ import annotations

from functools import partial

from autograder.bank.ch05.quantities import MEMORY, held, lost_gradients
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB

zero = lazily("solutions.ch05.zero")


def _sent(params: float, stage: int, ranks: int) -> float:
    """GB that one rank sends."""
    return zero.zero_traffic(params, stage, ranks) / GB


def _fitting() -> tuple[int, int]:
    """Stage and ranks for 13B with 18 GB of activations on at most 16 GPUs of 80 GB: least traffic, fewest ranks."""
    fits = [
        (stage, ranks)
        for stage in range(4)
        for ranks in range(1, 17)
        if zero.zero_memory(13e9, stage, ranks) + 18 * GB <= 80 * GB
    ]
    return min(fits, key=lambda pair: (zero.zero_traffic(13e9, *pair), pair[1]))


def _recipe(**settings: object) -> float:
    """GB of states of a 70B model."""
    return 70e9 * sum(zero.state_bytes(**settings)) / GB


def _both_gradients() -> float:
    """A 16-bit and a 32-bit copy of the gradients are kept."""
    return _recipe(gradient="fp32") + 70e9 * zero.state_bytes()[1] / GB


QUESTIONS = (
    Question(
        id="05-states",
        kind="derive",
        title="Five recipes for 70B",
        section="5.13",
        bonus=True,
        parts=(
            Part(
                "bf16, Adam without a master copy",
                "GB",
                lambda: _recipe(master=False),
                slips=(Slip("That has a master copy.", value=lambda: _recipe()),),
            ),
            Part(
                "classic mixed precision",
                "GB",
                lambda: _recipe(),
                slips=(
                    Slip("The 4-byte master copy is missing.", value=lambda: _recipe(master=False)),
                    Slip(
                        "16 is bytes per parameter: multiply by the parameters, not by the 140 GB of weights.",
                        value=16 * 140.0,
                    ),
                ),
            ),
            Part(
                "with fp32 gradients",
                "GB",
                lambda: _recipe(gradient="fp32"),
                slips=(Slip("The gradients take 4 bytes here.", value=lambda: _recipe()),),
            ),
            Part(
                "with gradients in both precisions",
                "GB",
                _both_gradients,
                slips=(
                    Slip(
                        "20 is bytes per parameter: multiply by the parameters, not by the 140 GB of weights.",
                        value=20 * 140.0,
                    ),
                    Slip("The bf16 gradients are kept too.", value=lambda: _recipe(gradient="fp32")),
                ),
            ),
            Part(
                "classic mixed over pure fp32",
                "",
                lambda: _recipe() / _recipe(compute="fp32"),
                slips=(Slip("Only weights and gradients halve; the master copy takes it back.", value=0.5),),
            ),
        ),
        derivation="Weights + gradients + master copy + two moments, in bytes per parameter: $2+2+0+8$; $2+2+4+8$; "
        "$2+4+4+8$; $2+(2+4)+4+8$. Pure fp32: $4+4+0+8$. Times $70 \\cdot 10^9$.",
    ),
    Question(
        id="05-zero-7b",
        kind="derive",
        title="7B on 64 ranks",
        section="5.13",
        bonus=True,
        parts=tuple(
            Part(
                f"stage {stage}",
                "GB",
                partial(held, 7e9, stage, 64),
                tolerance=5e-3,
                slips=(
                    *(  # at stage 1, whole GB of the right answer would be taken for it
                        (
                            Slip(
                                "That leaves out the master copy: 12 bytes instead of 16.",
                                value=partial(held, 7e9, stage, 64, 8.0),
                            ),
                        )
                        if stage != 1
                        else ()
                    ),
                    *(
                        (Slip("The gradients are sliced, not gone.", value=partial(lost_gradients, 7e9, stage, 64)),)
                        if stage == 2
                        else ()
                    ),
                ),
            )
            for stage in range(4)
        ),
        derivation=MEMORY + "\n\nwith $P = 7 \\cdot 10^9$, $N = 64$, and 2 bytes for a weight, 2 for a gradient and 12 "
        "for master copy and moments.",
    ),
    Question(
        id="05-zero1-70b",
        kind="derive",
        title="70B on 8 ranks",
        section="5.13",
        bonus=True,
        parts=tuple(
            Part(
                f"stage {stage}",
                "GB",
                partial(held, 70e9, stage, 8),
                slips=(
                    Slip(
                        "That leaves out the master copy: 12 bytes instead of 16.",
                        value=partial(held, 70e9, stage, 8, 8.0),
                    ),
                    *(
                        (Slip("The gradients are sliced, not gone.", value=partial(lost_gradients, 70e9, stage, 8)),)
                        if stage == 2
                        else ()
                    ),
                ),
            )
            for stage in (1, 2, 3)
        ),
        derivation=MEMORY + "\n\nwith $P = 70 \\cdot 10^9$, $N = 8$, and 2 bytes for a weight, 2 for a gradient and 12 "
        "for master copy and moments.",
    ),
    Question(
        id="05-zero3-traffic",
        kind="derive",
        title="What stage 3 sends",
        section="5.13",
        bonus=True,
        parts=(
            Part(
                "sent by each rank in a step",
                "GB",
                partial(_sent, 7e9, 3, 64),
                slips=(
                    Slip(
                        "That is three times DDP: a gather is half of an all-reduce.",
                        value=lambda: 3 * _sent(7e9, 0, 64),
                    ),
                    Slip("That is what DDP sends.", value=partial(_sent, 7e9, 0, 64)),
                    Slip("Close: a rank's own slice does not travel.", value=lambda: _sent(7e9, 3, 64) * 64 / 63),
                ),
            ),
            Part(
                "more than DDP",
                "GB",
                lambda: _sent(7e9, 3, 64) - _sent(7e9, 0, 64),
                slips=(Slip("That is the total, not what is added.", value=partial(_sent, 7e9, 3, 64)),),
            ),
            Part(
                "time at 50 GB/s",
                "s",
                lambda: _sent(7e9, 3, 64) / 50,
                slips=(Slip("That is the time of DDP.", value=lambda: _sent(7e9, 0, 64) / 50),),
            ),
        ),
        derivation="Two gathers of the weights and one reduce-scatter of the gradients, each $\\frac{N-1}{N}\\cdot "
        "2P$ bytes with $P = 7 \\cdot 10^9$ and $N = 64$. DDP's all-reduce is two of these.",
    ),
    Question(
        id="05-fit-175b",
        kind="derive",
        title="GPUs for 175B",
        section="5.13",
        bonus=True,
        parts=(
            Part(
                "with 16 bytes per parameter",
                "GPUs",
                lambda: zero.min_ranks(175e9, 3, 80 * GB),
                tolerance=0,
                slips=(
                    Slip(
                        "What fills the memory exactly fits: nothing else is asked for here.",
                        value=lambda: zero.min_ranks(175e9, 3, 80 * GB) + 1,
                    ),
                    Slip(
                        "That is for 12 bytes, without the master copy.",
                        value=lambda: zero.min_ranks(175e9, 3, 80 * GB, optimizer_bytes=8),
                    ),
                ),
            ),
            Part(
                "with 12 bytes per parameter",
                "GPUs",
                lambda: zero.min_ranks(175e9, 3, 80 * GB, optimizer_bytes=8),
                tolerance=0,
                slips=(Slip("Rounded down it does not fit.", value=175 * 12 // 80),),
            ),
        ),
        derivation="Stage 3 slices everything: the smallest $N$ with $b P/N \\le 80$ GB, for $P = 175 \\cdot 10^9$ "
        "and $b$ bytes per parameter. Round up.",
    ),
    Question(
        id="05-zero-30b",
        kind="design",
        title="30B beside 20 GB of activations",
        section="5.13",
        bonus=True,
        parts=(
            Part(
                "lowest stage that fits on 8 GPUs of 80 GB",
                "",
                lambda: next(s for s in range(4) if zero.zero_memory(30e9, s, 8) + 20 * GB <= 80 * GB * (1 + 1e-12)),
                tolerance=0,
                slips=(Slip("Stage 2 keeps 60 GB of weights whole, beside slices and activations.", value=2),),
            ),
            Part(
                "used on each GPU with it",
                "GB",
                lambda: held(30e9, 3, 8) + 20,
                slips=(Slip("The activations take their place too.", value=partial(held, 30e9, 3, 8)),),
            ),
            Part(
                "used on each of 16 GPUs with stage 2",
                "GB",
                lambda: held(30e9, 2, 16) + 20,
                slips=(
                    Slip("The activations take their place too.", value=partial(held, 30e9, 2, 16)),
                    Slip("The gradients are sliced, not gone.", value=lambda: lost_gradients(30e9, 2, 16) + 20),
                ),
            ),
        ),
        derivation=MEMORY + "\n\nwith $P = 30 \\cdot 10^9$; 20 GB of activations come on top on every GPU. Try the "
        "stages in turn.",
    ),
    Choice(
        id="05-zero-30b-ranks",
        kind="design",
        title="Stage 2, but on more ranks",
        section="5.13",
        bonus=True,
        options=(
            "on no number of ranks: the weights and the activations fill a GPU alone",
            "on 16: the slices halve once more",
            "on 64, where the slices have nearly vanished",
            "on 21, where the slices come to 20 GB",
        ),
        correct=0,
        derivation="Stage 2 keeps all weights on every rank: $2 \\cdot 30 = 60$ GB. With 20 GB of activations nothing "
        "is left of 80 GB, and the slices, however small, need something.",
        slips={
            1: "Then a rank holds 60 GB of weights, 26 GB of slices and 20 GB of activations.",
            2: "Nearly is not quite: what stays whole fills the GPU already.",
            3: "20 GB are left only if there are no activations.",
        },
    ),
    Question(
        id="05-design-13b",
        kind="design",
        title="A place for 13B",
        section="5.13",
        bonus=True,
        parts=(
            Part(
                "stage",
                "",
                lambda: _fitting()[0],
                tolerance=0,
                slips=(
                    Slip("Stage 3 fits on fewer ranks, but sends a third more.", value=3),
                    Slip("Stage 1 needs all 16 ranks, and more ranks send a larger share.", value=1),
                    Slip("Replicas alone do not fit.", value=0),
                ),
            ),
            Part(
                "ranks",
                "",
                lambda: _fitting()[1],
                tolerance=0,
                slips=(
                    Slip("With one rank less it does not fit, by less than 1 GB.", value=lambda: _fitting()[1] - 1),
                    Slip("Stage 2 fits on fewer, and fewer ranks send a smaller share.", value=16),
                    Slip(
                        "That is stage 3, which sends a third more.",
                        value=lambda: zero.min_ranks(13e9, 3, 80 * GB, 18 * GB),
                    ),
                ),
            ),
            Part(
                "used on each rank",
                "GB",
                lambda: held(13e9, *_fitting()) + 18,
                slips=(Slip("The activations take their place too.", value=lambda: held(13e9, *_fitting())),),
            ),
            Part(
                "sent by each rank in a step",
                "GB",
                lambda: _sent(13e9, *_fitting()),
                slips=(
                    Slip("That is stage 3 on 4 ranks.", value=partial(_sent, 13e9, 3, 4)),
                    Slip("That is stage 1 on 16 ranks.", value=partial(_sent, 13e9, 1, 16)),
                ),
            ),
        ),
        derivation=MEMORY
        + "\n\nplus 18 GB must stay within 80 GB, for $P = 13 \\cdot 10^9$ and $N \\le 16$. Stages 0 to 2 "
        "send $\\frac{N-1}{N}\\cdot 4P$ bytes, stage 3 $\\frac{N-1}{N}\\cdot 6P$: among the stages that fit, fewer "
        "ranks "
        "send less.",
    ),
)
