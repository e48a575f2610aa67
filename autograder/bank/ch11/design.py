"""Chapter 11: the design ``11-design``, one draft length for night and day, and the question ``11-reason``."""

from __future__ import annotations

from autograder.items import Axis, Choice, Design, Knob, Simulated, lazily
from rankzero.facts.units import ms, us

methods = lazily("solutions.ch11.draft_methods")
speculative = lazily("solutions.ch11.speculative")

SECTION = "11.6"
#: Answers that are written at the same time.
NIGHT, DAY = 2, 128


def night_and_day(method: int, drafts: int) -> Simulated:
    """What a server comes to that is started once."""
    chosen = (None, methods.N_GRAM, methods.EAGLE, methods.SMALL)[method]
    night, day, plain = (
        methods.token_seconds(way, drafts, answers) for way, answers in ((chosen, NIGHT), (chosen, DAY), (None, DAY))
    )
    written = speculative.expected_tokens(chosen.acceptance, drafts) if chosen else 1.0
    told = (
        f"A round writes {written:.2f} tokens of an answer. At night a token takes {night / ms:.2f} ms, by day the "
        f"server writes {DAY / day:,.0f} tokens per second."
    )
    broken = ""
    if day > plain:
        positions = DAY * (drafts + 1)
        vain = 1 - written / (drafts + 1)
        broken = (
            f"But plain decoding writes {DAY / plain:,.0f}: by day a round multiplies {positions:,} positions, and "
            f"{vain:.0%} of them write no token."
        )
    return Simulated(told, (night / ms, day / DAY / us), broken)


QUESTIONS = (
    Design(
        id="11-design",
        title="One draft length for night and day",
        section=SECTION,
        knobs=(
            Knob("method", "drafts by: 0 nobody, 1 n-gram, 2 EAGLE head, 3 1B model (`method`)", (0, 1, 2, 3)),
            Knob("drafts", "drafts in a round (`drafts`)", (1, 2, 3, 4, 6, 8)),
        ),
        axes=(Axis("a token at night", "ms"), Axis("GPU time of a token by day", "µs")),
        simulate=night_and_day,
        derivation=(
            "At night two answers leave the multipliers idle. Checking a few more positions costs next to nothing, and "
            "the best length is the one at which the next draft no longer earns its own time: three for the EAGLE "
            "head, and no more for a 1B model, whose drafts are accepted more often but take longer."
            "\n\n"
            "By day 128 answers already multiply for half of the time that the weights take to read, and with one "
            "draft each they multiply for all of it. From there on every position costs, whether it writes a token or "
            "not, so short rounds win: with one draft, the n-gram method, which needs no training and no memory, is "
            "as good as a head. Night and day want different lengths. A server that is started once has to choose, "
            "and one, two and three drafts are all defensible. A server that sets the length by its load takes both "
            "ends."
        ),
    ),
    Choice(
        id="11-reason",
        kind="design",
        title="Eight drafts, by night and by day",
        section="11.16",
        bonus=True,
        options=(
            "By day, the positions of a round multiply longer than the weights are read, so each one more costs time.",
            "By day, fewer drafts are accepted, because the drafts of 128 answers share one pass of the target.",
            "By day, every position of a round reads the cache of its answer once more, and caches are large.",
            "By day, the head drafts for 128 answers one after the other, and at night for both at the same time.",
        ),
        correct=0,
        derivation=(
            "With eight drafts a round has $9 \\cdot 128$ positions by day, and about 260 of them can be multiplied "
            "while the weights are read. At night it has 18: the target's pass takes as long as a plain one, and only "
            "the drafting costs. The caches are read once in a round, however many positions it has. Drafting takes "
            "longer by day, too: the head makes each draft of all answers in one pass, which takes it more than three "
            "times as long for 128 as for two."
        ),
        slips={
            1: "Whether a draft is accepted depends on its own answer alone; the others in the pass do not matter.",
            2: "All positions of an answer read its cache together: once in a round.",
            3: "It drafts one position of all answers in one pass. That takes longer with 128 of them, but not 64 "
            "times as long.",
        },
    ),
)
