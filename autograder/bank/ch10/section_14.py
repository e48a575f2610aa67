"""Section 10.14, Launches in numbers: its questions."""

from __future__ import annotations

from autograder.bank.ch10.quantities import eager
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import us

scheduling = lazily("solutions.ch10.scheduling")


def _graph(count: int, kernel: float, replay: float = 10 * us) -> float:
    return scheduling.graph_time([kernel] * count, replay)


QUESTIONS = (
    Question(
        id="10-five-big",
        kind="derive",
        title="Five long kernels",
        section="10.14",
        bonus=True,
        ask="time",
        unit="s",
        answer=lambda: eager(5, 100 * us, 50 * us),
        slips=(
            Slip("Launches do not wait for kernels: only the first one is not hidden.", value=750 * us),
            Slip("The first kernel waits for its launch.", value=500 * us),
        ),
        derivation="A kernel takes longer than a launch, so the GPU is the slower side. It waits for the first launch "
        "and then never again: $t_l + n\\,t_k$.",
    ),
    Question(
        id="10-many-small",
        kind="derive",
        title="Five hundred short kernels",
        section="10.14",
        bonus=True,
        parts=(
            Part(
                "one by one",
                "s",
                lambda: eager(500, 2 * us, 5 * us),
                slips=(
                    Slip("That adds what overlaps: kernels run while the next ones are launched.", value=3500 * us),
                    Slip("That is the time of the kernels: here the CPU is the slower side.", value=1005 * us),
                ),
            ),
            Part(
                "as one graph",
                "s",
                lambda: _graph(500, 2 * us),
                slips=(
                    Slip("That still launches the kernels one by one: a graph has one launch.", value=2500 * us),
                    Slip("The graph is launched once, not once for each kernel.", value=6000 * us),
                    Slip("The kernels still run: the graph saves their launches alone.", value=10 * us),
                    Slip("Give three digits: without the launch of the graph it is a little less.", value=1000 * us),
                ),
            ),
        ),
        derivation="A launch takes longer than a kernel, so the CPU is the slower side: $n\\,t_l + t_k$. A graph is "
        "launched once, then its kernels follow one another: $t_r + n\\,t_k$.",
    ),
    Question(
        id="10-graph-gain",
        kind="derive",
        title="What the graph gains",
        section="10.14",
        bonus=True,
        ask="speed-up",
        unit="",
        answer=lambda: eager(500, 2 * us, 5 * us) / _graph(500, 2 * us),
        slips=(
            Slip("That adds launches and kernels, which overlap.", value=3.5),
            Slip(
                "Give three digits: without the launch of the graph it is a little more.",
                value=lambda: eager(500, 2 * us, 5 * us) / 1e-3,
            ),
        ),
        derivation="The time one by one, $n\\,t_l + t_k$, over that of the graph, $t_r + n\\,t_k$.",
    ),
    Choice(
        id="10-when-useless",
        kind="trace",
        title="A graph of longer kernels",
        section="10.14",
        bonus=True,
        options=("nothing", "1.5 times", "2 times", "3 times"),
        correct=0,
        derivation="A kernel of 10 µs takes longer than a launch of 5 µs: the launches were hidden already, all "
        "but the first. The graph's own launch takes longer than that one.",
        slips={
            1: "That adds launches to kernels: they were hidden behind them.",
            2: "The launches were hidden: the GPU was busy all the time.",
            3: "The launches were hidden: the GPU was busy all the time.",
        },
    ),
)
