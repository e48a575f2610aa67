"""Chapter 14, the tail: the simulated run of rollout and trainer, and the pool whose size was forgotten."""

from __future__ import annotations

from random import Random

from autograder.bank import wrong_async_runs as wrong
from autograder.items import Build, Case, Debug, Group, Slip, invalid

# --- simulate_async


def _responses(rng: Random, least: int = 6, most: int = 30) -> list[int]:
    return [rng.choice((rng.randint(1, 4), rng.randint(1, 40))) for _ in range(rng.randint(least, most))]


def _times(rng: Random) -> tuple[float, float, float]:
    """Seconds of a token, of a step, of a transfer: exact in binary."""
    return rng.choice((0.25, 0.5, 1.0)), rng.randint(1, 24) / 4, rng.randint(1, 8) / 8


def _job(rng: Random) -> Case:
    return Case((_responses(rng), rng.randint(2, 8), rng.randint(2, 5), *_times(rng), rng.randint(1, 4)))


def _synchronous(rng: Random) -> Case:
    batch = rng.randint(2, 5)
    return Case((_responses(rng), batch + rng.randint(-1, 2), batch, *_times(rng), 0))


def _meeting(rng: Random) -> Case:
    """Whole seconds everywhere: responses and steps end at the same instants."""
    lengths = [rng.choice((1, 1, 1, 2)) for _ in range(rng.randint(4, 9))]
    batch = rng.randint(2, 4)
    return Case(([1] * 3 * batch + lengths, batch, batch, 1.0, 1.0, 0.0, rng.randint(2, 3)))


def _no_duration(rng: Random) -> Case:
    """Steps that take no time: the version rises before anything starts."""
    batch = rng.randint(2, 4)
    slots, ahead = rng.randint(1, batch), rng.randint(1, 3)  # so that a response may start at that instant
    return Case((_responses(rng, 4 * batch, 6 * batch), slots, batch, 0.5, 0.0, 0.0, ahead))


def _straggler(rng: Random) -> Case:
    lengths = [rng.randint(20, 60), *[1] * rng.randint(12, 20)]
    return Case((lengths, rng.randint(2, 3), 2, 0.5, 0.5, 0.25, rng.randint(1, 3)))


def _small(rng: Random) -> list[Case]:
    few = [rng.randint(1, 9) for _ in range(3)]
    return [
        Case(([], 2, 2, 1.0, 1.0, 0.5, 1)),
        Case((few, 4, 5, 1.0, 1.0, 0.5, 1)),
        Case((few, 1, 1, 1.0, 1.0, 0.5, 2)),
    ]


def _bad(rng: Random) -> list[Case]:
    lengths = _responses(rng, 3, 5)
    return [
        invalid([*lengths, 0], 2, 2, 1.0, 1.0, 0.5, 1),
        invalid(lengths, 0, 2, 1.0, 1.0, 0.5, 1),
        invalid(lengths, 2, 0, 1.0, 1.0, 0.5, 1),
        invalid(lengths, 2, 2, 0.0, 1.0, 0.5, 1),
        invalid(lengths, 2, 2, 1.0, -1.0, 0.5, 1),
        invalid(lengths, 2, 2, 1.0, 1.0, -0.5, 1),
        invalid(lengths, 2, 2, 1.0, 1.0, 0.5, -1),
    ]


SIMULATE_ASYNC = Build(
    id="14-simulate-async",
    module="rlhf_schedule",
    function="simulate_async",
    grade="call",
    section="14.8",
    topic="asynchronous rollout",
    cases=(
        Case(([1] * 8, 2, 2, 1, 1, 0, 0)),
        Case(([1] * 8, 2, 2, 1, 1, 0, 1)),
        Case(([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 0)),
        Case(([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 1)),
        Case(([9] + [1] * 11, 2, 2, 1, 1, 0, 1)),
        Case(([3, 1, 2], 2, 2, 1, 1, 0.5, 1)),
        Case(([1, 1, 40], 3, 2, 1, 1, 0.5, 1)),
        invalid([1, 0], 2, 2, 1, 1, 0, 1),
    ),
    groups=(
        Group("jobs", _job, 6, "Follow the first responses by hand: who starts, who finishes, what the trainer takes."),
        Group("bound 0", _synchronous, 3, "With bound 0 nothing starts before the batch before is trained."),
        Group(
            "at one instant",
            _meeting,
            4,
            "What ends comes first, then the trainer, then what starts; a step may take no time.",
            lambda rng: [_no_duration(rng)],
        ),
        Group("stragglers", _straggler, 3, "The trainer takes what has finished; a straggler comes late, and stale."),
        Group("few responses", lambda rng: rng.choice(_small(rng)), 3, "No response, or less than a batch.", _small),
        Group("bad input", lambda rng: rng.choice(_bad(rng)), 7, "Bad input must raise ValueError.", _bad),
    ),
    slips=(
        Slip(
            "Staleness is counted for each response; the bound limits how far production runs ahead.",
            wrong.slip_bound_for_all,
        ),
        Slip(
            "The trainer waits for the responses in their order: a straggler blocks all others.", wrong.slip_index_order
        ),
        Slip(
            "A response has the version with which it started, not the one at which it finished.",
            wrong.slip_version_at_finish,
        ),
        Slip("A step ends when the new weights have arrived: training and transfer.", wrong.slip_no_sync),
        Slip(
            "With bound 0 the first batch must be allowed to start: bound + version + 1.", wrong.slip_bound_without_one
        ),
        Slip("Nothing holds the rollout back: the bound is not used.", wrong.slip_no_gate),
        Slip("What fills no batch is not trained.", wrong.slip_last_batch_too),
        Slip(
            "A free slot takes the next response at once; it does not wait for the others.",
            wrong.slip_one_batch_at_a_time,
        ),
        Slip("A step that ends now raises the version before anything starts now.", wrong.slip_starts_first),
        Slip("`busy` counts every response until the last step ends, trained or not.", wrong.slip_busy_of_trained),
        Slip("Impossible arguments were accepted.", wrong.slip_accepts_anything),
    ),
)

# --- debug_scaled_gen


def wrong_scaled_gen(lengths, slots, token_time, gpus):
    if min([slots, gpus, *lengths]) < 1 or not 0 < token_time < float("inf"):
        raise ValueError("lengths, slots and gpus must be >= 1, token_time must be > 0")
    work = sum(lengths) * token_time / slots
    return max(work, max(lengths, default=0) * token_time)


def slip_divides_the_tail(lengths, slots, token_time, gpus):
    if min([slots, gpus, *lengths]) < 1 or not 0 < token_time < float("inf"):
        raise ValueError("out of range")
    return max(sum(lengths) / slots, max(lengths, default=0)) * token_time / gpus


def slip_without_tail(lengths, slots, token_time, gpus):
    if min([slots, gpus, *lengths]) < 1 or not 0 < token_time < float("inf"):
        raise ValueError("out of range")
    return sum(lengths) * token_time / slots / gpus


def slip_tail_added(lengths, slots, token_time, gpus):
    if min([slots, gpus, *lengths]) < 1 or not 0 < token_time < float("inf"):
        raise ValueError("out of range")
    return sum(lengths) * token_time / slots / gpus + max(lengths, default=0) * token_time


def slip_forgets_slots(lengths, slots, token_time, gpus):
    if min([slots, gpus, *lengths]) < 1 or not 0 < token_time < float("inf"):
        raise ValueError("out of range")
    return max(sum(lengths) / gpus, max(lengths, default=0)) * token_time


def slip_any_pool(lengths, slots, token_time, gpus):
    work = sum(lengths) * token_time / (slots or 1)
    return max(work / max(gpus, 1), max(lengths, default=0) * token_time)


def _pool(rng: Random) -> Case:
    """More work than tail, on several GPUs."""
    lengths = [rng.randint(100, 800) for _ in range(rng.randint(60, 90))]
    return Case((lengths, rng.randint(2, 3), rng.choice((0.01, 0.02)), rng.randint(2, 9)))


def _large_pool(rng: Random) -> Case:
    """The longest response decides."""
    lengths = [rng.randint(50, 400) for _ in range(rng.randint(20, 40))] + [4096]
    return Case((lengths, rng.randint(4, 16), rng.choice((0.01, 0.02)), rng.choice((32, 64, 256))))


def _bad_pool(rng: Random) -> list[Case]:
    lengths = [rng.randint(1, 99) for _ in range(3)]
    return [
        invalid(lengths, 1, 0.02, 0),
        invalid(lengths, 0, 0.02, 4),
        invalid(lengths, 1, 0.0, 4),
        invalid([*lengths, 0], 1, 0.02, 4),
    ]


DEBUG_SCALED_GEN = Debug(
    id="14-debug-scaled-gen",
    module="rlhf_schedule",
    function="debug_scaled_gen",
    grade="call",
    section="14.7",
    topic="asynchronous rollout",
    cases=(
        Case(([500] * 600 + [4096], 2, 0.02, 32)),
        Case(([500] * 600 + [4096], 2, 0.02, 256)),
        Case(([], 8, 0.02, 32)),
        invalid([500], 8, 0.02, 0),
    ),
    groups=(
        Group("pools", _pool, 4, "All GPUs of the pool share the work."),
        Group("large pools", _large_pool, 4, "The longest response takes its time, however many GPUs there are."),
        Group("bad input", lambda rng: rng.choice(_bad_pool(rng)), 4, "Bad input must raise ValueError.", _bad_pool),
    ),
    slips=(
        Slip("One GPU writes everything: the pool's size is not used.", wrong_scaled_gen),
        Slip("The longest response cannot be split: its time does not shrink with the pool.", slip_divides_the_tail),
        Slip("No pool is faster than the longest response.", slip_without_tail),
        Slip("The longest response is written while the others are, not after them.", slip_tail_added),
        Slip("A GPU writes `slots` responses at once.", slip_forgets_slots),
        Slip("Impossible arguments were accepted.", slip_any_pool),
    ),
    wrong=wrong_scaled_gen,
)

#: In the order of the page.
ITEMS = (DEBUG_SCALED_GEN, SIMULATE_ASYNC)
