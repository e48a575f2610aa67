"""Chapter 01: the questions about speed-up and efficiency."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily

scaling = lazily("solutions.ch01.scaling")


def _efficiency(ranks: int) -> float:
    """Of 720 s of work shared by ``ranks``, each of which adds 10 s of communication."""
    return scaling.scaling_efficiency(720, 720 / ranks + 10, ranks)


QUESTIONS = (
    Question(
        id="01-not-amdahl",
        kind="derive",
        title="Communication is not a serial part",
        section="1.10",
        parts=(
            Part(
                "speed-up on the scaled problem",
                "x",
                lambda: 8 * scaling.scaling_efficiency(90, 90 + 10, 8, weak=True),
                slips=(
                    Slip(
                        "That is Amdahl's, with 10 % serial: one rank does not communicate at all.",
                        value=lambda: scaling.amdahl_speedup(0.1, 8),
                    ),
                    Slip("That leaves the communication out.", value=8),
                    Slip("That is the efficiency: times the ranks it is the speed-up.", value=0.9),
                    Slip("That is Gustafson's, with 10 % serial.", value=lambda: scaling.gustafson_speedup(0.1, 8)),
                ),
            ),
        ),
        derivation="One rank would need $8 \\cdot 90$ ms for the work of a step of 8 ranks, and nothing for "
        "communication. They need $90 + 10$ ms. The speed-up is the one over the other.",
    ),
    Question(
        id="01-fixed-batch",
        kind="derive",
        title="A fixed problem on 64 ranks",
        section="1.10",
        parts=(
            Part(
                "efficiency on 64 ranks, as a fraction",
                "",
                lambda: _efficiency(64),
                slips=(
                    Slip("That is the speed-up: divide it by the ranks.", value=lambda: 64 * _efficiency(64)),
                    Slip("That is in percent: a fraction of 1 is asked for.", value=lambda: 100 * _efficiency(64)),
                    Slip("That is the efficiency on 8 ranks.", value=lambda: _efficiency(8)),
                ),
            ),
        ),
        derivation="On $n$ ranks the problem takes $T_n = 720/n + 10$ seconds, and $E = T_1 / (n\\,T_n)$ with $T_1 = "
        "720$ s: one rank does not communicate. Here $n = 64$.",
    ),
)
