"""Section 14.22, The simulator: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

schedule = lazily("solutions.ch14.rlhf_schedule")
slots = lazily("solutions.ch14.weight_slots")


def _stale() -> int:
    run = schedule.simulate_async([9] + [1] * 11, 2, 2, 1, 1, 0, 1)
    return max(max(step[2]) for step in run.steps)


def _free() -> float:
    gate = slots.StalenessGate(64, 4, 256)
    gate.version, gate.accepted, gate.running = 10, 900, 32
    return gate.capacity()


QUESTIONS = (
    Question(
        id="14-straggler",
        kind="derive",
        title="Slots that wait",
        section="14.22",
        bonus=True,
        ask="slot use while the batch is generated",
        unit="%",
        answer=lambda: 100 * 650 / 4096,
        tolerance=0.01,
        slips=(
            Slip("Mean over longest, not one half.", value=50),
            Slip("That is the share in which they wait.", value=lambda: 100 - 100 * 650 / 4096),
        ),
        derivation="The batch lasts as long as its longest response. In that time its slots could write $64 \\cdot "
        "4096$ tokens, and write $64 \\cdot 650$.",
    ),
    Question(
        id="14-sim",
        kind="trace",
        title="One straggler under bound 1",
        section="14.22",
        bonus=True,
        ask="largest staleness of a trained response",
        unit="versions",
        answer=_stale,
        tolerance=0,
        slips=(
            Slip("The bound limits how far production runs ahead, not one sample's age.", value=1),
            Slip("Count the steps that end while the straggler is written.", value=9),
        ),
        derivation="The straggler starts with version 0 and takes the time of nine others. Meanwhile the other slot "
        "feeds the trainer, two responses a step; count the steps that have ended when the trainer takes the "
        "straggler.",
    ),
    Question(
        id="14-gate",
        kind="derive",
        title="How many may start",
        section="14.22",
        bonus=True,
        ask="responses",
        unit="responses",
        answer=_free,
        tolerance=0,
        slips=(
            Slip("Those that are running have started, too.", value=60),
            Slip("That is the room under the limit alone; the bound on staleness is tighter.", value=224),
            Slip("The batch that is trained next counts as well: version + 1.", value=0),
        ),
        derivation="Two limits hold: on what runs at once, $256 - 32$, and on what has ever started, "
        "$(4 + 10 + 1) \\cdot 64 - 900 - 32$. The smaller one decides.",
    ),
)
