"""Chapter 14: the design ``14-design-lag``, how stale answers may be, and ``14-reason-lag``, why 16 is as fast as 4."""

from __future__ import annotations

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily
from rankzero.facts.units import hour

jobs = lazily("solutions.ch14.placed_job")
runs = lazily("solutions.ch14.lagged_runs")

SECTION = "14.31"
#: GPUs of the 64 that write where answers may be old, updates of a run, and the best that the judge gives.
WRITERS, UPDATES, BEST = 32, 60, 2.0
#: The judge with which the worst run has to end.
ENOUGH = 1.0


def lagging(bound: int, correction: int) -> Simulated:
    """What 60 updates come to whose answers are all as many versions old as the bound says."""
    plan = jobs.Plan(WRITERS if bound else 0, bound, jobs.PAIRS, jobs.SLICES)
    hours = UPDATES * jobs.simulated(plan).seconds / hour
    ends = runs.ends(bound, runs.CORRECTIONS[correction])
    worst = min(ends, key=lambda end: end.judge)
    told = (
        f"60 updates take {hours:.2f} h. The three runs end with {', '.join(f'{end.judge:.2f}' for end in ends)} by "
        f"the judge. At the end of the worst one, the effective sample size was {worst.share:.0%} of the answers."
    )
    broken = "" if worst.judge >= ENOUGH else f"But every run has to end with {ENOUGH:g} at least."
    return Simulated(told, (hours, BEST - worst.judge), broken)


QUESTIONS = (
    Design(
        id="14-design-lag",
        title="How stale may it be",
        section=SECTION,
        bonus=True,
        knobs=(
            Knob("bound", "versions that answers are behind (`bound`)", (0, 1, 4, 16)),
            Knob("correction", "0 none, 1 clip against the writer, 2 decoupled (`correction`)", (0, 1, 2)),
        ),
        axes=(Axis("60 updates", "h"), Axis("2 less the judge of the worst run", "points")),
        simulate=lagging,
        derivation=(
            "Time and learning answer differently to the same number. Time gains nearly everything with the first "
            "version, a little up to the fourth and nothing after that, because the trainer then works all the time. "
            "Learning hardly notices one version, notices four, and at sixteen no correction brings it back."
            "\n\n"
            "Which correction is best at one version, these runs do not say. Decoupled comes last there because one "
            "of three seeds ended at 1.69; the other two ended as well as anything. With four versions the order is "
            "the same for all three seeds: decoupled, clipped against the writer, nothing. Three seeds are enough "
            "for the second statement and far too few for the first. Before you build on it, run more: `python -m "
            "demos async_rlhf --lag 1 --correction decoupled --seed 3`."
        ),
    ),
    Choice(
        id="14-reason-lag",
        kind="design",
        title="Sixteen versions, and no faster",
        section=SECTION,
        bonus=True,
        options=(
            "The trainer already works all the time. More answers ahead of it only wait longer to be learned from.",
            "The slots are all taken: a bound lets more answers begin, but there is no room in which to write them.",
            "The longest answer takes as long as before, and no update can be shorter than that.",
            "New weights have to travel after every update, however far the writers may be ahead.",
        ),
        correct=0,
        derivation=(
            "An update takes as long as training and the way of the weights from a bound of 2 on. Who is never idle "
            "cannot be helped by more work in front of it. What is begun earlier is finished earlier, and waits: "
            "each answer gets older, and none is learned from sooner."
        ),
        slips={
            1: "Fewer than half of the 512 slots are taken, because the gate holds the writers back.",
            2: "That holds behind a barrier. Here a slot whose answer has ended begins the next one.",
            3: "They do, but it takes a third of a second of more than a minute.",
        },
    ),
)
