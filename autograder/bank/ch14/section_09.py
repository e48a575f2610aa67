"""Section 14.9, Admission control: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily

reference = lazily("solutions.ch14.weight_slots")


def _free() -> float:
    gate = reference.StalenessGate(64, 4, 256)
    gate.version, gate.accepted, gate.running = 10, 900, 32
    return gate.capacity()


QUESTIONS = (
    Question(
        id="14-gate",
        kind="derive",
        title="How many may start",
        section="14.9",
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
    Choice(
        id="14-gate-bound",
        kind="trace",
        title="What the gate bounds",
        section="14.9",
        options=(
            "no: it bounds how far production runs ahead; one slow response can still arrive many versions late",
            "yes: no sample is older than the bound when it is trained on",
            "yes, as long as no response is rejected",
            "no: it bounds nothing once the trainer is faster than the rollout",
        ),
        correct=0,
        derivation="The gate counts what has started. While a long response runs, shorter ones that started after it "
        "finish, are trained on, and raise the version. The long one joins whatever batch is next when it ends.",
        slips={
            1: "It would be so if responses were trained on in the order in which they started.",
            2: "A rejected response is replaced by a fresh one; the slow one is the trouble.",
            3: "It bounds what may start at any time, whoever is faster.",
        },
    ),
)
