"""Chapter 08: the questions about latency, Little's law, batches and streams."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

serving = lazily("solutions.ch08.serving")

LENGTHS = [3, 1, 2, 5, 4]


def _last(policy: str, slots: int = 2) -> int:
    spans = getattr(serving, f"{policy}_batching")(LENGTHS, slots)
    return max(finish for _, finish in spans)


def _idle(policy: str) -> float:
    """Share of idle slot-steps: 50 requests on 8 slots."""
    lengths = serving.workload()
    steps = max(finish for _, finish in getattr(serving, f"{policy}_batching")(lengths, 8))
    return 1 - sum(lengths) / (steps * 8)


ITEMS: tuple[Question | Choice, ...] = (
    Question(
        id="08-e2e",
        kind="derive",
        title="End to end",
        section="8.5",
        parts=(
            Part(
                "end-to-end latency",
                "s",
                lambda: 0.3 + 199 * 0.025,
                0.001,
                (
                    Slip("200 tokens have 199 gaps.", value=lambda: 0.3 + 200 * 0.025),
                    Slip("The user waits for the first token, too.", value=lambda: 200 * 0.025),
                    Slip("The user waits for the first token, too.", value=lambda: 199 * 0.025),
                ),
            ),
        ),
        derivation="$\\mathrm{TTFT} + (n - 1) \\cdot \\mathrm{TPOT}$ with $n = 200$.",
    ),
    Choice(
        id="08-itl-p99",
        kind="trace",
        title="A stall between two tokens",
        section="8.5",
        options=("the 99th percentile of ITL", "TTFT", "TPOT", "throughput"),
        correct=0,
        derivation="A percentile near the maximum keeps the one long gap; a mean spreads it over all of them.",
        slips={
            1: "TTFT ends with the first token; the stall comes later.",
            2: "TPOT is the mean gap: it averages the stall away.",
            3: "Throughput counts tokens of all users; one user's stall is invisible in it.",
        },
    ),
    Question(
        id="08-little-inflight",
        kind="derive",
        title="How many are inside",
        section="8.6",
        parts=(
            Part(
                "in flight",
                "requests",
                lambda: 500 * 1.0448,
                0.01,
                (Slip("Multiply rate and time.", value=lambda: 500 / 1.0448),),
            ),
            Part(
                "replicas",
                "replicas",
                lambda: serving.replicas_needed(500, 1.0448, 0.0, 1, 64),
                0.0,
                (
                    Slip("That is one request per replica; each has 64 slots.", value=523),
                    Slip("Rounding down leaves requests without a slot.", value=8),
                ),
            ),
        ),
        derivation="$L = \\lambda W$: 500 per second times 1.0448 s. Divide by 64, round up.",
    ),
    Question(
        id="08-little-rate",
        kind="derive",
        title="Throughput from what is inside",
        section="8.6",
        parts=(
            Part(
                "throughput",
                "requests/s",
                lambda: 64 / 1.6,
                1e-6,
                (
                    Slip("Divide: many inside for a long time is a low rate.", value=lambda: 64 * 1.6),
                    Slip("That is the time over the number.", value=lambda: 1.6 / 64),
                ),
            ),
        ),
        derivation="$\\lambda = L / W$.",
    ),
    Question(
        id="08-static-vs-continuous",
        kind="derive",
        title="Five requests, two slots",
        section="8.7",
        parts=(
            Part(
                "last finish, static",
                "steps",
                lambda: _last("static"),
                0.0,
                (
                    Slip("That is one slot.", value=15),
                    Slip("That is continuous: a static batch waits for its longest.", value=8),
                ),
            ),
            Part(
                "last finish, continuous",
                "steps",
                lambda: _last("continuous"),
                0.0,
                (Slip("That is a slot for everyone.", value=5), Slip("That is the static policy.", value=12)),
            ),
        ),
        derivation="Static: $\\max(3, 1) + \\max(2, 5) + 4$. Continuous: the slot of the second request is free at "
        "step 1 and takes the third, both are free at step 3.",
    ),
    Question(
        id="08-waste",
        kind="derive",
        title="Idle slot-steps",
        section="8.7",
        parts=(
            Part(
                "idle share",
                "",
                lambda: _idle("continuous"),
                0.01,
                (
                    Slip("That counts occupied slots only, and so is always zero: all slots count.", value=0),
                    Slip("That is the static run.", value=lambda: _idle("static")),
                    Slip("That is the busy share.", value=lambda: 1 - _idle("continuous")),
                ),
            ),
        ),
        derivation="$1 - 3266 / (542 \\cdot 8)$: useful slot-steps are tokens, all slot-steps are steps times slots.",
    ),
    Choice(
        id="08-latency-changes",
        kind="trace",
        title="Latency under continuous batching",
        section="8.7",
        options=(
            "yes, it falls: less queueing, and nobody waits for the longest of a batch",
            "no, only throughput changes",
            "yes, it rises: batches are larger",
        ),
        correct=0,
        derivation="A request's latency has three parts: waiting for a slot, its own steps, waiting to be released. "
        "Continuous batching shortens the first and removes the last.",
        slips={
            1: "True for the steps in a slot only; the wait before and after them shrinks.",
            2: "Batches are no larger than the slots in either policy; the wait shrinks.",
        },
    ),
    Choice(
        id="08-split-emoji",
        kind="trace",
        title="Half an emoji",
        section="8.9",
        options=("nothing", "U+FFFD, the replacement character", "the two bytes as they are"),
        correct=0,
        derivation="Two bytes of four are no character yet, and may become one.",
        slips={
            1: "The next token completes the character; what was sent cannot be taken back.",
            2: "The answer is text in JSON: half a character cannot stand there.",
        },
    ),
)
