"""The capstone's path: sizes to estimate, and reasons to choose among, for each decision of the plan."""

from __future__ import annotations

import math

from autograder.bank.ch15.inputs import DAY_MTBF, GPUS, MTBF, NETWORK, NVLINK, PEAK, STALL, TOKENS
from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.models import GPT3_175B, LLAMA3_405B
from rankzero.facts.units import PFLOP, TB, day, hour, minute, year

checkpoints = lazily("solutions.ch15.checkpointing")
plan = lazily("solutions.ch15.run_plan")
scale = lazily("solutions.ch01.scale")

PARAMETERS = 405e9
#: Bytes of a checkpoint of the large model, and bytes/s of its storage.
CHECKPOINT, STORAGE = 14 * LLAMA3_405B.parameters, 2 * TB


def _petaflop_days(each: int = 6) -> float:
    return each * PARAMETERS * TOKENS / (PFLOP * day)


def _days(mfu: float, peak: float = PEAK) -> float:
    return scale.training_time(6 * PARAMETERS * TOKENS, GPUS, peak, mfu) / day


def _tp_bytes() -> float:
    """Sent by one GPU in a step: 4 all-reduces in 8 layers for 16 micro-batches, rings of 8."""
    return float(plan.traffic_per_gpu(LLAMA3_405B, 8, 1, 16, 128, 16, 8192)["tp"])


def _days_at_peak() -> float:
    return _days(1.0)


def _young() -> float:
    return checkpoints.optimal_checkpoint_interval(STALL, DAY_MTBF, "young") / minute


ESTIMATES = (
    Estimate(
        id="cap-pfdays",
        title="How much computing is the whole run?",
        section="15.1",
        label="405B parameters, 15.6T tokens, in days of a machine that does 1 petaFLOP per second",
        unit="days",
        answer=_petaflop_days,
        factor=2.0,
        scale=(1e2, 1e8),
        landmarks=(
            Landmark(6 * GPT3_175B.parameters * 300e9 / (PFLOP * day), "3,600", "GPT-3, counted in the same way"),
            Landmark(1e6, "1 million", "about 2,700 years"),
        ),
        slips=(
            Slip(
                "That is the forward pass alone. The backward pass costs twice as much, on top of it.",
                value=_petaflop_days(2),
            ),
            Slip("That counts hours. A day has 24 of them.", value=24 * _petaflop_days()),
            Slip(
                "That is one FLOP for each parameter and token. A weight takes 2 going forward and 4 going back.",
                value=_petaflop_days(1),
            ),
        ),
        derivation=(
            "$6 \\cdot 4 \\times 10^{11} \\cdot 1.6 \\times 10^{13} \\approx 4 \\times 10^{25}$ FLOP. A petaFLOP per "
            "second is $10^{15}$, and a day has about $10^5$ seconds, so one machine-day is about $10^{20}$ FLOP."
        ),
    ),
    Estimate(
        id="cap-days-40",
        title="How long do 16,384 GPUs need?",
        section="15.2",
        label="3.8e25 FLOP on 16,384 H100s of about 1e15 FLOP/s, at 40 percent of their peak",
        unit="days",
        answer=lambda: _days(0.4),
        factor=1.5,
        scale=(1.0, 1e4),
        landmarks=(
            Landmark(7.0, "7", "a week"),
            Landmark(365.0, "365", "a year"),
            Landmark(3650.0, "3,650", "ten years"),
        ),
        slips=(
            Slip("That is every GPU at its full peak. At 40 percent it takes 2.5 times as long.", value=_days_at_peak),
            Slip(
                "That divides by the peak with sparsity. The dense peak, which training uses, is half of it.",
                value=lambda: _days(0.4, 2 * PEAK),
            ),
            Slip("That multiplies by 0.4 where it should divide.", value=lambda: _days_at_peak() * 0.4),
        ),
        derivation=(
            "$16384 \\cdot 10^{15} \\cdot 0.4$ is about $6.5 \\times 10^{18}$ FLOP in a second, and $3.8 \\times "
            "10^{25}$ over that is nearly 6 million seconds. A day has 86,400."
        ),
    ),
    Estimate(
        id="cap-tp-traffic",
        title="Tensor parallelism over the network",
        section="15.3",
        label="4 all-reduces of 268 MB over 8 GPUs, in 8 layers, for 16 micro-batches, at 50 GB/s",
        unit="s",
        answer=lambda: _tp_bytes() / NETWORK,
        factor=1.5,
        scale=(1e-3, 1e3),
        landmarks=(
            Landmark(268e6 / NETWORK, "5 ms", "268 MB over one port of the network"),
            Landmark(6.2, "6 s", "the whole step"),
            Landmark(60.0, "1 min", "ten steps"),
        ),
        slips=(
            Slip("That is the time on NVLink, which is nine times as fast.", value=lambda: _tp_bytes() / NVLINK),
            Slip(
                "That sends each tensor once. In a ring all-reduce every rank sends 7/8 of it twice.",
                value=lambda: _tp_bytes() / 1.75 / NETWORK,
            ),
            Slip("That is a single micro-batch. A step has 16 of them.", value=lambda: _tp_bytes() / 16 / NETWORK),
            Slip("That is a single layer. A GPU has 8 of them.", value=lambda: _tp_bytes() / 8 / NETWORK),
            Slip(
                "That sends each tensor to seven others. A ring sends less than two tensors, whatever its size.",
                value=lambda: _tp_bytes() * 4 / NETWORK,
            ),
        ),
        derivation=(
            "$4 \\cdot 8 \\cdot 16 = 512$ all-reduces. In a ring of 8 each GPU sends $2 \\cdot \\frac78$ of 268 MB, "
            "0.47 GB, so about 240 GB in all. Over the network that fills most of a step in which nothing else can go "
            "on; over NVLink it is less than a tenth of it."
        ),
    ),
    Estimate(
        id="cap-405b-write",
        title="How long does one checkpoint take to write?",
        section="15.5",
        label="14 bytes for each of 406B parameters, 16,384 writers with 50 GB/s each, a storage of 2 TB/s",
        unit="s",
        answer=lambda: CHECKPOINT / STORAGE,
        factor=1.5,
        scale=(1e-3, 1e4),
        landmarks=(
            Landmark(1e-3, "1 ms", "50 MB over one link"),
            Landmark(1.0, "1 s", "50 GB over one link"),
            Landmark(3600.0, "1 h", "180 TB over one link"),
        ),
        slips=(
            Slip(
                "That is how fast 16,384 links can send. All of them share one storage, which is 400 times slower.",
                value=CHECKPOINT / (GPUS * NETWORK),
            ),
            Slip("That sends the whole checkpoint over a single link.", value=CHECKPOINT / NETWORK),
        ),
        derivation=(
            "14 bytes times 406 billion is 5.7 TB. The links could carry $16384 \\cdot 50$ GB/s, some 800 TB/s, but "
            "the storage takes 2 TB/s in all. The slower of the two decides."
        ),
    ),
    Estimate(
        id="cap-mtbf",
        title="How often does the job fail?",
        section="15.6",
        label="16,384 GPUs, each of which interrupts the job once in 5.8 years",
        unit="hours",
        answer=lambda: MTBF / hour,
        factor=1.5,
        scale=(1e-2, 1e5),
        landmarks=(
            Landmark(1.0, "1", "an hour"),
            Landmark(24.0, "24", "a day"),
            Landmark(730.0, "730", "a month"),
            Landmark(5.8 * year / hour, "50,800", "5.8 years"),
        ),
        slips=(
            Slip(
                "That divides by the root of the number of GPUs. Failures simply add up, so divide by the number.",
                value=lambda: MTBF * math.sqrt(GPUS) / hour,
            ),
            Slip("That is as if every node failed once in 5.8 years, not every GPU.", value=lambda: 8 * MTBF / hour),
        ),
        derivation=(
            "Any one GPU stops the whole job. In 5.8 years there are 16,384 interruptions, so one comes every "
            "$5.8 \\cdot 365 \\cdot 24 / 16384$ hours."
        ),
    ),
    Estimate(
        id="cap-young",
        title="How often should this job save?",
        section="15.6",
        label="work between two saves, when a save stops the job for 98 s and it fails once a day",
        unit="min",
        answer=_young,
        factor=1.6,
        scale=(1.0, 2000.0),
        landmarks=(
            Landmark(98 / 60, "1.6", "one save"),
            Landmark(60.0, "60", "an hour"),
            Landmark(1440.0, "1,440", "the time between two failures"),
        ),
        slips=(
            Slip(
                "There the saves take 1 percent of the time, but each failure loses 80 minutes on average, which is "
                "more than 5 percent of a day. Save more often.",
                value=100 * STALL / minute,
            ),
            Slip(
                "There each failure loses only 8 minutes on average, but a tenth of the time goes into saving.",
                value=10 * STALL / minute,
            ),
            Slip(
                "A job that saves half as often as it fails loses a quarter of its time to repeated work.",
                value=DAY_MTBF / 2 / minute,
            ),
        ),
        derivation=(
            "With $\\tau$ minutes between saves, saving costs $98\\,\\mathrm{s}/\\tau$ of the time and repeated work "
            "$\\tau/2$ a day. Near an hour both are about 2.5 percent. Away from that, one falls and the other grows "
            "faster."
        ),
    ),
)

CHOICES = (
    Choice(
        id="cap-split",
        kind="design",
        title="More parameters or more tokens?",
        section="15.1",
        options=(
            "runs of their own put the best split elsewhere, and near it the loss is nearly flat",
            "the rule is exact, but nobody knew it when the run was planned, so it missed the best",
            "a model of 563B would not have fitted into the memory of 16,384 GPUs, however it is cut",
            "more tokens always lower the loss further than more parameters do, whatever the budget",
        ),
        correct=0,
        derivation=(
            "The rule of 20 was fitted to budgets of at most $3 \\times 10^{21}$ FLOP and to other data. Meta's team "
            "fitted small runs of their own, extrapolated to 402B parameters and 16.55T tokens (section 3.2.1), and "
            "report that the curve is flat around its minimum. Moving along $6ND = C$ by a third costs little loss, "
            "and the smaller model is cheaper to serve forever."
        ),
        slips={
            1: "It was known, but it is a fit to much smaller runs on other data: a fit of one's own is worth more.",
            2: "563B needs 40 percent more memory, and more pipeline stages provide it.",
            3: "Along a fixed budget, too small a model loses as well: the best split is in between.",
        },
    ),
    Choice(
        id="cap-fullest",
        kind="trace",
        title="Which stage is the fullest?",
        section="15.4",
        options=(
            "the second: it has a layer more, and nearly as many micro-batches",
            "the first: it has the most micro-batches in flight, and the embedding",
            "the last: it holds the head, and the logits of the whole vocabulary",
            "none: with a layer fewer at both ends, all stages hold the same",
        ),
        correct=0,
        derivation=(
            "Activations dominate, so multiply layers by micro-batches. Stage $i$ keeps $16 - i$ micro-batches, each "
            "for all of its layers: $7 \\cdot 16 = 112$ on the first stage, $8 \\cdot 15 = 120$ on the second, $8 "
            "\\cdot 14 = 112$ on the third, and so on down to 7 on the last."
        ),
        slips={
            1: "It keeps one micro-batch more, but of 7 layers instead of 8: compare 7 times 16 with 8 times 15.",
            2: "It holds head and logits, half a gigabyte on each GPU, but it keeps a single micro-batch at a time.",
            3: "The layer fewer balances computing time. Memory depends on the micro-batches in flight, too.",
        },
    ),
    Choice(
        id="cap-double",
        kind="design",
        title="Twice the GPUs",
        section="15.6",
        options=(
            "the best interval shrinks by a factor of √2, and the waste grows by √2",
            "the best interval is halved, and the waste stays what it was",
            "the best interval is halved, and the waste doubles as well",
            "neither changes, because the checkpoint is as large as before",
        ),
        correct=0,
        derivation=(
            "Twice the GPUs halve $M$ and leave $C$ alone. Young's interval $\\sqrt{2CM}$ shrinks by $\\sqrt 2$. At "
            "that interval both halves of the waste are $\\sqrt{C/(2M)}$, so their sum grows by $\\sqrt 2$."
        ),
        slips={
            1: "Half the interval doubles the share of saving, so the waste cannot stay the same.",
            2: "Halving the interval saves too often: the root in the formula halves only if M falls to a quarter.",
            3: "The checkpoint costs the same, but failures come twice as often.",
        },
    ),
    Choice(
        id="cap-weights-alone",
        kind="trace",
        title="A checkpoint of weights alone",
        section="15.7",
        options=(
            "it goes on without an error, but along another curve, and sees some data again",
            "its loss jumps back to where training began, and it has to learn everything again",
            "nothing changes, because the weights are all that a model consists of",
            "it stops with an error, because Adam cannot make a step without its moments",
        ),
        correct=0,
        derivation=(
            "Think of everything else that the next step depends on. Adam's moments begin at zero, the data starts "
            "over, and the random numbers repeat. Nothing reports it, because the weights carry what was learned and "
            "the loss stays low."
        ),
        slips={
            1: "What was learned is in the weights, and they are restored.",
            2: "The model is its weights, but training also needs moments, data order and random numbers.",
            3: "A new optimizer simply starts with moments of zero. That is why nobody notices.",
        },
    ),
)
