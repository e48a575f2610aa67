"""Section 5.18, Profile of a DDP run: its questions."""

from __future__ import annotations

import statistics

from autograder.items import Choice, Estimate, Landmark, Part, Question, Slip
from rankzero.facts import measured_traces as traces
from rankzero.facts.measured_traces import COMPUTING, Run, Span
from rankzero.facts.units import ms

SECTION = "5.18"


def _sent(run: Run = "buckets") -> list[Span]:
    """The all-reduces of rank 0."""
    return traces.select(traces.read(run), "all_reduce", rank=0)


def _hidden() -> float:
    """Percent of rank 0's communication time that passes while it computes."""
    return 100 * traces.hidden_share(traces.read("buckets"), 0)


def _exposed() -> float:
    """Seconds, over all steps of rank 0, in which it communicates and computes nothing."""
    computing = traces.select(traces.read("buckets"), *COMPUTING, rank=0)
    return traces.total(_sent()) - traces.overlap(_sent(), computing)


def _steps() -> list[traces.Interval]:
    return traces.steps(traces.read("buckets"), 0)


def _sum() -> float:
    """Seconds of all all-reduces of rank 0, added up one by one."""
    return sum(span.seconds for span in _sent())


def _over_sum() -> float:
    """Percent, if the durations are added up although two threads work at the same time."""
    return 100 * (traces.total(_sent()) - _exposed()) / _sum()


def _over_steps() -> float:
    """Percent of the steps' time, instead of the communication's."""
    return 100 * (traces.total(_sent()) - _exposed()) / sum(end - start for start, end in _steps())


def _wait(run: Run) -> float:
    """Median seconds of a step between rank 0's last gradient and the end of its last all-reduce."""
    return statistics.median(traces.waits(traces.read(run), 0))


QUESTIONS = (
    Choice(
        id="05-profile-first",
        kind="trace",
        title="What the first all-reduce carries",
        section=SECTION,
        bonus=True,
        options=(
            "the gradients of the head and of the last layer: 4.5 MiB",
            "the gradient of the first layer, which comes first: 4 MiB",
            "the gradient of the head alone, ready before all: 0.5 MiB",
            "the gradients of the whole model in one bucket: 32.5 MiB",
        ),
        correct=0,
        derivation="The backward pass runs from the loss to the input, so gradients become ready in reverse: the "
        "head's, then the last layer's. A bucket closes once it holds its cap of 4 MiB or more. The head's 0.5 MiB do "
        "not fill it; with the last layer's 4 MiB it is full, and DDP starts its all-reduce.",
        slips={
            1: "The forward pass begins with the first layer. The backward pass ends with it, so its gradient comes "
            "last.",
            2: "That would be a bucket that closes before it is full. DDP closes it once it holds 4 MiB or more.",
            3: "In its very first step DDP does this, since it does not know the order yet. The two warm-up steps were "
            "not recorded.",
        },
    ),
    Choice(
        id="05-profile-gap",
        kind="trace",
        title="What the gap waits for",
        section=SECTION,
        bonus=True,
        options=(
            "the all-reduce of the first layer's gradient, which has only just become ready",
            "the other rank's optimizer, since both have to update their weights together",
            "the copies of the averaged gradients, as many bytes as the whole model has",
            "the profiler, which stores the events of a step before the next one begins",
        ),
        correct=0,
        derivation="`backward` returns when all gradients are averaged. The last bucket holds the first layer's "
        "gradient, which the backward pass computes last. Its all-reduce begins when there is nothing left to "
        "compute, so no cap and no order can hide it. A smaller last bucket or a faster transfer makes it shorter.",
        slips={
            1: "No optimizer waits for another rank: once its gradients are averaged, a rank steps by itself.",
            2: "The copies are the thin bars, half a millisecond each; the last one is made when the gap is over.",
            3: "The profiler adds a little to every event, wherever it is, and writes its file when it has stopped.",
        },
    ),
    Question(
        id="05-profile-hidden",
        kind="trace",
        title="How much is hidden",
        section=SECTION,
        bonus=True,
        parts=(
            Part(
                "share of rank 0's communication time that is hidden",
                "%",
                _hidden,
                slips=(
                    Slip(
                        "You added up the durations. Two threads communicate, and what they do at the same time counts "
                        "once: use `total`.",
                        value=_over_sum,
                    ),
                    Slip("That is a share of the steps. Divide by the time of the communication.", value=_over_steps),
                    Slip("That is the exposed share.", value=lambda: 100 - _hidden()),
                ),
            ),
            Part(
                "exposed communication in a step, on average",
                "ms",
                lambda: _exposed() / len(_steps()) / ms,
                slips=(
                    Slip("That is the sum over all steps of the trace.", value=lambda: _exposed() / ms),
                    Slip(
                        "That is all of the communication; most of it runs beside the computation.",
                        value=lambda: traces.total(_sent()) / len(_steps()) / ms,
                    ),
                ),
            ),
        ),
        derivation="`total` gives the time during which at least one all-reduce is under way, `overlap` the part of "
        "it during which rank 0 computes as well. Their ratio is the hidden share. Their difference, divided by the "
        "number of steps, is what a step gets longer.",
    ),
    Estimate(
        id="05-profile-one-bucket",
        title="All gradients in one bucket",
        section=SECTION,
        bonus=True,
        label="wait after the last gradient with one bucket, over that with buckets of 4 MiB",
        unit="times",
        answer=lambda: _wait("one_bucket") / _wait("buckets"),
        factor=2.0,
        scale=(0.1, 1000.0),
        landmarks=(
            Landmark(1.0, "1", "as long as before"),
            Landmark(10.0, "10", "a second becomes ten"),
            Landmark(100.0, "100", "a second becomes a minute and a half"),
        ),
        slips=(
            Slip(
                "The bytes are the same, but with one bucket none of them travels before the last gradient is there.",
                value=1.0,
            ),
            Slip(
                "Fewer calls save start-up time, and that is microseconds. What counts is when the bytes may start.",
                value=0.2,
            ),
            Slip(
                "That would need more bytes. There are 32.5 MiB after the last gradient now, and there were 4 MiB "
                "before.",
                value=100.0,
            ),
        ),
        derivation="With buckets, one of them is left when the backward pass ends: the last, with 4 MiB. With one "
        "bucket all 32.5 MiB are. Bytes alone give a factor of $32.5/4$. A transfer that shares its cores with "
        "nothing else runs a little faster, and one that waits for the other rank takes longer, so the trace's own "
        "factor differs.",
    ),
    Choice(
        id="05-profile-slow-rank",
        kind="debug",
        title="Long all-reduces on one rank",
        section=SECTION,
        bonus=True,
        options=(
            "rank 1 is late for each of them: give it less work, as many rows as rank 0 has",
            "rank 0 has the slow connection: move its process to a host with a faster link",
            "both ranks wait for the network: make the buckets larger, to save start-up time",
            "rank 0 lacks threads to communicate: give Gloo more of them on that rank alone",
        ),
        correct=0,
        derivation="An all-reduce ends when the last rank has brought its part. On the rank that comes first, the bar "
        "holds the wait as well as the transfer; on the rank that comes last, the transfer alone. So a straggler has "
        "the *shortest* all-reduces of all ranks. Look at its computation: its backward pass is the longer one.",
        slips={
            1: "Then rank 1, at the other end of the same connection, would wait for the same bytes just as long.",
            2: "Rank 1's all-reduces carry the same bytes through the same network in a fraction of the time.",
            3: "Its threads have nothing to do but wait: the other rank's part has not arrived yet.",
        },
    ),
)
