"""Section 1.13, Speed-up, exactly: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip, lazily

scaling = lazily("solutions.ch01.scaling")


def _efficiency(ranks: int) -> float:
    """Of 720 s of work shared by ``ranks``, each of which adds 10 s of communication."""
    return scaling.scaling_efficiency(720, 720 / ranks + 10, ranks)


QUESTIONS = (
    Choice(
        id="01-not-amdahl",
        kind="trace",
        title="Communication is not a serial part",
        section="1.13",
        bonus=True,
        options=(
            "7.2: eight times the computing is done in 100/90 of the time",
            "4.7: Amdahl's formula, with a tenth of the step as the serial part",
            "8: in weak scaling every rank does its own work, so all of them count in full",
            "7.3: a tenth of the time is serial and counts once, the rest counts eight times",
        ),
        correct=0,
        derivation="One rank would need $8 \\cdot 90$ ms for the computing of a step of 8 ranks, and nothing for "
        "communication. They need $90 + 10$ ms. The speed-up is the one over the other.",
        slips={
            1: "One rank does not communicate at all, so communication is no part of its time, serial or not.",
            2: "They also communicate for 10 ms in which nobody computes.",
            3: "That is Gustafson's formula. It counts the serial tenth as work that one rank has to do as well.",
        },
    ),
    Question(
        id="01-fixed-batch",
        kind="derive",
        title="A fixed problem on 64 ranks",
        section="1.13",
        bonus=True,
        ask="efficiency on 64 ranks, as a fraction",
        unit="",
        answer=lambda: _efficiency(64),
        slips=(
            Slip("That is the speed-up: divide it by the ranks.", value=lambda: 64 * _efficiency(64)),
            Slip("That is in percent: a fraction of 1 is asked for.", value=lambda: 100 * _efficiency(64)),
            Slip("That is the efficiency on 8 ranks.", value=lambda: _efficiency(8)),
        ),
        derivation="On $n$ ranks the problem takes $T_n = 720/n + 10$ seconds, and $E = T_1 / (n\\,T_n)$ with $T_1 = "
        "720$ s: one rank does not communicate. Here $n = 64$.",
    ),
)
